"""Temperature 0, token by token, on the engine's own text: the best token, one level with it, or a fault.

In: scores of the target that share nothing with the engine, as one row at a time reads them and, if there are any, as
rows read together; a token. Out: what kind of match it is. Where two tokens are nearly level, a lenient engine may keep
the draft too often; single tokens do not show that, and the flip bet does.
"""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from draftproof.witness.mixture import STRENGTHS, evenly

__all__ = ["Flips", "Match", "matched"]


class Match(StrEnum):
    """How a token of a greedy text compares with plain decoding there."""

    MATCH = "MATCH"
    TIE = "TIE"
    """It is exactly level with the best token, which has a lower id."""
    MATCH_BLOCK = "MATCH_BLOCK"
    """It is the best token where rows are read together."""
    NEAR_TIE = "NEAR_TIE"
    """It is behind by no more than rounding may move two scores."""
    FAULT = "FAULT"


def matched(
    token: int, scores: NDArray[np.float64], delta: float, together: NDArray[np.float64] | None = None
) -> tuple[Match, float]:
    """Return what kind of match a token is, and how far it is behind the best one.

    Args:
        token: what the engine emitted.
        scores: (V,) from a row read alone.
        delta: how far rounding may move a score.
        together: (V,) from rows read together, as verification reads them.
    """
    gap = float(scores.max() - scores[token])
    if token == int(scores.argmax()):
        return Match.MATCH, gap
    if gap == 0:
        return Match.TIE, gap
    if together is not None and token == int(together.argmax()):
        return Match.MATCH_BLOCK, gap
    return (Match.NEAR_TIE if gap <= 2 * delta else Match.FAULT), gap


@dataclass
class Flips:
    """The bet that near-ties turn out as the draft has them more often than rounding alone makes them.

    It is fed, where a near-tie's second token was drafted, whether the engine emitted it.
    """

    logs: NDArray[np.float64] = field(default_factory=lambda: np.zeros(len(STRENGTHS)))

    def add(self, *, flipped: bool, rate: float, times: int = 1) -> None:
        """Take in a near-tie, or several that came out alike.

        Args:
            flipped: whether the draft's token, the second best, was emitted.
            rate: how often rounding does that at such a gap, at most; below 1/2.
            times: how many.
        """
        self.logs = self.logs + times * np.log1p(STRENGTHS * (float(flipped) - rate) / (1 - rate))

    @property
    def log_wealth(self) -> float:
        """In nats."""
        return evenly(self.logs)
