"""How far honest rounding moves the rows of a model, measured on the very text that is examined.

In: a model, a text. Out: distances between readings of the same tokens in pieces of other sizes, and what faults would
do to the same rows. It must never rewind a model: nothing here depends on a cache that goes back.
"""

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from draftproof.arrays import array_namespace
from draftproof.models.base import Model
from draftproof.types import Array
from draftproof.witness.rescoring import chains, joined

__all__ = [
    "Readings",
    "Rounding",
    "behind",
    "faulty_rows",
    "margin_rounding",
    "read_in_pieces",
    "readings",
    "row_gaps",
]

FARTHEST = 2.0
"""By how much a row may exceed the largest gap that was measured. A gap is a mean over the vocabulary, so it scatters
little: 0.04 to 0.12 over 500 rows of a bfloat16 model, where an entry too many or too few moves some row by 1.3 to 2.8.
A logarithm that scatters by 0.2 exceeds twice the largest of 50 by chance once in 1e7 rows."""
TYPICAL = 1.6
"""By how much the median of the rows may exceed the median that was measured."""
ENOUGH = 16
"""So many rows make a median worth comparing."""
FLOOR = 1e-5
"""In standard deviations of a row: float32 rounds by 1e-6 of it where it rounds at all; no fault is so small."""
BEST = 8
"""Tokens whose scores decide a greedy text."""


@dataclass(frozen=True)
class Readings:
    """The rows (n, V) that the n last tokens of a text are drawn from, read in pieces of several sizes."""

    plain: Array
    """As plain decoding reads: the prompt at once, then token by token."""
    blocks: Array
    """The prompt at once, then as many tokens at a time as a pass reads."""
    once: Array

    def pairs(self) -> tuple[tuple[Array, Array], ...]:
        """Return all pairs of readings."""
        return (self.plain, self.once), (self.blocks, self.once), (self.plain, self.blocks)


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

    @property
    def typical_bound(self) -> float:
        """How far half of the rows may be."""
        medians = (statistics.median(some) for some in self.gaps if some)
        return max(TYPICAL * max(medians, default=0.0), FLOOR * self.spread)

    def exceeded(self, gaps: Sequence[float]) -> bool:
        """Return whether gaps are beyond what rounding does: one of them, or their typical size."""
        if not gaps:
            return False
        many = len(gaps) >= ENOUGH and statistics.median(gaps) > self.typical_bound
        return not math.isfinite(max(gaps)) or max(gaps) > self.bound or many

    def hidden(self) -> list[str]:
        """Return the faults that could hide in the rounding of this model on this text; any, where none was tried."""
        if not self.faults:
            return ["any fault"]
        return [name for name, gaps in self.faults.items() if not self.exceeded(gaps)]


def readings(target: Model, prompt: Sequence[int], emitted: Sequence[int], block: int) -> Readings:
    """Read the text that `emitted` was drawn after in three ways."""
    text, n = [*prompt, *emitted[:-1]], len(emitted)
    once = target.fresh().extend(text, n)
    plain, blocks = (_pieces(target, prompt, text[len(prompt) :], size) for size in (1, block))
    return Readings(plain, blocks, once)


def faulty_rows(
    target: Model, prompt: Sequence[int], emitted: Sequence[int], right: Array
) -> dict[str, tuple[Array, Array]]:
    """Return by fault the rows that it would make, and the right ones of the same tokens.

    Args:
        target: an honest model, which reads from the start what a wrong cache would hold.
        prompt: one token or more.
        emitted: the text after it.
        right: (n, V) the rows that its tokens were drawn from. There is nothing to compare if n is 1.
    """
    n = len(emitted)
    if n < 2:
        return {}
    before, after = [*prompt], [*emitted[:-1]]
    stray = next((token for token in reversed(emitted) if token != emitted[0]), emitted[0])
    found = {"an entry too many": target.fresh().extend([*before, stray, *after], n - 1)}
    if len(before) > 1:
        found["an entry too few"] = target.fresh().extend([*before[:-1], *after], n - 1)
    found["a row of the token before"] = right[:-1]
    return {name: (rows, right[1:]) for name, rows in found.items()}


def read_in_pieces(target: Model, prefixes: Sequence[Sequence[int]]) -> Array:
    """Return the rows after each of the texts, the tokens of the last rows read after all that comes before them."""

    def rows_of() -> Iterator[Array]:
        for text, rows in chains(prefixes):
            model = target.fresh()
            if text[:-rows]:
                model.extend(text[:-rows], 1)
            yield model.extend(text[-rows:])

    return joined(list(rows_of()))


def row_gaps(rows: Array, others: Array) -> list[float]:
    """Return for each row how far another reading is from it: the standard deviation of the scores' differences.

    What all scores have in common is left out, since it changes no law. Scores that are infinite in both are alike.
    """
    if rows.shape != others.shape:
        return [math.inf] * max(1, len(rows))
    xp = array_namespace(rows, others)
    apart = xp.where(rows == others, xp.zeros_like(rows), rows - others)
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


def _pieces(target: Model, prompt: Sequence[int], rest: Sequence[int], size: int) -> Array:
    model = target.fresh()
    starts = range(0, len(rest), size)
    return joined([model.extend(prompt, 1), *(model.extend(rest[at : at + size]) for at in starts)])
