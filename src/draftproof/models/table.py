"""A model that is a table: next-token laws looked up by context, in Fractions or floats, for exact tests.

In: a function from context to law. Out: rows that are laws. It must never approximate.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Self

import numpy as np

from draftproof.errors import UsageError
from draftproof.models.base import Size
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

    @property
    def size(self) -> Size:
        """See `Model.size`: nobody asks how large a table is."""
        return Size(0)

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`; the rows are laws, objects if the table holds Fractions."""
        trunk = len(tokens) - len(parents or ())
        texts = [(*self.context, *tokens[:i]) for i in range(1, trunk + 1)]
        for token, parent in zip(tokens[trunk:], parents or (), strict=True):
            texts.append((*texts[trunk + parent], token))
        longest = max(map(len, texts))
        if longest > self.context_limit:
            raise UsageError(f"{longest} tokens do not fit a context of {self.context_limit}")
        self.context += tokens
        return np.asarray([self.law_of(text) for text in texts[-(rows or len(texts)) :]])

    def rewind(self, length: int) -> None:
        """See `Model.rewind`."""
        self.keep(length, ())

    def keep(self, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`."""
        end = length + len(path)
        if not 0 <= length <= end <= self.length:
            raise UsageError(f"rewind: got {end}; allowed are 0 to {self.length}, the tokens in the cache")
        self.context[length:] = [self.context[length + offset] for offset in path]

    def steady(self) -> Self:
        """See `Model.steady`: a table is."""
        return self.fresh()

    def fresh(self) -> Self:
        """See `Model.fresh`."""
        return type(self)(self.law_of, self.vocab_size, self.context_limit, row_kind=self.row_kind)

    def fork(self) -> Self:
        """See `Model.fork`."""
        return replace(self, context=[*self.context])


def markov(table: dict[tuple[int, ...], Sequence[Fraction | float]], order: int, skip: int = 0) -> LawOf:
    """Return a law looked up by the last `order` tokens after the first `skip` (a prompt that does not count)."""
    return lambda context: table[context[skip:][-order:] if order else ()]
