"""Tampers of the rules in which the target draws its own tokens: coupled, and sample-and-match.

In: the noise of positions, target and draft rows. Out: two schemes mixed, or noise at the wrong address. It must never
touch the rules that test a ratio.
"""

from dataclasses import dataclass

from draftproof.redteam.altered import AlteredWalk, matched, picked, ruled, won
from draftproof.redteam.base import Tamper
from draftproof.redteam.handed import noisy
from draftproof.rules.base import Place, pick, surplus
from draftproof.rules.coupled import CoupledRule
from draftproof.rules.match import MatchRule
from draftproof.types import Array, Draws, Noise, Probs, Purpose, Uniform

__all__ = ["TAMPERS"]

FAMILY = "coupling"
SEEN = ("exact", "sequence")


def _residual_after_a_miss(p: Probs, q: Probs, guess: int, draws: Draws, depth: int) -> tuple[bool, int]:
    if won(p, draws, depth) == guess:
        return True, guess
    return False, picked(surplus(p, q), draws, depth)


def _winner_after_a_rejection(p: Probs, q: Probs, guess: int, draws: Draws, depth: int) -> tuple[bool, int]:
    if draws.uniforms(Purpose.ACCEPT, 1, depth)[0, ...] * q[guess] < p[guess]:
        return True, guess
    return False, won(p, draws, depth)


def _second_sample(p: Probs, _q: Probs, guess: int, draws: Draws, depth: int) -> tuple[bool, int]:
    if int(pick(p, draws.uniforms(Purpose.ACCEPT, 1, depth)[0, ...])) == guess:
        return True, guess
    return False, picked(p, draws, depth)


def _with_the_next_uniform(law: Probs, place: Place) -> list[int]:
    return [picked(law, place.draws, place.depth + 1)]


@dataclass(frozen=True)
class _OnePosition:
    """Noise that gives every position of the text the exponentials of position 0."""

    noise: Noise

    def uniforms(self, purpose: Purpose, start: int, count: int, first: int = 0) -> Uniform:
        """See `Noise.uniforms`."""
        return self.noise.uniforms(purpose, start, count, first)

    def exponentials(self, position: int, vocab_size: int) -> Array:
        """See `Noise.exponentials`."""
        return self.noise.exponentials(0, vocab_size)


COUPLED, MATCH = CoupledRule(), MatchRule()

TAMPERS = (
    Tamper(
        "coupled-residual-after-a-miss",
        FAMILY,
        "Tests whether draft and target win together, and after a miss draws from max(0, p - q): two schemes mixed.",
        "derived",
        ruled(AlteredWalk(COUPLED, _residual_after_a_miss, won)),
        COUPLED,
        fixture="S26",
        caught_by=SEEN,
    ),
    Tamper(
        "coupled-winner-after-a-rejection",
        FAMILY,
        "Tests the coupled draft with p / q, and after a rejection emits the target's winner instead of a residual.",
        "derived",
        ruled(AlteredWalk(COUPLED, _winner_after_a_rejection, won)),
        COUPLED,
        fixture="S27",
        caught_by=SEEN,
    ),
    Tamper(
        "coupled-noise-without-position",
        FAMILY,
        "Runs the race at every position of the text with the same noise.",
        "derived",
        noisy(_OnePosition),
        COUPLED,
        caught_by=("sequence",),
    ),
    Tamper(
        "match-or-a-second-sample",
        FAMILY,
        "Compares the draft with a sample of the target, and after a miss emits another sample of it.",
        "A22, the variant that is wrong: mlx-swift-lm PR #459",
        ruled(AlteredWalk(MATCH, _second_sample, picked)),
        MATCH,
        caught_by=SEEN,
    ),
    Tamper(
        "match-draft-knows-the-next-draw",
        FAMILY,
        "Drafts with the uniform that the target uses one position later in the same pass.",
        "derived; A50, vllm PR #54282, is its kin",
        ruled(AlteredWalk(MATCH, matched(picked), picked, _with_the_next_uniform)),
        MATCH,
        caught_by=("sequence",),
    ),
)
