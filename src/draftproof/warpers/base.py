"""What a law filter promises, and the door where every law is normalised once.

In: arrays (..., V). Out: laws. It must never know which model or drafter the rows came from.
"""

from typing import Literal, Protocol

from array_api_compat import array_namespace

from draftproof.errors import ContractError
from draftproof.types import Array, Probs

__all__ = ["LawFilter", "RowKind", "normalise"]

RowKind = Literal["logits", "laws"]
"""What a model's rows are: real scores whose softmax is the law, or laws as they stand (tables, exact Fractions)."""


class LawFilter(Protocol):
    """Takes mass away from a law: a value, pure, running on floats and Fractions alike."""

    def __call__(self, law: Probs) -> Array:
        """Return weights (..., V): entries of the law (..., V), or 0 where the filter removes the token."""
        ...


def normalise(weights: Array) -> Probs:
    """Return weights (..., V) divided by their sum.

    Raises:
        ContractError: if a row holds NaN, infinity or a negative number, or sums to zero.
    """
    xp = array_namespace(weights)
    total = xp.sum(weights, axis=-1, keepdims=True)
    if not (xp.min(weights) >= 0 and xp.min(total) > 0 and xp.max(total) < float("inf")):  # all false for NaN
        raise ContractError("a law must be finite, non-negative and not all zero; a model or warper returned another")
    return weights / total
