"""How far honest rounding moves the rows of a model, and what is more than that.

In: readings of the very text that is examined, see `readings.py`. Out: distances, bounds, and which faults could hide.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from draftproof.arrays import array_namespace
from draftproof.types import Array
from draftproof.witness.readings import Readings

__all__ = ["Rounding", "behind", "margin_rounding", "row_gaps"]

FARTHEST = 2.0
"""By how much a row may exceed the largest gap that was measured. A gap is a mean over the vocabulary, so it scatters
little: 0.04 to 0.12 over 500 rows of a bfloat16 model, where an entry too many or too few moves some row by 1.3 to 2.8.
A logarithm that scatters by 0.2 exceeds twice the largest of 50 by chance once in 1e7 rows."""
ENOUGH = 16
"""Of so many rows half must not exceed the largest gap that was measured. Nothing finer would do: the quantised kernels
of llama.cpp round a text to the same bits until some number tips over, and by their usual amount from there on."""
CLEAR = 0.25
"""What is beyond the bounds, but below this part of what every fault would do to some row, is neither."""
FLOOR = 1e-5
"""In standard deviations of a row: float32 rounds by 1e-6 of it where it rounds at all; no fault is so small."""
BEST = 8
"""Tokens whose scores decide a greedy text."""


@dataclass(frozen=True)
class Rounding:
    """What was measured: how many rows were compared, how far they lie apart, and what a fault would do to them.

    Args:
        gaps: of readings of the same tokens, a list for each pair of readings.
        spread: the standard deviation of a row over its vocabulary, the mean of all rows.
        faults: by what is wrong, the gaps that it would make.
    """

    gaps: tuple[Sequence[float], ...]
    spread: float
    faults: dict[str, Sequence[float]]

    @property
    def rows(self) -> int:
        """How many rows were compared."""
        return sum(len(some) for some in self.gaps)

    @property
    def largest(self) -> float:
        """The largest gap that was measured."""
        return max((gap for some in self.gaps for gap in some), default=0.0)

    @property
    def bound(self) -> float:
        """How far a row may be from a fresh reading."""
        return max(FARTHEST * self.largest, FLOOR * self.spread)

    def exceeded(self, gaps: Sequence[float]) -> bool:
        """Return whether gaps are beyond what rounding does: one of them, or their typical size."""
        if not gaps:
            return False
        usual = max(self.largest, FLOOR * self.spread)
        many = len(gaps) >= ENOUGH and statistics.median(gaps) > usual
        return not math.isfinite(max(gaps)) or max(gaps) > self.bound or many

    def clear(self, gaps: Sequence[float]) -> bool:
        """Return whether gaps beyond the bounds are of the size that faults have, and no rounding that was not seen."""
        return max(gaps) > CLEAR * min((max(some) for some in self.faults.values()), default=math.inf)

    def hidden(self) -> list[str]:
        """Return the faults that could hide in the rounding of this model on this text; any, where none was tried."""
        if not self.faults:
            return ["any fault"]
        return [name for name, gaps in self.faults.items() if not self.exceeded(gaps)]


def row_gaps(rows: Array, others: Array) -> list[float]:
    """Return for each row how far another reading is from it: the standard deviation of the scores' differences.

    What all scores have in common is left out, since it changes no law. Scores that are infinite in both are alike.
    """
    if rows.shape != others.shape:
        return [math.inf] * max(1, len(rows))
    xp = array_namespace(rows, others)
    alike, zeros = rows == others, xp.zeros_like(rows)
    with np.errstate(invalid="ignore"):
        apart = xp.where(alike, zeros, rows) - xp.where(alike, zeros, others)
        gaps = xp.std(xp.astype(apart, xp.float64), axis=-1)
    return [gap if math.isfinite(gap) else math.inf for gap in map(float, gaps)]


def behind(row: Array, token: int) -> float:
    """Return by how much the score of a token is below the best of its row (V,)."""
    return float(array_namespace(row).max(row) - row[token])


def margin_rounding(read: Readings) -> float:
    """Return how far rounding can move the best scores of a row against each other, by the largest seen, twice."""
    return FARTHEST * max(_contrast(one, other) for one, other in read.pairs())


def _contrast(one: Array, other: Array) -> float:
    """Return the largest change of a difference between two of the best scores of a row."""
    xp, size = array_namespace(one, other), one.shape[-1]
    least = xp.sort(one, axis=-1)[:, size - min(BEST, size), None]
    apart = one - other
    low = xp.min(xp.where(one >= least, apart, xp.full_like(apart, math.inf)), axis=-1)
    high = xp.max(xp.where(one >= least, apart, xp.full_like(apart, -math.inf)), axis=-1)
    return float(xp.max(high - low))
