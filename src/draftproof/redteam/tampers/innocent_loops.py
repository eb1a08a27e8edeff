"""Loops, noise and caches that look broken and are not: other numbers, more work, shorter passes, and the same law.

In: an honest engine. Out: the same that goes about it in another way. No witness may call one of them LOSSY.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from draftproof.drafters.base import Drafter
from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.engine.proposal import Proposal
from draftproof.engine.stop import Stop
from draftproof.models.base import Model
from draftproof.redteam.base import Tamper
from draftproof.redteam.handed import FAR, readdressed, rebuilt
from draftproof.rules.base import Rule, Verdict
from draftproof.rules.block import BlockRule
from draftproof.rules.token import TokenRule
from draftproof.types import Draws, Noise, Probs
from draftproof.witness.base import Decoder, as_shipped

__all__ = ["TAMPERS"]

FAMILY = "innocent loops"


@dataclass(frozen=True)
class _Rereading(Engine):
    """Reads the whole text again in every pass."""

    def forget(
        self,
        target: Model,
        drafter: Drafter,
        start: int,
        path: Sequence[int],
        proposal: Proposal,
        emitted: Sequence[int],
    ) -> None:
        """See `Engine.forget`."""
        super().forget(target, drafter, start, path, proposal, emitted)
        target.rewind(0)


@dataclass(frozen=True)
class _TwoTokensAPass(Engine):
    """Emits at most the first two tokens of each pass, and throws the rest away."""

    def emitted(self, proposal: Proposal, verdict: Verdict) -> list[int]:
        """See `Engine.emitted`."""
        return super().emitted(proposal, verdict)[:2]


@dataclass(frozen=True)
class _Switching(Engine):
    """Decides blocks of even length by one rule and those of odd length by another."""

    def verify(self, laws: Probs, proposal: Proposal, draws: Draws) -> Verdict:
        """See `Engine.verify`."""
        rule: Rule = TokenRule() if len(proposal.tree.tokens) % 2 else BlockRule()
        return Engine.verify(replace(self, rule=rule), laws, proposal, draws)


@dataclass
class _Following:
    """See `Lengths`: two tokens while half of all drafts are kept, else one."""

    drafted: int = 0
    accepted: int = 0
    why: str | None = None

    def next(self, emitted: int) -> int:
        """See `Lengths`."""
        return 2 if 2 * self.accepted >= self.drafted else 1

    def learn(self, drafted: int, accepted: int) -> None:
        """See `Lengths`."""
        self.drafted += drafted
        self.accepted += accepted


@dataclass(frozen=True)
class _FollowingLength:
    """See `DraftLength`."""

    def begin(self) -> _Following:
        """See `DraftLength`."""
        return _Following()


@dataclass(frozen=True)
class _PastTheLimit:
    """An engine that may draft and emit one token past the limit, where its text is cut."""

    engine: Engine

    def decode(self, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[Pass]:
        """See `Engine.decode`."""
        room = stop.room(len(prompt), len(prompt))
        if room <= 0:
            return
        ending = stop.begin()
        for done in self.engine.decode(prompt, replace(stop, max_tokens=room + 1, context_limit=FAR), noise):
            said, reason = ending.cut(done.emitted, room)
            yield replace(done, emitted=tuple(said), logprobs=done.logprobs[: len(said)], finish_reason=reason)
            room -= len(said)
            if reason:
                return


def _innocent(
    name: str,
    story: str,
    seen_in: str,
    apply: Callable[[Engine], Decoder],
    fixture: str | None = None,
) -> Tamper:
    return Tamper(name, FAMILY, story, seen_in, apply, harmless=True, fixture=fixture)


TAMPERS = (
    _innocent(
        "stop-inside-a-block",
        "Cuts a block at the first stop token in it, and forgets the rest.",
        "A99 and A100, done right",
        as_shipped,
        fixture="Q14c",
    ),
    _innocent(
        "noise-of-another-seed",
        "Draws from another part of the random numbers, as another seed would.",
        "C28, vllm #13196",
        readdressed(lambda purpose, start, n: (purpose, start + FAR, n)),
    ),
    _innocent(
        "token-keyed-by-position-alone",
        "Keys numbers by the position in the text, without the pass, which the token rule does not mind.",
        "derived; a key that public engines use",
        readdressed(lambda purpose, start, n: (purpose, 0, start + n)),
        fixture="rng_keying",
    ),
    _innocent(
        "target-read-anew-every-pass",
        "Empties the target's cache after every pass and reads it all again.",
        "A68, done right",
        rebuilt(_Rereading),
    ),
    _innocent(
        "two-tokens-a-pass-at-most",
        "Emits the first two tokens of each pass and throws the rest away.",
        "derived",
        rebuilt(_TwoTokensAPass),
    ),
    _innocent(
        "rule-switched-by-length",
        "Decides blocks of even length as blocks and those of odd length token by token.",
        "derived",
        rebuilt(_Switching),
    ),
    _innocent(
        "length-follows-acceptance",
        "Drafts two tokens while half of all drafts are kept, else one.",
        "C24, llama.cpp #11933",
        lambda engine: replace(engine, length=_FollowingLength()),
    ),
    _innocent(
        "drafted-past-the-limit",
        "Drafts and verifies a token past the limit, and cuts the text there.",
        "A104, ikawrakow/ik_llama.cpp PR #2358, done right",
        _PastTheLimit,
    ),
)
