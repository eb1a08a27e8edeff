"""Where filters cut, if scores are known to within a width. In: scores. Out: what is kept surely, what possibly.

Each filter keeps the tokens above some score. Which score that is moves with all the others; so there are two of them:
tokens below the one are kept by no scores within reach, tokens above the other by all.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Edges"]

ROUNDING = 1e-11
"""By which share sums of some 100,000 probabilities may be off."""


@dataclass(frozen=True)
class Edges:
    """Scores of B places, logarithms of weights, and the two cuts so far.

    Args:
        scores: (B, V), -inf where a token is forbidden.
        off: (B, 1) how far each may be off.
        low: (B, 1) nothing below it is kept.
        high: (B, 1) everything above it is.
    """

    scores: NDArray[np.float64]
    off: NDArray[np.float64]
    low: NDArray[np.float64] | float = -math.inf
    high: NDArray[np.float64] | float = -math.inf

    def top_k(self, k: int) -> Self:
        """Cut as top-k does: a token stays if fewer than k are ahead of it.

        Where a token was kept, all that are surely ahead of it were.
        """
        if k >= self.scores.shape[-1]:
            return self
        kth, following = self._falling[:, k - 1, None], self._falling[:, k, None]
        return self._cut(kth, np.where(self._count(self.low, strictly=False) > k, following, -np.inf))

    def min_p(self, p: float) -> Self:
        """Cut as min-p does: the best token is never cut away."""
        edge = self._falling[:, :1] + (math.log(p) if p > 0 else -math.inf)
        return self._cut(edge, edge)

    def greedy(self) -> Self:
        """Keep the best token, and what may be it."""
        return self.min_p(1.0)

    def top_p(self, p: float) -> Self:
        """Cut as top-p does: a token stays if those ahead of it hold less than p.

        Those ahead have odds of p : 1 - p at most against the others. Scores that are off by w move odds by exp(2 w).
        """
        if p == 1:
            return self
        weights = np.exp(self._falling - self._falling[:, :1])
        ahead = np.cumsum(weights, axis=-1) - weights
        most, least = (
            np.take_along_axis(ahead + weights, np.maximum(count, 1) - 1, axis=-1) * (count > 0)
            for count in (self._count(self.low, strictly=False), self._count(self.high, strictly=True))
        )
        slack, before = ROUNDING * most, np.minimum(ahead, most)
        stays = (1 - p) * before <= p * np.exp(2 * self.off) * (most - before) + slack
        certain = (1 - p) * before < p * np.exp(-2 * self.off) * (least - np.minimum(ahead, least)) - slack
        last = np.take_along_axis(self._falling, np.maximum(_leading(stays), 1) - 1, axis=-1)
        kept = _leading(certain)
        size = self.scores.shape[-1]
        first_out = np.take_along_axis(self._falling, np.minimum(kept, size - 1), axis=-1)
        return self._cut(last, np.where(kept < size, first_out, -np.inf))

    def sharpened(self, factor: float) -> Self:
        """Multiply all scores, as a temperature does after the cuts so far."""
        return replace(
            self, scores=self.scores * factor, off=self.off * factor, low=self.low * factor, high=self.high * factor
        )

    def sets(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return (B, V) what may be kept, and (B,) whether that may be another set than the one that is."""
        allowed = self.scores > -np.inf
        possible = allowed & (self.scores >= self.low)
        unsure = (possible & ~(self.scores > self.high)).any(axis=-1)
        return possible, unsure & (possible.sum(axis=-1) > 1)

    @cached_property
    def _falling(self) -> NDArray[np.float64]:
        return -np.sort(-self.scores, axis=-1)

    def _count(self, edge: NDArray[np.float64] | float, *, strictly: bool) -> NDArray[np.int64]:
        """Return (B, 1) how many allowed tokens there are above an edge."""
        above = self.scores > edge if strictly else self.scores >= edge
        return (above & (self.scores > -np.inf)).sum(axis=-1, keepdims=True)

    def _cut(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> Self:
        """Cut away what is surely below, and be sure of no more than what is above: two scores may close in by 2 w."""
        low, high = low - 2 * self.off, high + 2 * self.off
        return replace(self, low=np.maximum(self.low, low), high=np.maximum(self.high, high))


def _leading(good: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return (B, 1) how many entries of each row (B, n) are true before the first that is not."""
    return np.minimum.accumulate(good, axis=-1).sum(axis=-1, keepdims=True)
