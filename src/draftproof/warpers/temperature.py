"""Temperature: sharpen or flatten a law; 0 is the one-hot law of the best token, not a mode of its own.

In: rows of a model. Out: weights that `normalise` turns into laws. Exact on Fractions when 1/temperature is whole.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from array_api_compat import array_namespace

from draftproof.errors import ContractError, UsageError
from draftproof.types import Array
from draftproof.warpers.base import RowKind

__all__ = ["Temperature"]


@dataclass(frozen=True)
class Temperature:
    """Divide logits by `value`, or raise laws to the power 1 / `value`: the same thing.

    Args:
        value: finite, at least 0. 0 gives all mass to the best token, the lowest id among equals.
    """

    value: float | Fraction = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.value) and self.value >= 0):
            raise UsageError(f"got {self.value}; allowed are finite numbers from 0 up (0 = greedy)", "temperature")

    def weights(self, rows: Array, kind: RowKind) -> Array:
        """Return unnormalised laws (..., V) of rows (..., V); logits become float64 first."""
        xp = array_namespace(rows)
        if self.value == 0:
            return self._one_hot(rows)
        if kind == "laws":
            return rows if self.value == 1 else rows ** self._power()
        scores = xp.astype(rows, xp.float64)
        # A row without a finite maximum becomes NaN here, which `normalise` refuses; a tiny temperature makes
        # -infinity, which is its limit and which exp turns into 0.
        with np.errstate(invalid="ignore", over="ignore"):
            return xp.exp((scores - xp.max(scores, axis=-1, keepdims=True)) / float(self.value))

    @staticmethod
    def _one_hot(rows: Array) -> Array:
        xp = array_namespace(rows)
        best = xp.max(rows, axis=-1)
        if not xp.all((best > -math.inf) & (best < math.inf)):
            raise ContractError("a row of scores must have a finite maximum and no NaN; a model returned another")
        tokens = xp.arange(rows.shape[-1])
        hot = tokens == xp.argmax(rows, axis=-1, keepdims=True)
        return xp.astype(hot, xp.float64 if rows.dtype != object else rows.dtype)

    def _power(self) -> float | int | Fraction:
        power = 1 / self.value
        return int(power) if power == int(power) else power
