"""How a block comes about: from which text, how long, and which of several is tested.

In: an honest engine. Out: the same with another way to draft. It must never change a test.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from draftproof.drafters.base import Drafter
from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.engine.proposal import Proposal
from draftproof.engine.stop import Stop
from draftproof.redteam.altered import AlteredToken
from draftproof.redteam.base import Tamper
from draftproof.redteam.handed import FAR, Readdressed, rebuilt
from draftproof.redteam.rewritten import Block, Written, written
from draftproof.rules.base import Verdict
from draftproof.types import Draws, Noise, Probs, Purpose

__all__ = ["TAMPERS"]

FAMILY = "drafting"
UNLIKELY = Fraction(1, 3)
"""Drafts less probable than that are dropped."""

Unwanted = Callable[[Probs, int], bool]
"""(law, token drawn from it) -> whether the block ends before the token."""


@dataclass(frozen=True)
class _Lagging(Engine):
    """Draws drafts after the text without its last token, and takes for their law the one after the whole text."""

    def propose(self, drafter: Drafter, tokens: Sequence[int], length: int, draws: Draws) -> Proposal:
        """See `Engine.propose`."""
        said = super().propose(drafter, tokens[:-1] or tokens, length, draws).tree.tokens
        drafter.rewind(len(tokens) - 1)
        dictated = AlteredToken(draw=lambda law, place: [said[place.children[0]]])
        return Proposal.draw(drafter, tokens, [1] * len(said), dictated, draws)

    def verify(self, laws: Probs, proposal: Proposal, draws: Draws) -> Verdict:
        """See `Engine.verify`; nobody asks whether the tokens can have been drawn from these laws."""
        return Engine.verify(replace(self, rule=AlteredToken()), laws, proposal, draws)


@dataclass(frozen=True)
class _Dropping(Engine):
    """Ends a block before the first draft that it does not want."""

    unwanted: Unwanted = lambda law, token: law[token] < UNLIKELY

    def propose(self, drafter: Drafter, tokens: Sequence[int], length: int, draws: Draws) -> Proposal:
        """See `Engine.propose`."""
        whole = super().propose(drafter, tokens, length, draws)
        laws = [] if whole.laws is None else list(whole.laws)
        wanted = [not self.unwanted(law, token) for law, token in zip(laws, whole.tree.tokens, strict=True)]
        if all(wanted):
            return whole
        drafter.rewind(len(tokens) - 1)
        return super().propose(drafter, tokens, wanted.index(False), draws)


@dataclass(frozen=True)
class _WithoutStops:
    """An engine that drops a drafted stop token, since nothing could follow it."""

    engine: Engine

    def decode(self, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[Pass]:
        """See `Engine.decode`."""
        engine = rebuilt(_Dropping, unwanted=lambda law, token: token in stop.tokens)(self.engine)
        return engine.decode(prompt, stop, noise)


@dataclass(frozen=True)
class _Peeking(Engine):
    """Drafts only where the first coin is going to be kind."""

    def propose(self, drafter: Drafter, tokens: Sequence[int], length: int, draws: Draws) -> Proposal:
        """See `Engine.propose`."""
        kind = length > 0 and bool(draws.uniforms(Purpose.ACCEPT, 1)[0] < UNLIKELY)
        return super().propose(drafter, tokens, length if kind else 0, draws)


@dataclass(frozen=True)
class _BestOfTwo:
    """Two blocks a pass, each verified by itself, of which the longer one is emitted."""

    engine: Engine

    def decode(self, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[Pass]:
        """See `Engine.decode`."""
        text = list(prompt)
        other = Readdressed(noise, lambda purpose, start, n: (purpose, start + FAR, n))
        while (room := stop.room(len(prompt), len(text))) > 0:
            rest = replace(stop, max_tokens=room)
            best = next(self.engine.decode(text, rest, noise))
            if len(best.path) < len(best.drafted):
                best = max(best, next(self.engine.decode(text, rest, other)), key=lambda done: len(done.path))
            text += best.emitted
            yield best
            if best.finish_reason:
                return


def _cut_where_the_target_doubts(block: Block) -> Written:
    laws = [] if block.proposal.laws is None else block.proposal.laws
    sure = [not row[x] < q[x] for row, q, x in zip(block.laws, laws, block.tokens, strict=False)]
    length = [*sure, False].index(False)
    accepted = min(block.accepted(), length)
    return accepted, [block.drawn(block.laws[length]) if accepted == length else block.final(accepted)]


TAMPERS = (
    Tamper(
        "draft-lags-behind",
        FAMILY,
        "Draws drafts from a context that lacks the last token, and computes their law on the right one afterwards.",
        "A70, vllm-project/vllm-metal PR #721, with the law made up for",
        rebuilt(_Lagging),
        fixture="Q18b",
        caught_by=("sequence",),
    ),
    Tamper(
        "unlikely-draft-dropped",
        FAMILY,
        "Draws a draft and drops it, and what would follow, if its own model gives it less than a third.",
        "B02, llama.cpp #25908, has such a confidence; dropping what was drawn is derived",
        rebuilt(_Dropping),
        fixture="Q31",
        caught_by=("exact", "sequence"),
    ),
    Tamper(
        "drafted-stop-dropped",
        FAMILY,
        "Draws a draft and drops it if it is a stop token, since nothing could be drafted after it.",
        "derived; A101, openvino.genai PR #3293, is the opposite",
        _WithoutStops,
        caught_by=("sequence",),
    ),
    Tamper(
        "length-from-the-target",
        FAMILY,
        "Ends the block, after the target has seen it, before a draft that the target likes less.",
        "derived",
        written(_cut_where_the_target_doubts),
        fixture="Q32",
        caught_by=("exact", "sequence"),
    ),
    Tamper(
        "longer-of-two-blocks",
        FAMILY,
        "Verifies two blocks and emits the one of which more was kept.",
        "derived",
        _BestOfTwo,
        fixture="Q33",
        caught_by=("exact", "sequence"),
    ),
    Tamper(
        "length-from-the-coin",
        FAMILY,
        "Drafts only where the coin of the first test, already drawn, is small.",
        "derived",
        rebuilt(_Peeking),
        caught_by=("exact", "sequence"),
    ),
)
