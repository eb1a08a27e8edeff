"""Targets whose cache does something else than it is told, and counts as if it had obeyed.

In: a model, and what its cache does instead of keeping a path. Out: a model. It works on any model, since it speaks to
the real cache only in the words of `Model`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from draftproof.engine.loop import Engine
from draftproof.models.base import Model, Size
from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind

__all__ = ["Cut", "Forgetful", "Obey", "forgetting", "half_forgetting", "keeping", "obeys"]


@dataclass(frozen=True)
class Cut:
    """What a cache is told to keep after a pass, in places of the real cache."""

    base: int
    """How many tokens stay whatever happens: all before the drafted ones."""
    path: tuple[int, ...]
    """The drafted tokens that stay."""
    read: tuple[int, ...]
    """All drafted tokens."""
    last: int
    """How many drafted tokens stayed the time before."""

    @property
    def rejected(self) -> int:
        """How many drafted tokens must go."""
        return len(self.read) - len(self.path)


Obey = Callable[[Model, Cut], None]


def obeys(inner: Model, cut: Cut) -> None:
    """Do as told."""
    inner.keep(cut.base, cut.path)


@dataclass
class Forgetful:
    """See `Model`; what the cache really holds differs from `length` as soon as `obey` does something of its own."""

    inner: Model
    obey: Obey = obeys
    length: int = 0
    last: int = 0
    read: list[int] = field(default_factory=list)

    @property
    def row_kind(self) -> RowKind:
        """See `Model`."""
        return self.inner.row_kind

    @property
    def vocab_size(self) -> int:
        """See `Model`."""
        return self.inner.vocab_size

    @property
    def context_limit(self) -> int:
        """See `Model`."""
        return self.inner.context_limit

    @property
    def size(self) -> Size:
        """See `Model`."""
        return self.inner.size

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`; what has stayed too long gives way when the room runs out."""
        self.length += len(tokens)
        self.read = list(tokens)
        if (over := self.inner.length + len(tokens) - self.inner.context_limit) > 0:
            self.inner.keep(0, range(over, self.inner.length))
        return self.inner.extend(tokens, rows, parents)

    def rewind(self, length: int) -> None:
        """See `Model.rewind`."""
        self.keep(length, ())

    def keep(self, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`."""
        drafted = self.length - length
        cut = Cut(self.inner.length - drafted, tuple(path), tuple(self.read[len(self.read) - drafted :]), self.last)
        self.obey(self.inner, cut)
        self.length, self.last = length + len(path), len(path)

    def fresh(self) -> Self:
        """See `Model.fresh`."""
        return type(self)(self.inner.fresh(), self.obey)

    def fork(self) -> Self:
        """See `Model.fork`."""
        return replace(self, inner=self.inner.fork(), read=[*self.read])

    def steady(self) -> Self:
        """See `Model.steady`."""
        return type(self)(self.inner.steady(), self.obey)


@dataclass
class HalfForgetful(Forgetful):
    """A model of two halves with a cache each, of which the second does not obey; a row is their mean."""

    side: Forgetful | None = None

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`."""
        side = self._second().extend(tokens, rows, parents)
        return (super().extend(tokens, rows, parents) + side) / 2

    def keep(self, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`."""
        self._second().keep(length, path)
        self.length, self.last = length + len(path), len(path)
        self.inner.keep(length, path)

    def fork(self) -> Self:
        """See `Model.fork`."""
        return replace(super().fork(), side=self.side and self.side.fork())

    def _second(self) -> Forgetful:
        if self.side is None:
            self.side = Forgetful(self.inner.fresh(), self.obey)
        return self.side


def forgetting(obey: Obey) -> Callable[[Engine], Engine]:
    """Return what gives the target of an engine such a cache."""
    return lambda engine: replace(engine, target=Forgetful(engine.target, obey))


def half_forgetting(obey: Obey) -> Callable[[Engine], Engine]:
    """Return what gives the target of an engine a second cache, which alone does not obey."""
    return lambda engine: replace(engine, target=HalfForgetful(engine.target, obey))


def keeping(path_of: Callable[[Cut], Sequence[int]]) -> Callable[[Engine], Engine]:
    """Return what makes the target of an engine keep another path."""
    return forgetting(lambda inner, cut: inner.keep(cut.base, path_of(cut)))
