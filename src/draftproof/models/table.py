"""A model that is a table: next-token laws looked up by context, in Fractions or floats, for exact tests.

In: a function from context to law. Out: rows that are laws. It must never approximate.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self

import numpy as np

from draftproof.errors import UsageError
from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind

__all__ = ["TableModel", "markov"]

LawOf = Callable[[tuple[int, ...]], Sequence[Fraction | float]]


@dataclass
class TableModel:
    """A model whose law after a context is `law_of(context)`, any sequence of V numbers.

    Args:
        law_of: maps the whole context, a tuple of token ids, to V probabilities (Fractions or floats).
        vocab_size: V.
        context_limit: how many tokens fit.
    """

    law_of: LawOf
    vocab_size: int
    context_limit: int = 64
    context: list[int] = field(default_factory=list)
    row_kind: RowKind = "laws"

    @property
    def length(self) -> int:
        """How many tokens the model has read."""
        return len(self.context)

    def extend(self, tokens: Tokens, rows: int | None = None) -> Array:
        """See `Model.extend`; the rows are laws, objects if the table holds Fractions."""
        if self.length + len(tokens) > self.context_limit:
            raise UsageError(f"{self.length + len(tokens)} tokens do not fit a context of {self.context_limit}")
        laws: list[Sequence[Fraction | float]] = []
        for token in tokens:
            self.context.append(token)
            laws.append(self.law_of(tuple(self.context)))
        return np.asarray(laws[-(rows or len(laws)) :])

    def rewind(self, length: int) -> None:
        """See `Model.rewind`."""
        del self.context[length:]

    def fresh(self) -> Self:
        """See `Model.fresh`."""
        return type(self)(self.law_of, self.vocab_size, self.context_limit)


def markov(table: dict[tuple[int, ...], Sequence[Fraction | float]], order: int, skip: int = 0) -> LawOf:
    """Return a law looked up by the last `order` tokens after the first `skip` (a prompt that does not count)."""
    return lambda context: table[context[skip:][-order:] if order else ()]
