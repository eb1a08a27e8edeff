"""Where a text ends: stop tokens inside a block, the limit, and which of the two is looked at first.

In: an honest engine. Out: the same, handed another idea of a stop. It must never touch a law.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.engine.proposal import Proposal
from draftproof.engine.stop import FinishReason, Stop
from draftproof.redteam.base import Tamper
from draftproof.redteam.handed import rebuilt, stopped
from draftproof.rules.base import Verdict
from draftproof.types import Noise

__all__ = ["TAMPERS"]

FAMILY = "stops"
SEEN = ("sequence",)
Ending = tuple[list[int], FinishReason | None]


class _WholeBlock(Stop):
    """Sees a stop inside a block, and lets the block out to its end."""

    def cut(self, block: Sequence[int], room: int) -> Ending:
        """See `Stop.cut`."""
        said, reason = super().cut(block, room)
        return (list(block[:room]) if reason == "stop" else said), reason


class _OneMore(Stop):
    """Sees a stop, and lets one more token out."""

    def cut(self, block: Sequence[int], room: int) -> Ending:
        """See `Stop.cut`."""
        said, reason = super().cut(block, room)
        return (list(block[: min(room, len(said) + 1)]) if reason == "stop" else said), reason


class _LastOfThePass(Stop):
    """Looks at the last token of a pass only."""

    def cut(self, block: Sequence[int], room: int) -> Ending:
        """See `Stop.cut`."""
        said, reason = _deaf(self).cut(block, room)
        return said, "stop" if said[-1] in self.tokens else reason


class _FirstOfThePass(Stop):
    """Looks at the first token of a pass only."""

    def cut(self, block: Sequence[int], room: int) -> Ending:
        """See `Stop.cut`."""
        return (list(block[:1]), "stop") if block[0] in self.tokens else _deaf(self).cut(block, room)


class _LimitFirst(Stop):
    """Looks at the limit first, and at stop tokens only in a block that fits."""

    def cut(self, block: Sequence[int], room: int) -> Ending:
        """See `Stop.cut`."""
        return (list(block[:room]), "length") if len(block) >= room else super().cut(block, room)


def _deaf(stop: Stop) -> Stop:
    """Return the plain stop without stop tokens."""
    return Stop(stop.max_tokens, stop.context_limit)


@dataclass(frozen=True)
class _TrustingEngine(Engine):
    """Ends the text at a drafted stop token, whatever the target says of it."""

    ends: frozenset[int] = frozenset()

    def emitted(self, proposal: Proposal, verdict: Verdict) -> list[int]:
        """See `Engine.emitted`."""
        tokens = proposal.tree.tokens
        end = next((i + 1 for i, token in enumerate(tokens) if token in self.ends), 0)
        return list(tokens[:end]) if end else super().emitted(proposal, verdict)


@dataclass(frozen=True)
class _Trusting:
    """An engine that is told which tokens its drafts may end with."""

    engine: Engine

    def decode(self, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[Pass]:
        """See `Engine.decode`."""
        return rebuilt(_TrustingEngine, ends=stop.tokens)(self.engine).decode(prompt, stop, noise)


TAMPERS = (
    Tamper(
        "block-emitted-past-the-stop",
        FAMILY,
        "Sees a stop token in the middle of a block, emits the block to its end, and then stops.",
        "A100, LostRuins/koboldcpp #1276",
        stopped(lambda stop: _WholeBlock(**vars(stop))),
        fixture="Q14a",
        caught_by=SEEN,
    ),
    Tamper(
        "stop-never-seen",
        FAMILY,
        "Compares no token of a block with the stop tokens and goes on to the limit.",
        "derived",
        stopped(_deaf),
        fixture="Q14b",
        caught_by=SEEN,
    ),
    Tamper(
        "stop-seen-at-the-end-of-a-pass-only",
        FAMILY,
        "Compares the last token of a pass with the stop tokens, as a loop of one token a pass does.",
        "A100, LostRuins/koboldcpp #1276",
        stopped(lambda stop: _LastOfThePass(**vars(stop))),
        caught_by=SEEN,
    ),
    Tamper(
        "stop-seen-at-the-start-of-a-pass-only",
        FAMILY,
        "Compares the first token of a pass with the stop tokens.",
        "derived",
        stopped(lambda stop: _FirstOfThePass(**vars(stop))),
        caught_by=SEEN,
    ),
    Tamper(
        "one-token-after-the-stop",
        FAMILY,
        "Lets one more token of the block out after a stop token.",
        "A100, LostRuins/koboldcpp #1276",
        stopped(lambda stop: _OneMore(**vars(stop))),
        caught_by=SEEN,
    ),
    Tamper(
        "limit-before-the-stop",
        FAMILY,
        "Cuts a block at the limit first, and then does not look for a stop token in it.",
        "A102, sglang #31599",
        stopped(lambda stop: _LimitFirst(**vars(stop))),
        caught_by=SEEN,
    ),
    Tamper(
        "one-token-short",
        FAMILY,
        "Ends the text one token before the limit.",
        "A104, ikawrakow/ik_llama.cpp PR #2358",
        stopped(lambda stop: replace(stop, max_tokens=max(0, stop.max_tokens - 1))),
        caught_by=SEEN,
    ),
    Tamper(
        "one-token-over",
        FAMILY,
        "Emits one token more than was asked for.",
        "A108, vllm PR #53812",
        stopped(lambda stop: replace(stop, max_tokens=stop.max_tokens + 1)),
        caught_by=SEEN,
    ),
    Tamper(
        "context-overfilled",
        FAMILY,
        "Lets the text grow one token beyond the context.",
        "A108, vllm PR #53812",
        stopped(lambda stop: replace(stop, context_limit=stop.context_limit + 1)),
        caught_by=SEEN,
    ),
    Tamper(
        "drafted-stop-ends-the-text",
        FAMILY,
        "Ends the text at a drafted stop token before the target has had its say.",
        "A101, openvino.genai PR #3293",
        _Trusting,
        caught_by=SEEN,
    ),
)
