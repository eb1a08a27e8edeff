"""Temperature and top-p at once, where a row is long and the nucleus small: what is outside is never computed exactly.

In: rows of a model. Out: the laws that the two steps give one after another. How much mass there is in all decides only
where the nucleus ends. Mostly the tokens near the best tell that, and how many others there are; else float32 numbers
do, unless it ends within their rounding: then, and where the nucleus is large, both steps are taken on the whole row.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import is_numpy_array
from draftproof.types import Array, Probs
from draftproof.warpers.base import LONG, SPARSE, RowKind, Step, filtered
from draftproof.warpers.temperature import Temperature
from draftproof.warpers.top_p import TopP

__all__ = ["Nucleus", "joined"]

ROUNDING = 2.0**-15
"""By which share a sum of exponentials in float32 may be off. Each is off by 2^-22 and 2^-23 times its exponent, which
is below 40 where it matters among 10^6 others: some 2^-17."""
SHARES = (2.0**-6, 2.0**-12)
"""Of the mass outside the nucleus: tokens that have more of it are few, and mostly enough."""
NEAR = 18.0
"""Tokens with less than e^-18 of the best one's weight are not near: 150,000 of them weigh a 400th of it."""
EXACT = 2.0**-36
"""By which share a sum of some thousand numbers in float64 may be off, and much more."""
COLD = 1e-3
"""Colder rows are one token in all but name, and their exponents leave float32."""


@dataclass(frozen=True)
class Nucleus:
    """Both steps, in this order."""

    temperature: Temperature
    top_p: TopP

    def laws(self, rows: Array, kind: RowKind, out: Array | None = None) -> Probs:
        """Return laws (..., V) of rows (..., V).

        Args:
            rows: what a model returned, or the steps before.
            kind: what that is.
            out: a NumPy array of zeros, float64, where laws may be written; they need not be.

        Raises:
            ContractError: if a row has no law; it names the row.
        """
        if not self._quick(rows, kind):
            law = self.temperature.laws(rows, kind, out) if kind == "logits" or self.temperature.value != 1 else rows
            return filtered(self.top_p, law)
        best = self.temperature.best(rows)
        laws = np.zeros(rows.shape) if out is None else out  # memory of which a few places are written to
        for place in np.ndindex(rows.shape[:-1]):
            if not self._written(rows[place], best[place], laws[place]):
                whole = self.temperature.laws(rows[place], kind)
                laws[place] = filtered(self.top_p, whole)
        return laws

    def _quick(self, rows: Array, kind: RowKind) -> bool:
        floats = kind == "logits" and is_numpy_array(rows) and rows.dtype in (np.float32, np.float64)
        return floats and rows.shape[-1] > LONG and float(self.temperature.value) >= COLD and self.top_p.p < 1

    def _written(self, row: NDArray[Any], best: NDArray[Any], law: NDArray[np.float64]) -> bool:
        """Write the law of a row (V,), given its largest score (1,), to zeros; return False where that takes more."""
        sharper, p = 1 / float(self.temperature.value), float(self.top_p.p)
        for find in (_near, _likely):
            ids, weights, least, most = find(row, best, sharper, p)
            falling = np.argsort(-weights, kind="stable")  # of equals the lowest id first
            reached = np.cumsum(weights[falling])
            end = int(np.searchsorted(reached, p * least))
            sure = end < len(ids) and reached[end] > p * most
            if sure and (end == 0 or reached[end - 1] < p * least * (1 - EXACT)):
                kept = np.sort(falling[: end + 1])
                law[ids[kept]] = weights[kept] / weights[kept].sum()
                return True
        return False


_Found: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64], float, float]
"""Tokens, rising; their weights, of which the largest is 1; and what the weights of all tokens add up to at least and
at most. No tokens where they are too many."""


def _near(row: NDArray[Any], best: NDArray[Any], sharper: float, _p: float) -> _Found:
    """Return the tokens near the best; the others together are next to nothing, and are only counted."""
    highest = float(best[0])
    cut = row.dtype.type(max(highest - NEAR / sharper, float(np.finfo(row.dtype).min)))
    ids, weights = _weighed(row, highest, sharper, np.flatnonzero(row > cut))
    found = float(weights.sum())
    return ids, weights, found, (found + len(row) * math.exp((float(cut) - highest) * sharper)) * (1 + EXACT)


def _likely(row: NDArray[Any], best: NDArray[Any], sharper: float, p: float) -> _Found:
    """Return tokens that hold the nucleus; all weights are added up in float32."""
    rough = np.subtract(row, best, dtype=np.float32, casting="same_kind")
    rough *= np.float32(sharper)
    np.exp(rough, out=rough)
    total = float(rough.sum())
    ids = np.arange(0)
    for share in (*SHARES, 1 / len(rough)):  # all those that have no such share of it have less than the rest
        ids = np.flatnonzero(rough >= share * (1 - p) * (1 - ROUNDING) * total)
        if float(rough[ids].sum()) > (p + ROUNDING) * total:
            break
    return *_weighed(row, float(best[0]), sharper, ids), total * (1 - ROUNDING), total * (1 + ROUNDING)


def _weighed(
    row: NDArray[Any], highest: float, sharper: float, ids: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return tokens and their weights; none where they are too many."""
    few = ids if SPARSE * len(ids) <= len(row) else ids[:0]
    return few, np.exp((row[few].astype(np.float64) - highest) * sharper)


def joined(steps: Iterable[Step]) -> Iterator[Step | Nucleus]:
    """Yield the steps; a temperature with the top-p that follows it, or a top-p alone, as a `Nucleus`."""
    waiting: Temperature | None = None
    for step in steps:
        if isinstance(step, TopP):
            yield Nucleus(waiting or Temperature(), step)
        else:
            if waiting is not None:
                yield waiting
            if not isinstance(step, Temperature):
                yield step
        waiting = step if isinstance(step, Temperature) else None
    if waiting is not None:
        yield waiting
