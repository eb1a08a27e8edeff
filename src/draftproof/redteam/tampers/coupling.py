"""Tampers of the rules in which the target draws its own tokens: coupled, and sample-and-match.

In: the noise of positions, target and draft rows. Out: two schemes mixed, or noise at the wrong address. It must never
touch the rules that test a ratio.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from draftproof.engine.loop import Engine, Pass
from draftproof.engine.stop import Stop
from draftproof.redteam.altered import ruled
from draftproof.redteam.base import Tamper
from draftproof.rules.base import Place, Rule, Verdict, pick, surplus
from draftproof.rules.coupled import CoupledRule, winner
from draftproof.rules.match import MatchRule
from draftproof.types import Array, Draws, Noise, Probs, Purpose, Uniform

__all__ = ["TAMPERS"]

FAMILY = "coupling"
SEEN = ("exact", "sequence")
Step: TypeAlias = Callable[[Probs, Probs, int, Draws, int], tuple[bool, int]]
"""(p, q, drafted token, draws, depth) -> whether it stays, and the token emitted there."""
Drawn: TypeAlias = Callable[[Probs, Draws, int], int]
"""(p, draws, depth) -> the target's own token there."""


def _winner(p: Probs, draws: Draws, depth: int) -> int:
    return int(winner(p, draws.exponentials(depth, p.shape[-1])))


def _picked(p: Probs, draws: Draws, depth: int) -> int:
    return int(pick(p, draws.uniforms(Purpose.FINAL, 1, depth)[0, ...]))


@dataclass(frozen=True)
class AlteredWalk:
    """A rule that decides position by position, in another way than the honest one.

    Args:
        honest: speaks for this rule.
        step: decides on a drafted token.
        bonus: draws the token after the last one.
        draw: how tokens are drafted, if not as the honest rule does it.
    """

    honest: Rule
    step: Step
    bonus: Drawn
    draw: Callable[[Probs, Place], list[int]] | None = None
    lossless: ClassVar[bool] = True
    branches: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The honest one."""
        return self.honest.name

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `Rule.children`."""
        return self.draw(law, place) if self.draw else self.honest.children(law, place)

    def verify(self, target: Probs, draft: Probs, drafted: Array, draws: Draws) -> Verdict:
        """See `Rule.verify`."""
        tokens = drafted.tolist()
        for i, guess in enumerate(tokens):
            stays, token = self.step(target[i, :], draft[i, :], guess, draws, i)
            if not stays:
                return Verdict(i, token)
        return Verdict(len(tokens), self.bonus(target[len(tokens), :], draws, len(tokens)))

    def identity(self, target: Probs, draft: Probs, drafted: Array) -> tuple[Probs, Probs]:
        """See `Rule.identity`: the honest one."""
        return self.honest.identity(target, draft, drafted)

    def expected_accepted(self, target: Probs, draft: Probs, drafted: Array, accepted: int) -> float | None:
        """See `Rule.expected_accepted`: the honest one."""
        return self.honest.expected_accepted(target, draft, drafted, accepted)


def _residual_after_a_miss(p: Probs, q: Probs, guess: int, draws: Draws, depth: int) -> tuple[bool, int]:
    if _winner(p, draws, depth) == guess:
        return True, guess
    return False, _picked(surplus(p, q), draws, depth)


def _winner_after_a_rejection(p: Probs, q: Probs, guess: int, draws: Draws, depth: int) -> tuple[bool, int]:
    if draws.uniforms(Purpose.ACCEPT, 1, depth)[0, ...] * q[guess] < p[guess]:
        return True, guess
    return False, _winner(p, draws, depth)


def _second_sample(p: Probs, _q: Probs, guess: int, draws: Draws, depth: int) -> tuple[bool, int]:
    if int(pick(p, draws.uniforms(Purpose.ACCEPT, 1, depth)[0, ...])) == guess:
        return True, guess
    return False, _picked(p, draws, depth)


def _match(p: Probs, _q: Probs, guess: int, draws: Draws, depth: int) -> tuple[bool, int]:
    token = _picked(p, draws, depth)
    return token == guess, token


def _with_the_next_uniform(law: Probs, place: Place) -> list[int]:
    return [_picked(law, place.draws, place.depth + 1)]


@dataclass(frozen=True)
class _OnePosition:
    """Noise that gives every position of the text the exponentials of position 0."""

    noise: Noise

    def uniforms(self, purpose: Purpose, start: int, count: int, first: int = 0) -> Uniform:
        """See `Noise.uniforms`."""
        return self.noise.uniforms(purpose, start, count, first)

    def exponentials(self, _position: int, vocab_size: int) -> Array:
        """See `Noise.exponentials`."""
        return self.noise.exponentials(0, vocab_size)


@dataclass(frozen=True)
class _Unkeyed:
    """An engine that is given such noise."""

    engine: Engine

    def decode(self, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[Pass]:
        """See `Engine.decode`."""
        return self.engine.decode(prompt, stop, _OnePosition(noise))


COUPLED, MATCH = CoupledRule(), MatchRule()

TAMPERS = (
    Tamper(
        "coupled-residual-after-a-miss",
        FAMILY,
        "Tests whether draft and target win together, and after a miss draws from max(0, p - q): two schemes mixed.",
        "derived",
        ruled(AlteredWalk(COUPLED, _residual_after_a_miss, _winner)),
        COUPLED,
        fixture="S26",
        caught_by=SEEN,
    ),
    Tamper(
        "coupled-winner-after-a-rejection",
        FAMILY,
        "Tests the coupled draft with p / q, and after a rejection emits the target's winner instead of a residual.",
        "derived",
        ruled(AlteredWalk(COUPLED, _winner_after_a_rejection, _winner)),
        COUPLED,
        fixture="S27",
        caught_by=SEEN,
    ),
    Tamper(
        "coupled-noise-without-position",
        FAMILY,
        "Runs the race at every position of the text with the same noise.",
        "derived",
        _Unkeyed,
        COUPLED,
        caught_by=("sequence",),
    ),
    Tamper(
        "match-or-a-second-sample",
        FAMILY,
        "Compares the draft with a sample of the target, and after a miss emits another sample of it.",
        "A22, the variant that is wrong: mlx-swift-lm PR #459",
        ruled(AlteredWalk(MATCH, _second_sample, _picked)),
        MATCH,
        caught_by=SEEN,
    ),
    Tamper(
        "match-draft-knows-the-next-draw",
        FAMILY,
        "Drafts with the uniform that the target uses one position later in the same pass.",
        "derived; A50, vllm PR #54282, is its kin",
        ruled(AlteredWalk(MATCH, _match, _picked, _with_the_next_uniform)),
        MATCH,
        caught_by=("sequence",),
    ),
)
