"""Temperature and top-p at once, where a row is long and the nucleus small: what is outside is never computed exactly.

In: rows of a model. Out: the laws that the two steps give one after another. How much mass there is in all decides only
where the nucleus ends. Float32 numbers tell that well enough, unless it ends within their rounding: then, and where the
nucleus is large, both steps are taken on the whole row.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

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
        rough = np.subtract(row, best, dtype=np.float32, casting="same_kind")
        rough *= np.float32(sharper)
        np.exp(rough, out=rough)
        total = float(rough.sum())
        ids = _likely(rough, total, p)
        if SPARSE * len(ids) > len(row):
            return False
        weights = np.exp((row[ids].astype(np.float64) - best.astype(np.float64)) * sharper)
        falling = np.argsort(-weights, kind="stable")  # of equals the lowest id first
        reached = np.cumsum(weights[falling])
        end = int(np.searchsorted(reached, p * total))
        near = np.abs(reached[max(end - 1, 0) : end + 1] - p * total)
        if end == len(ids) or near.min() <= ROUNDING * total:
            return False
        kept = np.sort(falling[: end + 1])
        law[ids[kept]] = weights[kept] / weights[kept].sum()
        return True


def _likely(weights: NDArray[Any], total: float, p: float) -> NDArray[np.int64]:
    """Return tokens, rising, that hold the nucleus of weights (V,), as far as rounding can tell."""
    ids = np.arange(0)
    for share in (*SHARES, 1 / len(weights)):  # all those that have no such share of it have less than the rest
        ids = np.flatnonzero(weights >= share * (1 - p) * (1 - ROUNDING) * total)
        if float(weights[ids].sum()) > (p + ROUNDING) * total:
            break
    return ids


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
