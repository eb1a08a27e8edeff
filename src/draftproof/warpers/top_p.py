"""Top-p (nucleus): keep the smallest set of most probable tokens whose mass reaches p.

In: a law. Out: weights. Source: `holtzman2020`. To sort 150,000 entries would be most of the work of a pass, so of rows
of float64 in NumPy only those are sorted among which the nucleus must end. Both ways keep the same tokens, to the last
one: checked in tests/warpers/test_top_p.py.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import array_namespace, is_numpy_array
from draftproof.errors import UsageError
from draftproof.types import Array, Probs
from draftproof.warpers.base import keep_only, real

__all__ = ["TopP"]

FEW = 4096
"""So many entries are sorted at once."""
STRIDE = 32
"""Of more, one in so many is looked at first."""


@dataclass(frozen=True)
class TopP:
    """Keep tokens from the most probable down while the mass before them is less than `p`.

    Args:
        p: above 0, at most 1 (1 keeps everything). Among equally probable tokens the lowest ids are kept first.

    >>> import numpy as np
    >>> TopP(0.7)(np.array([0.5, 0.1, 0.4])).tolist()
    [0.5, 0.0, 0.4]
    """

    p: float | Fraction

    def __post_init__(self) -> None:
        if not 0 < real(self.p) <= 1:
            raise UsageError(f"got {self.p}; allowed are numbers above 0 and at most 1 (1 = no limit)", "top_p")

    def __call__(self, law: Probs, out: Array | None = None) -> Array:
        """See `LawFilter.__call__`: 0 in place of everything outside the nucleus."""
        if self.p == 1:
            return law
        if not is_numpy_array(law) or law.dtype != np.float64:
            return _sorted(law, self.p)
        weights = np.empty(law.shape) if out is None else out
        for place in np.ndindex(law.shape[:-1]):
            keep_only(law[place], _nucleus(law[place], float(self.p)), weights[place])
        return weights


def _sorted(law: Probs, p: float | Fraction) -> Array:
    """Return the weights (..., V): the definition, on any kind of array."""
    xp = array_namespace(law)
    ordered = xp.flip(xp.sort(law, axis=-1), axis=-1)
    short = xp.cumulative_sum(ordered, axis=-1)[..., :-1] < p * xp.sum(law, axis=-1, keepdims=True)
    size = 1 + xp.sum(xp.astype(short, xp.int64), axis=-1, keepdims=True)
    cutoff = xp.take_along_axis(ordered, size - 1, axis=-1)
    above, level = law > cutoff, law == cutoff
    room = size - xp.sum(xp.astype(above, xp.int64), axis=-1, keepdims=True)
    first_equals = level & (xp.cumulative_sum(xp.astype(level, xp.int64), axis=-1) <= room)
    return xp.where(above | first_equals, law, xp.zeros_like(law))


def _nucleus(row: NDArray[np.float64], p: float) -> NDArray[np.int64]:
    """Return the tokens of the row (V,) that the nucleus holds, in no order."""
    total = row.sum()
    goal, rounding = p * total, len(row) * 2.0**-52 * total
    for low, high in (_bounds(row, total - goal), (0.0, math.inf)):
        ids = np.flatnonzero(row >= low)
        entries = row[ids]
        sure = entries > high  # these the nucleus holds without being sorted
        above = ids[sure]
        mass = entries[sure].sum()
        ids, entries = ids[~sure], entries[~sure]
        ordered = np.sort(entries)[::-1]
        reached = np.cumsum(ordered) + mass
        end = int(np.searchsorted(reached[: len(row) - len(above) - 1], goal))
        if end == len(ordered):
            continue  # the nucleus does not end between these bounds
        # Masses added in another order differ by rounding; where that could move the end, the whole row is sorted.
        over = reached[end] - goal
        if not len(above) or min(over, ordered[end] - over) > rounding:
            break
    stays = entries >= ordered[end]
    if surplus := np.count_nonzero(stays) - end - 1:
        stays[np.flatnonzero(entries == ordered[end])[-surplus:]] = False
    return np.concatenate([above, ids[stays]])


def _bounds(row: NDArray[np.float64], rest: float) -> tuple[float, float]:
    """Return between which probabilities the nucleus should end, judged by a part of the row (V,).

    Args:
        row: a law.
        rest: the mass outside the nucleus. It is the smallest entries, of which a sample says most.
    """
    if len(row) <= FEW:
        return 0.0, math.inf
    sample = np.sort(row[::STRIDE])
    end = int(np.searchsorted(STRIDE * np.cumsum(sample), rest))
    last = sample[min(end, len(sample) - 1)]
    # The sampled rest is a sum of entries up to `last`: one standard deviation of it moves its end by so many entries.
    deviation = math.sqrt(np.dot(sample[:end], sample[:end])) / max(last, math.ulp(0.0))
    reach = 8 + int(3 * deviation)
    low = sample[end - reach] if end > reach else 0.0
    high = sample[end + reach] if end + reach < len(sample) else math.inf
    return max(low, math.ulp(0.0)), high
