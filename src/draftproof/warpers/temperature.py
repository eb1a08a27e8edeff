"""Temperature: sharpen or flatten a law; 0 is the one-hot law of the best token, not a mode of its own.

In: rows of a model. Out: laws. Exact on Fractions when 1/temperature is whole.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from draftproof.arrays import array_namespace, is_numpy_array
from draftproof.errors import ContractError, UsageError
from draftproof.types import Array, Probs, Tokens
from draftproof.warpers.base import RowKind, first_not, normalise, real

__all__ = ["Temperature"]

COLDEST = 1e-250
"""Below this a difference of float32 scores would overflow when divided; exp makes it 0 long before."""


@dataclass(frozen=True)
class Temperature:
    """Divide logits by `value`, or raise laws to the power 1 / `value`: the same thing.

    Args:
        value: finite, at least 0. 0 gives all mass to the best token, the lowest id among equals.
    """

    value: float | Fraction = 1.0
    reads_text = False

    def __post_init__(self) -> None:
        if not 0 <= real(self.value) < math.inf:
            raise UsageError(f"got {self.value}; allowed are finite numbers from 0 up (0 = greedy)", "temperature")

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """See `Warper.warp`."""
        return self.laws(rows, kind), "laws"

    def laws(self, rows: Array, kind: RowKind, out: Array | None = None) -> Probs:
        """Return laws (..., V) of rows (..., V); logits become float64 first.

        Args:
            rows: what a model returned.
            kind: what that is.
            out: a NumPy array of float64 where the law may be written; it need not be.

        Raises:
            ContractError: if a row has no law; it names the row.
        """
        if self.value == 0:
            return _one_hot(rows, out)
        if kind == "laws":
            return normalise(rows if self.value == 1 else rows ** self._power())
        return _softmax(rows, float(self.value), out)

    def best(self, rows: Array) -> Array:
        """Return the largest score of each row (..., 1).

        Raises:
            ContractError: if a row has no finite one, and so no law; it names the row.
        """
        return _best(array_namespace(rows), rows)

    def _power(self) -> float | int | Fraction:
        power = 1 / self.value
        return int(power) if power == int(power) else power


def _softmax(logits: Array, temperature: float, out: Array | None) -> Probs:
    xp = array_namespace(logits)
    best = xp.astype(_best(xp, logits), xp.float64)
    if is_numpy_array(logits):
        scores = np.empty(logits.shape) if out is None else out
        scores[...] = logits  # float64 from here on
        scores -= best
    else:
        scores = logits - best
    scores *= 1 / max(temperature, COLDEST)  # in place, as all that follows: a row of a real vocabulary fills the cache
    xp.exp(scores, out=scores)
    scores *= 1 / xp.sum(scores, axis=-1, keepdims=True)
    return scores


def _one_hot(rows: Array, out: Array | None) -> Probs:
    xp = array_namespace(rows)
    if is_numpy_array(rows) and rows.dtype != object:
        best = np.argmax(rows, axis=-1, keepdims=True)  # of NaN, if there is one
        _refuse_no_law(xp, np.take_along_axis(rows, best, axis=-1))
        if out is None:
            law = np.zeros(rows.shape)  # memory that nobody wrote to: only the page of the best token is touched
        else:
            law = out
            law.fill(0)
        np.put_along_axis(law, best, 1, axis=-1)
        return law
    _best(xp, rows)
    hot = xp.arange(rows.shape[-1], device=rows.device) == xp.argmax(rows, axis=-1, keepdims=True)
    return xp.astype(hot, xp.float64 if rows.dtype != object else rows.dtype)


def _best(xp: Any, rows: Array) -> Array:
    """Return the largest score of each row (..., 1): finite, and larger than no NaN, else there is no law."""
    best = xp.max(rows, axis=-1, keepdims=True)
    _refuse_no_law(xp, best)
    return best


def _refuse_no_law(xp: Any, best: Array) -> None:
    fine = (best > -math.inf) & (best < math.inf)  # false for NaN
    if not bool(xp.all(fine)):
        raise ContractError(
            f"{first_not(fine)} of scores has no finite maximum, or NaN: a model returned it, or masks leave no token"
        )
