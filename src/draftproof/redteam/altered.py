"""Rules of which a part can be replaced: what tampers of rules are built from.

In: the replaced part. Out: a rule that does what the part says, and says of itself what the honest rule says. It must
never know the witnesses.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

from draftproof.engine.loop import Engine
from draftproof.rules.base import Place, Rule, Verdict, drawn, pick, surplus
from draftproof.rules.token import TokenRule, acceptance_probabilities
from draftproof.types import Array, Draws, Probs, Purpose

__all__ = ["AlteredToken", "drawn_from", "ruled"]

Keeps: TypeAlias = Callable[[Probs, Probs], Array]
"""(p, q) -> (V,) with which probability each token stays if it was drafted."""
Rest: TypeAlias = Callable[[Probs, Probs, int], Array]
"""(p, q, rejected token) -> weights (V,) of the token that is emitted instead."""
Draw: TypeAlias = Callable[[Probs, Place], list[int]]
"""See `Rule.children`."""


def ruled(rule: Rule) -> Callable[[Engine], Engine]:
    """Return what puts `rule` in the place of an engine's own."""
    return lambda engine: replace(engine, rule=rule)


def drawn_from(warp: Callable[[Probs], Array]) -> Draw:
    """Return a draw of children from another law than the one that is recorded."""
    return lambda law, place: drawn(warp(law), place)


def _surplus(p: Probs, q: Probs, _rejected: int) -> Array:
    return surplus(p, q)


def _itself(law: Probs) -> Probs:
    return law


@dataclass(frozen=True)
class AlteredToken:
    """The token rule, of which one part or another is replaced.

    Args:
        keeps: the accept test.
        rest: what follows a rejection.
        draw: how tokens are drafted.
        sees: the draft's row (V,) -> what the test and the residual take it for.
    """

    keeps: Keeps = acceptance_probabilities
    rest: Rest = _surplus
    draw: Draw = drawn
    sees: Callable[[Probs], Array] = _itself
    name: ClassVar[str] = TokenRule.name
    lossless: ClassVar[bool] = True
    branches: ClassVar[bool] = False

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `Rule.children`."""
        return self.draw(law, place)

    def verify(self, target: Probs, draft: Probs, drafted: Array, draws: Draws) -> Verdict:
        """See `Rule.verify`; nothing is checked at the door."""
        tokens = drafted.tolist()
        coins = draws.uniforms(Purpose.ACCEPT, len(tokens))
        final = draws.uniforms(Purpose.FINAL, 1)[0, ...]
        for i, token in enumerate(tokens):
            p, q = target[i, :], self.sees(draft[i, :])
            if not coins[i] < self.keeps(p, q)[token]:
                return Verdict(i, pick(self.rest(p, q, token), final))
        return Verdict(len(tokens), pick(target[len(tokens), :], final))

    def identity(self, target: Probs, draft: Probs, drafted: Array) -> tuple[Probs, Probs]:
        """See `Rule.identity`: the honest one."""
        return TokenRule().identity(target, draft, drafted)

    def expected_accepted(self, target: Probs, draft: Probs, drafted: Array, accepted: int) -> float:
        """See `Rule.expected_accepted`: the honest one."""
        return TokenRule().expected_accepted(target, draft, drafted, accepted)
