"""What a law filter promises, and the door where every law is normalised once.

In: arrays (..., V). Out: laws. It must never know which model or drafter the rows came from.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from array_api_compat import array_namespace

from draftproof.errors import ContractError
from draftproof.types import Array, Probs, Tokens

__all__ = ["LawFilter", "RowKind", "TextFilter", "first_false", "normalise"]

RowKind = Literal["logits", "laws"]
"""What a model's rows are: real scores whose softmax is the law, or laws as they stand (tables, exact Fractions)."""


class LawFilter(Protocol):
    """Takes mass away from a law: a value, pure, running on floats and Fractions alike."""

    def __call__(self, law: Probs) -> Array:
        """Return weights (..., V): entries of the law (..., V), or 0 where the filter removes the token."""
        ...


class TextFilter(Protocol):
    """Reweighs a law by the text before it: a value, pure. It remembers nothing, so no rejected draft can mislead it."""

    def reweigh(self, laws: Probs, texts: Sequence[Tokens]) -> Array:
        """Return weights (n, V) from laws (n, V), row i given the whole text before it, drafted tokens included."""
        ...


def normalise(weights: Array, out: Array | None = None) -> Probs:
    """Return weights (..., V) divided by their sum.

    Raises:
        ContractError: if a row holds NaN, infinity or a negative number, or sums to zero; it names the row.
    """
    xp = array_namespace(weights)
    total = xp.sum(weights, axis=-1, keepdims=True)
    if not (xp.min(weights) >= 0 and xp.min(total) > 0 and xp.max(total) < float("inf")):  # all false for NaN
        lowest = xp.min(weights, axis=-1, keepdims=True)
        row = first_false((lowest >= 0) & (total > 0) & (total < float("inf")))
        raise ContractError(
            f"row {row} is no law: it must be finite, non-negative and not all zero; a model or warper returned another"
        )
    return weights / total if out is None else np.divide(weights, total, out=out)


def first_false(fine: Array) -> int:
    """Return the number of the first row that is not fine, (..., 1) counted over all leading axes."""
    return [bool(row) for row in fine.reshape(-1)].index(False)
