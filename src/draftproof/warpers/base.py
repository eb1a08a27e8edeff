"""What a law filter promises, and the door where every law is normalised once.

In: arrays (..., V). Out: laws. It must never know which model or drafter the rows came from.
"""

import math
from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from array_api_compat import array_namespace

from draftproof.errors import ContractError
from draftproof.types import Array, Probs, Tokens

__all__ = ["LawFilter", "RowKind", "TextFilter", "first_not", "normalise"]

RowKind = Literal["logits", "laws"]
"""What a model's rows are: real scores whose softmax is the law, or laws as they stand (tables, exact Fractions)."""


class LawFilter(Protocol):
    """Takes mass away from a law: a value, pure, running on floats and Fractions alike."""

    def __call__(self, law: Probs, out: Array | None = None) -> Array:
        """Return weights (..., V): entries of the law (..., V), or 0 where the filter removes the token.

        Args:
            law: is left as it is, unless it is `out`.
            out: where the weights may be written; they need not be.
        """
        ...


class TextFilter(Protocol):
    """Reweighs a law by the text before it: a value, pure. It remembers nothing, so no rejected draft misleads it."""

    def reweigh(self, laws: Probs, texts: Sequence[Tokens]) -> Array:
        """Return weights (n, V) from laws (n, V), row i given the whole text before it, drafted tokens included."""
        ...


def normalise(weights: Array, out: Array | None = None) -> Probs:
    """Return weights (..., V) divided by their sum.

    Args:
        weights: numbers that are no law yet.
        out: where to write the law, a NumPy array.

    Raises:
        ContractError: if a row holds NaN, infinity or a negative number, or sums to zero; it names the row.
    """
    xp = array_namespace(weights)
    total, lowest = xp.sum(weights, axis=-1, keepdims=True), xp.min(weights, axis=-1, keepdims=True)
    fine = (lowest >= 0) & (total > 0) & (total < math.inf)  # false for NaN
    if not bool(xp.all(fine)):
        raise ContractError(
            f"{first_not(fine)} is no law: a law must be finite, non-negative and not all zero; a model or warper "
            "returned another"
        )
    return weights / total if out is None else np.divide(weights, total, out=out)


def first_not(fine: Array) -> str:
    """Return the name of the first row that is not fine, given (..., 1): its number, counted over all leading axes."""
    return f"row {[bool(row) for row in fine.reshape(-1)].index(False)}"
