"""What every model promises. In: token ids. Out: one row of scores a token. It must never know who samples from it."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, Self

from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind

__all__ = ["Model", "Size"]


class Size(NamedTuple):
    """What a model takes, in bytes: its weights, which every pass reads once, and the cache of each token of a text."""

    weights: int
    per_token: int = 0


class Model(Protocol):
    """A language model together with the cache of the one text it is reading."""

    @property
    def row_kind(self) -> RowKind:
        """Whether rows are logits or laws."""
        ...

    @property
    def vocab_size(self) -> int:
        """V, the length of a row."""
        ...

    @property
    def context_limit(self) -> int:
        """How many tokens the cache can hold."""
        ...

    @property
    def length(self) -> int:
        """How many tokens the cache holds."""
        ...

    @property
    def size(self) -> Size:
        """What the model takes in memory."""
        ...

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """Read `tokens` after the cached ones and return (rows, V): what follows each of the last `rows` of them.

        Args:
            tokens: n >= 1 token ids.
            rows: 1..n; None means n.
            parents: makes a tree of the last len(parents) < n tokens: of each the parent among them, which comes before
                it, or -1 for the token before them all. Every token is read after its ancestors only.

        Raises:
            UsageError: if they do not fit the context or are no tokens of this vocabulary.
        """
        ...

    def rewind(self, length: int) -> None:
        """Forget everything after the first `length` tokens, 0 <= length <= self.length."""
        ...

    def keep(self, length: int, path: Sequence[int]) -> None:
        """Forget everything after the first `length` tokens but those read as number path[0], path[1], .. after them.

        What stays must be a text: each token of the path was read after the one before it.
        """
        ...

    def fresh(self) -> Self:
        """Return the same model with an empty cache of its own; weights are shared."""
        ...

    def steady(self) -> Self:
        """Return the same model, empty, whose rows are the same bits whatever is read together; it may be slower."""
        ...
