"""What a step from rows to laws promises, and the door where every law is normalised once.

In: arrays (..., V). Out: laws. It must never know which model or drafter the rows came from.
"""

import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import array_namespace, is_numpy_array
from draftproof.errors import ContractError, UsageError
from draftproof.types import Array, Probs, Text, Tokens

__all__ = [
    "LawFilter",
    "RowKind",
    "Step",
    "Warper",
    "copied",
    "filtered",
    "first_not",
    "is_whole",
    "keep_only",
    "normalise",
    "nothing",
    "output_of",
    "real",
    "refuse_foreign",
    "refuse_no_ids",
]

RowKind = Literal["logits", "laws"]
"""What rows are: real scores whose softmax is the law, or laws as they stand (tables, exact Fractions)."""


class Warper(Protocol):
    """A step from rows to laws: a value, pure. It remembers nothing, so no rejected draft misleads it."""

    @property
    def reads_text(self) -> bool:
        """Whether `warp` needs the text before each row."""
        ...

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """Return changed rows, which are no part of `rows`, and what they are.

        What it does to a score it does to a law as to the logarithm: a penalty a is the factor exp(-a), a division by t
        the power 1/t, a mask (-inf) is 0. So a law of Fractions stays one wherever factors and exponents allow it.

        Args:
            rows: (n, V), or (..., V) where no text is read; to be left as they are.
            kind: "logits" or "laws"; a law is normalised.
            texts: for each of n rows the whole text before it, drafted tokens included. A `Text` knows which of its
                tokens are the prompt; in any other sequence all tokens count as output.

        Returns:
            Logits, or non-negative weights as "laws".
        """
        ...


class LawFilter(Protocol):
    """Takes mass away from a law: a value, pure, running on floats and Fractions alike; it reads no text."""

    def __call__(self, law: Probs, out: Array | None = None) -> Array:
        """Return weights (..., V): entries of the law (..., V), or 0 where the filter removes the token.

        Args:
            law: is left as it is, unless it is `out`.
            out: where the weights may be written; they need not be.
        """
        ...


LONG, SPARSE = 2**14, 16
"""From how many tokens on a row is looked at for zeros; and so many times fewer others it must have to gain by it."""

Step: TypeAlias = Warper | LawFilter
"""What a pipeline is made of. A filter is called, a warper has `warp`."""


def normalise(weights: Array, out: Array | None = None) -> Probs:
    """Return weights (..., V) divided by their sum.

    Args:
        weights: numbers that are no law yet.
        out: where to write the law, a NumPy array.

    Raises:
        ContractError: if a row holds NaN, infinity or a negative number, or sums to zero; it names the row.
    """
    if out is not None and weights.shape[-1] > LONG:
        places = np.ndindex(weights.shape[:-1])
        if all(_normalised_row(weights[place], out[place]) for place in places):
            return out
    xp = array_namespace(weights)
    total, lowest = xp.sum(weights, axis=-1, keepdims=True), xp.min(weights, axis=-1, keepdims=True)
    fine = (lowest >= 0) & (total > 0) & (total < math.inf)  # false for NaN
    if not bool(xp.all(fine)):
        raise ContractError(
            f"{first_not(fine)} is no law: a law must be finite, non-negative and not all zero; a model or warper "
            "returned another"
        )
    return weights / total if out is None else np.divide(weights, total, out=out)


def filtered(keep: LawFilter, law: Probs) -> Probs:
    """Return the law that a filter leaves of one that may be written to.

    Raises:
        ContractError: see `normalise`.
    """
    weights = keep(law, law)
    return normalise(weights, weights if is_numpy_array(weights) and weights.dtype == np.float64 else None)


def _normalised_row(row: NDArray[Any], out: NDArray[Any]) -> bool:
    """Write the law of a row (V,) to `out`, which may be the row itself; return whether it has one.

    Where a truncating warper left few tokens, the others are not added up again.
    """
    ids = np.flatnonzero(row != 0)
    few = SPARSE * len(ids) <= len(row)
    entries = row[ids] if few else row
    total = entries.sum()
    if not (entries.min(initial=math.inf) >= 0 and 0 < total < math.inf):  # false for NaN
        return False
    if few:
        out.fill(0)
        out[ids] = entries / total
    else:
        np.divide(row, total, out=out)
    return True


def first_not(fine: Array) -> str:
    """Return the name of the first row that is not fine, given (..., 1): its number, counted over all leading axes."""
    return f"row {[bool(row) for row in fine.reshape(-1)].index(False)}"


def copied(rows: Array) -> Array:
    """Return rows to write to: in float64, or objects as they are."""
    xp = array_namespace(rows)
    return rows.copy() if rows.dtype == object else xp.astype(rows, xp.float64, copy=True)


def keep_only(row: NDArray[Any], ids: NDArray[np.int64], out: NDArray[Any]) -> None:
    """Write to `out` (V,), which may be the row itself, the entries of `ids` in their places and zeros elsewhere."""
    kept = row[ids]
    out.fill(0)
    out[ids] = kept


def nothing(kind: RowKind) -> float:
    """Return what stands in a row for a token that is forbidden."""
    return -math.inf if kind == "logits" else 0


def output_of(text: Tokens) -> Tokens:
    """Return the text without its prompt."""
    return text[text.prompt_length :] if isinstance(text, Text) else text


def real(value: Any) -> Any:
    """Return a setting as it is, or NaN, which lies in no range, if it is no real number."""
    return value if isinstance(value, Real) else math.nan


def is_whole(value: Any, least: int) -> bool:
    """Whether a setting is a whole number from `least` up."""
    return isinstance(value, Integral) and int(value) >= least


def refuse_no_ids(tokens: Iterable[Any], setting: str) -> None:
    """Raise UsageError if one of the tokens cannot be a token id, whatever the vocabulary."""
    for token in tokens:
        if not is_whole(token, 0):
            raise UsageError(f"got {token!r}; a token id is a whole number from 0 up", setting)


def refuse_foreign(tokens: Iterable[int], vocab_size: int, setting: str) -> None:
    """Raise UsageError if one of the tokens is not in the vocabulary."""
    if (largest := max(tokens, default=0)) >= vocab_size:
        raise UsageError(f"got the token id {largest}; this vocabulary has the ids 0 to {vocab_size - 1}", setting)
