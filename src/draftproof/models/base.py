"""What every model promises, and what some can do besides. In: token ids. Out: one row of scores a token.

It must never know who samples from it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind

__all__ = ["BatchModel", "LayeredModel", "Model", "Read", "Size", "StatefulModel"]


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

    def fork(self) -> Self:
        """Return the same model with a copy of what it has read, which goes its own way from here on."""
        ...

    def steady(self) -> Self:
        """Return the same model, empty, whose rows are the same bits whatever is read together; it may be slower."""
        ...


class Read(NamedTuple):
    """What a model is to read: the arguments of its `extend`."""

    model: Model
    tokens: Tokens
    rows: int | None = None
    parents: Sequence[int] | None = None


@runtime_checkable
class BatchModel(Model, Protocol):
    """A model that reads several texts for the price of little more than one; see `batch.py`."""

    @property
    def family(self) -> object:
        """Models whose family is the same object may be read together."""
        ...

    def read_together(self, reads: Sequence[Read]) -> list[Array]:
        """Return what `extend` would return for each of the reads, whose models are different ones of this family.

        Every model has a cache of its own: nothing is padded, and rewinding one never touches another. If any of the
        reads is refused, nothing is read.
        """
        ...


@runtime_checkable
class LayeredModel(Model, Protocol):
    """A model made of layers, the first of which can be used alone."""

    @property
    def layers(self) -> int:
        """How many."""
        ...

    def early_exit(self, layers: int) -> Model:
        """Return the first `layers` of them with the same weights, final norm and head, and an empty cache of its own.

        Raises:
            UsageError: unless 1 <= layers < self.layers.
        """
        ...


@runtime_checkable
class StatefulModel(Protocol):
    """A model that cannot always go back: a recurrent one, or one with a sliding window.

    `snapshots.py` makes a `Model` of it. The properties are those of `Model`. After a pass that was interrupted only
    `restore` need work.
    """

    @property
    def row_kind(self) -> RowKind: ...  # noqa: D102

    @property
    def vocab_size(self) -> int: ...  # noqa: D102

    @property
    def context_limit(self) -> int: ...  # noqa: D102

    @property
    def length(self) -> int: ...  # noqa: D102

    @property
    def size(self) -> Size: ...  # noqa: D102

    def extend(self, tokens: Tokens, rows: int | None = None) -> Array:
        """See `Model.extend`; a chain only."""
        ...

    def try_rewind(self, length: int) -> bool:
        """Forget everything after the first `length` tokens if that is possible now, and return whether it was."""
        ...

    def snapshot(self) -> Any:
        """Return the state after the tokens read so far; it stays as it is, whatever is read later."""
        ...

    def restore(self, snapshot: Any) -> None:
        """Go to a state that a model of the same weights had, with its length; it may be restored again."""
        ...

    def fresh(self) -> Self:
        """See `Model.fresh`."""
        ...

    def steady(self) -> Self:
        """See `Model.steady`."""
        ...
