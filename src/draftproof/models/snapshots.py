"""Gives a model that cannot go back the whole contract of a model, by going back further and reading again.

In: a `StatefulModel`: recurrent layers, sliding windows. Out: a `Model`. What is read again is read together with the
next tokens, in one pass. It must never trust a state that a pass was interrupted in, nor a model that did not go back.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Self

from draftproof.arrays import array_namespace
from draftproof.errors import ContractError, UsageError
from draftproof.models.base import Size, StatefulModel
from draftproof.models.view import check_tree, tree_paths
from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind

__all__ = ["Snapshots"]

MOST_AGAIN = 8
"""Tokens that are read again in every pass before it is worth a pass of its own to read them for good."""


class _Taken(NamedTuple):
    """A snapshot, and how many tokens had been read when it was taken."""

    length: int
    state: object


class Snapshots:
    """See `Model`. A tree is read branch by branch.

    Snapshots lie the further apart the older they are: there are as many as the length has binary digits, or twice so,
    and going back d tokens means to read about d again at most.

    Args:
        inner: a model that has read nothing.
    """

    def __init__(self, inner: StatefulModel) -> None:
        self._inner, self._text = inner, list[int]()
        self._taken = [_Taken(0, inner.snapshot())]
        self._must_hold(0)
        self._whole = True
        """Whether the inner model has read the beginning of the text and nothing else."""

    @property
    def row_kind(self) -> RowKind:
        """See `Model.row_kind`."""
        return self._inner.row_kind

    @property
    def vocab_size(self) -> int:
        """See `Model.vocab_size`."""
        return self._inner.vocab_size

    @property
    def context_limit(self) -> int:
        """See `Model.context_limit`."""
        return self._inner.context_limit

    @property
    def length(self) -> int:
        """See `Model.length`; the last of them may have to be read again."""
        return len(self._text)

    @property
    def size(self) -> Size:
        """See `Model.size`."""
        return self._inner.size

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`."""
        trunk = len(tokens) - len(parents or ())
        check_tree(trunk, parents or ())
        paths = tree_paths(parents or ())
        self._check(tokens, trunk + max(map(len, paths), default=0))
        self._back(self._inner.length)
        if len(self._text) - self._inner.length >= MOST_AGAIN:
            self._read(self._text[self._inner.length :], 1)
        self._take()
        again = self._text[self._inner.length :]
        asked = rows or len(tokens)
        found = self._read([*again, *tokens[:trunk]], max(1, asked - len(paths)))
        if paths:
            found = array_namespace(found).concat([found, self._branches(tokens[trunk:], paths)], axis=0)
        self._text += tokens
        return found[-asked:]

    def rewind(self, length: int) -> None:
        """See `Model.rewind`."""
        self.keep(length, ())

    def keep(self, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`."""
        end = length + len(path)
        if not 0 <= length <= end <= len(self._text):
            raise UsageError(f"rewind: got {end}; allowed are 0 to {len(self._text)}, the tokens in the cache")
        straight = next((i for i, offset in enumerate(path) if offset != i), len(path))
        self._back(length + straight)
        self._text[length:] = [self._text[length + offset] for offset in path]

    def fresh(self) -> Self:
        """See `Model.fresh`."""
        return type(self)(self._inner.fresh())

    def fork(self) -> Self:
        """See `Model.fork`: a snapshot is nobody's own, so all are shared."""
        self._back(self._inner.length)
        fork = self.fresh()
        fork._inner.restore(self._inner.snapshot())  # noqa: SLF001 (of its own class)
        fork._text, fork._taken = [*self._text], [*self._taken]  # noqa: SLF001
        return fork

    def steady(self) -> Self:
        """See `Model.steady`."""
        return type(self)(self._inner.steady())

    def _check(self, tokens: Tokens, longest: int) -> None:
        """Refuse what cannot be read before anything is."""
        if not tokens:
            raise UsageError("extend: got no tokens; at least one is needed")
        if len(self._text) + longest > self.context_limit:
            raise UsageError(f"{len(self._text) + longest} tokens do not fit a context of {self.context_limit}")
        if min(tokens) < 0 or max(tokens) >= self.vocab_size:
            raise UsageError(f"token ids must be 0 to {self.vocab_size - 1}; got {min(tokens)} to {max(tokens)}")

    def _branches(self, tokens: Tokens, paths: Sequence[Sequence[int]]) -> Array:
        """Return the rows of a tree after what the inner model has read, and leave the model as it is."""
        root = _Taken(self._inner.length, self._inner.snapshot())
        inside = {path[-2] for path in paths if len(path) > 1}
        rows: dict[int, Array] = {}
        for leaf in sorted({*range(len(paths))} - inside):
            path = paths[leaf]
            rows |= zip(path, self._read([tokens[node] for node in path], len(path)), strict=True)
            self._restore(root)
        return array_namespace(rows[0]).stack([rows[node] for node in range(len(paths))])

    def _read(self, tokens: Tokens, rows: int) -> Array:
        self._whole, expected = False, self._inner.length + len(tokens)
        found = self._inner.extend(tokens, rows)
        self._must_hold(expected)
        self._whole = True
        return found

    def _back(self, length: int) -> None:
        """Let the inner model hold the first `length` tokens of the text, or fewer, and nothing else."""
        while self._taken[-1].length > length:
            self._taken.pop()
        if self._whole and self._inner.length <= length:
            return
        if self._whole and self._inner.try_rewind(length):
            self._must_hold(length)
        else:
            self._restore(self._taken[-1])

    def _restore(self, taken: _Taken) -> None:
        self._whole = False
        self._inner.restore(taken.state)
        self._must_hold(taken.length)
        self._whole = True

    def _must_hold(self, length: int) -> None:
        if self._inner.length != length:
            raise ContractError(f"a model holds {self._inner.length} tokens where it should hold {length}")

    def _take(self) -> None:
        """Take a snapshot here, and drop one of each two neighbours that have become close for their age."""
        now = self._inner.length
        if self._taken[-1].length == now:
            return
        kept = self._taken[:1]
        for one, younger in pairwise(self._taken[1:]):
            if younger.length - kept[-1].length > (now - younger.length) // 2:
                kept.append(one)
        kept += self._taken[1:][-1:]
        self._taken = [*kept, _Taken(now, self._inner.snapshot())]
