"""Engines that make other tokens of a pass than the rule does: what tampers of positions and counts are built from.

In: the laws of a pass, the drafted tokens, the coins. Out: tokens. It must never know the witnesses.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from draftproof.engine.loop import Engine
from draftproof.engine.proposal import Proposal
from draftproof.redteam.handed import rebuilt
from draftproof.rules.base import Verdict, entries_at, pick, surplus
from draftproof.types import Draws, Probs, Purpose

__all__ = ["Block", "Written", "written"]

Written = tuple[int, Sequence[int]]
"""How many drafted tokens are emitted first, and the tokens that follow them."""


@dataclass(frozen=True)
class Block:
    """What a pass has to decide on."""

    engine: Engine
    laws: Probs
    proposal: Proposal
    draws: Draws

    @property
    def tokens(self) -> tuple[int, ...]:
        """The drafted tokens."""
        return self.proposal.tree.tokens

    @property
    def text(self) -> tuple[int, ...]:
        """The text before the pass."""
        return tuple(self.proposal.text)

    def tested_against(self, laws: Probs) -> "Block":
        """Return the same block with other rows of the target."""
        return replace(self, laws=laws)

    def kept(self) -> list[bool]:
        """Return what the token test says of each position, whatever came before it."""
        if self.proposal.laws is None:
            return []
        tokens = self.proposal.chain
        coins = self.draws.uniforms(Purpose.ACCEPT, len(tokens)) * entries_at(self.proposal.laws, tokens)
        return [bool(kept) for kept in coins < entries_at(self.laws[:-1], tokens)]

    def accepted(self) -> int:
        """Return how many positions pass before the first that does not."""
        return [*self.kept(), False].index(False)

    def final(self, row: int, number: int = 0) -> int:
        """Draw the token that follows a rejection at `row`; past the last draft, the bonus."""
        q = self.proposal.laws
        return self.drawn(self.laws[row] if q is None or row >= len(q) else surplus(self.laws[row], q[row]), number)

    def drawn(self, weights: Probs, number: int = 0) -> int:
        """Draw a token; numbers beyond 0 are for further ones."""
        return int(pick(weights, self.draws.uniforms(Purpose.FINAL, 1, number)[0, ...]))

    def next_draft_law(self) -> Probs | None:
        """Return what the draft says after the whole block."""
        return self.engine.drafter.fresh().law((*self.text, *self.tokens))


def as_the_rule_says(block: Block) -> Written:
    """Return what the token rule makes of a block."""
    accepted = block.accepted()
    return accepted, [block.final(accepted)]


@dataclass(frozen=True)
class Rewritten(Engine):
    """Emits what `write` makes of a block."""

    write: Callable[[Block], Written] = as_the_rule_says

    def verify(self, laws: Probs, proposal: Proposal, draws: Draws) -> Verdict:
        """See `Engine.verify`; the token of the verdict is all that follows the drafted ones."""
        accepted, rest = self.write(Block(self, laws, proposal, draws))
        return Verdict(np.asarray(accepted), np.asarray(rest))

    def emitted(self, proposal: Proposal, verdict: Verdict) -> list[int]:
        """See `Engine.emitted`."""
        return [*proposal.tree.tokens[: int(verdict.accepted)], *(int(token) for token in verdict.token)]


def written(write: Callable[[Block], Written]) -> Callable[[Engine], Engine]:
    """Return what makes an engine emit what `write` says."""
    return rebuilt(Rewritten, write=write)
