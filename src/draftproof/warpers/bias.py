"""Logit bias: make single tokens more or less probable, whatever the text. In: rows. Out: rows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from draftproof.errors import UsageError
from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind, copied, real, refuse_foreign, refuse_no_ids

__all__ = ["LogitBias"]

MOST = 100
"""The largest bias, as of OpenAI and vLLM: exp(-100), about 1e-44, forbids in effect and stays finite."""


@dataclass(frozen=True)
class LogitBias:
    """Multiply the probabilities of some tokens: a bias b on a score is the factor exp(b) of the law.

    Args:
        factors: (token id, factor), each factor above 0.
    """

    factors: tuple[tuple[int, float | Fraction], ...]
    reads_text = False

    def __post_init__(self) -> None:
        refuse_no_ids((token for token, _ in self.factors), "logit_bias")
        for token, factor in self.factors:
            if not 0 < real(factor) < math.inf:
                raise UsageError(
                    f"got the factor {factor} for token {token}; allowed are numbers above 0", "logit_bias"
                )

    @classmethod
    def of(cls, biases: Mapping[int, float]) -> Self:
        """Return what adds a bias, from -100 to 100, to the score of each token named.

        Raises:
            UsageError: if a bias is out of range, or a token id cannot be one.
        """
        for token, bias in biases.items():
            if not -MOST <= real(bias) <= MOST:
                raise UsageError(f"got {bias} for token {token}; allowed are numbers from -100 to 100", "logit_bias")
        return cls(tuple((token, math.exp(bias)) for token, bias in biases.items()))

    def check(self, vocab_size: int) -> None:
        """Raise UsageError if a token is none of the vocabulary."""
        refuse_foreign((token for token, _ in self.factors), vocab_size, "logit_bias")

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """See `Warper.warp`."""
        self.check(rows.shape[-1])
        changed = copied(rows)
        for token, factor in self.factors:
            if kind == "logits":
                changed[..., token] += math.log(factor)
            else:
                exactly = factor if rows.dtype == object else float(factor)
                changed[..., token] = changed[..., token] * exactly
        return changed, kind
