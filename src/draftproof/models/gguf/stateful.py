"""A model of llama.cpp that cannot go back freely: recurrent layers, or layers that see only the last tokens.

In: token ids. Out: float32 logits. Each text has a context of its own. A recurrent state is saved and restored; where
the window slides, llama.cpp may give away cells that a text would need after going back, but not while it is alone and
a chain: so what was read is enough to know. It must never trust a state that a pass was interrupted in.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from draftproof.models.base import Size
from draftproof.models.gguf.context import Floats
from draftproof.models.gguf.family import Family, Part, Seat
from draftproof.types import Tokens
from draftproof.warpers.base import RowKind

__all__ = ["GgufState"]


class _Saved(NamedTuple):
    """What was read, and the state after it where it takes one to go back."""

    tokens: Sequence[int]
    state: NDArray[np.uint8] | None


class GgufState:
    """See `StatefulModel`. Rows are logits.

    Args:
        family: weights, and a context for every text.
        one_by_one: whether every token is read in a pass of its own, so that its bits do not depend on its company.
    """

    row_kind: RowKind = "logits"

    def __init__(self, family: Family, one_by_one: bool = False) -> None:
        self._family, self._one_by_one = family.apart(), one_by_one
        self.vocab_size, self.context_limit = family.weights.vocab_size, family.limit
        self.size = Size(family.weights.bytes, family.per_token)
        self._recurrent = family.weights.recurrent
        self._seat, self._tokens = Seat(), list[int]()

    @property
    def length(self) -> int:
        """See `Model.length`."""
        return self._seat.length

    def extend(self, tokens: Tokens, rows: int | None = None) -> Floats:
        """See `StatefulModel.extend`: float32 logits (rows, V)."""
        asked = rows or len(tokens)
        found = [
            self._family.read([Part(self._seat, tokens[start:end], wanted, (), [])])[0]
            for start, end, wanted in self._passes(len(tokens), asked)
        ]
        self._tokens += tokens
        return found[0] if len(found) == 1 else np.concatenate(found)

    def try_rewind(self, length: int) -> bool:
        """See `StatefulModel.try_rewind`."""
        if self._recurrent and length:
            return length == self.length
        self._family.keep(self._seat, length, ())
        del self._tokens[length:]
        return True

    def snapshot(self) -> _Saved:
        """See `StatefulModel.snapshot`."""
        state = self._family.saved(self._seat) if self._recurrent and self.length else None
        return _Saved(tuple(self._tokens), state)

    def restore(self, snapshot: _Saved) -> None:
        """See `StatefulModel.restore`."""
        tokens, state = snapshot
        if state is not None or not tokens:
            self._family.restore(self._seat, len(tokens), state)
            self._tokens = [*tokens]
            return
        known = self._tokens[: self.length]
        differ = (i for i, (wanted, there) in enumerate(zip(tokens, known, strict=False)) if wanted != there)
        self.try_rewind(next(differ, min(len(tokens), len(known))))
        if tokens[self.length :]:
            self.extend(tokens[self.length :], 1)

    def fresh(self) -> Self:
        """See `Model.fresh`."""
        return type(self)(self._family, self._one_by_one)

    def steady(self) -> Self:
        """See `Model.steady`: token by token."""
        return type(self)(self._family, one_by_one=True)

    def _passes(self, count: int, asked: int) -> list[tuple[int, int, int]]:
        """Return where each pass begins and ends, and how many rows it must yield."""
        if not self._one_by_one:
            return [(0, count, asked)]
        return [(i, i + 1, int(i >= count - asked)) for i in range(count)]
