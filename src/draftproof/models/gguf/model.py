"""A model of llama.cpp whose cache can go back to any token. In: token ids. Out: float32 logits.

Several texts are read in one batch. The order in which llama.cpp sums depends on how many rows are read together and
on where a text lies in its cache, so rows agree to rounding only. It must never hand out memory of llama.cpp.
"""

from collections.abc import Sequence
from typing import Self, cast

from draftproof.errors import UsageError
from draftproof.models.base import Read, Size
from draftproof.models.gguf.context import Floats
from draftproof.models.gguf.family import Family, Part, Seat
from draftproof.models.gguf.place import branches
from draftproof.models.steady import Steady
from draftproof.models.view import check_tree
from draftproof.types import Tokens
from draftproof.warpers.base import RowKind

__all__ = ["GgufModel"]

STEADY_ROWS = 8
"""Rows of every call of a steady model: as many as a pass that checks seven drafts."""


class GgufModel:
    """See `BatchModel`. Rows are logits.

    Args:
        family: weights and contexts.
        seat: of the text that was read; None for an empty one.
    """

    row_kind: RowKind = "logits"

    def __init__(self, family: Family, seat: Seat | None = None) -> None:
        self.family = family
        self.vocab_size, self.context_limit = family.weights.vocab_size, family.limit
        self.size = Size(family.weights.bytes, family.per_token)
        self._seat = seat or Seat()

    @property
    def length(self) -> int:
        """See `Model.length`."""
        return self._seat.length

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Floats:
        """See `Model.extend`: float32 logits (rows, V)."""
        return self.family.read([self._part(tokens, rows, parents)])[0]

    def read_together(self, reads: Sequence[Read]) -> list[Floats]:
        """See `BatchModel.read_together`."""
        parts: list[Part] = []
        for model, tokens, rows, parents in reads:
            if not isinstance(model, GgufModel) or model.family is not self.family:
                raise UsageError("read_together: got models of different families; read_all sorts them")
            parts.append(model._part(tokens, rows, parents))  # noqa: SLF001 (of its own class)
        return self.family.read(parts)

    def rewind(self, length: int) -> None:
        """See `Model.rewind`."""
        self.keep(length, ())

    def keep(self, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`."""
        end = length + len(path)
        if not 0 <= length <= end <= self.length:
            raise UsageError(f"rewind: got {end}; allowed are 0 to {self.length}, the tokens in the cache")
        self.family.keep(self._seat, length, path)

    def fresh(self) -> Self:
        """See `Model.fresh`."""
        return type(self)(self.family)

    def fork(self) -> Self:
        """See `Model.fork`."""
        return type(self)(self.family, self.family.fork(self._seat))

    def steady(self) -> Self:
        """See `Model.steady`: whole blocks, and a context for every text."""
        return cast("Self", Steady(type(self)(self.family.apart()), STEADY_ROWS))  # the protocol knows no other type

    def _part(self, tokens: Tokens, rows: int | None, parents: Sequence[int] | None) -> Part:
        """Return what is to be read; what is no text of this model is refused."""
        nodes = parents or ()
        check_tree(len(tokens) - len(nodes), nodes)
        paths = branches(nodes)
        self._check(tokens, len(tokens) - len(nodes) + max(map(len, paths), default=0))
        return Part(self._seat, tokens, rows or len(tokens), nodes, paths)

    def _check(self, tokens: Tokens, longest: int) -> None:
        if not tokens:
            raise UsageError("extend: got no tokens; at least one is needed")
        if self._seat.place is not None:
            self._seat.place.refuse_a_tree()
        if self.length + longest > self.context_limit:
            raise UsageError(f"{self.length + longest} tokens do not fit a context of {self.context_limit}")
        if min(tokens) < 0 or max(tokens) >= self.vocab_size:
            raise UsageError(f"token ids must be 0 to {self.vocab_size - 1}; got {min(tokens)} to {max(tokens)}")
