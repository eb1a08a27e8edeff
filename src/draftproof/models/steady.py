"""Makes the rows of a model the same bits whatever is read together, by reading whole blocks at fixed places.

In: a model whose kernels treat the rows of one call alike and apart, as long as the shape of the call is the same. Out:
the same model, slower. Block b is the positions b * R .. b * R + R - 1, and is only ever read in one call of R rows: a
token is always computed in the same place of the same shape. It must never leave an idle row in the inner cache.
"""

from collections.abc import Sequence
from typing import Self

from draftproof.arrays import array_namespace
from draftproof.errors import UsageError
from draftproof.models.base import Model, Size
from draftproof.models.view import check_tree, tree_paths
from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind

__all__ = ["Steady"]

IDLE = 0
"""The token that fills a block up; every vocabulary has it, and no row before it can see it."""


class Steady:
    """See `Model`. A tree is read branch by branch.

    Each reading begins at the block of the first new token, so that up to R - 1 tokens are read again; a block that is
    complete never is. The last block of a context has the rows that are left, which is a fixed number too.

    Args:
        model: what reads; it has read nothing. If it mixes the rows of a call (experts with a capacity), or computes a
            row differently in different calls of one shape, nothing is promised.
        rows: R, how many rows every call has.
    """

    def __init__(self, model: Model, rows: int = 16) -> None:
        self._inner, self._rows = model, rows
        self._text = list[int]()
        """What was read. The inner model holds whole blocks of it, all of them but for a tree's."""

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
        """See `Model.length`; those of the last block are read again."""
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
        self._back(len(self._text))  # more than that is there only if a reading was interrupted
        text, asked = [*self._text, *tokens[:trunk]], rows or len(tokens)
        found = self._read(text, max(1, asked - len(paths)))
        if paths:
            nodes = self._branches(text, tokens[trunk:], paths)
            found = array_namespace(found).concat([found, nodes], axis=0)
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
        return type(self)(self._inner.fresh(), self._rows)

    def fork(self) -> Self:
        """See `Model.fork`."""
        self._back(len(self._text))
        fork = type(self)(self._inner.fork(), self._rows)
        fork._text = [*self._text]  # noqa: SLF001 (of its own class)
        return fork

    def steady(self) -> Self:
        """See `Model.steady`: it is."""
        return self.fresh()

    def _check(self, tokens: Tokens, longest: int) -> None:
        """Refuse what cannot be read before anything is."""
        if not tokens:
            raise UsageError("extend: got no tokens; at least one is needed")
        if len(self._text) + longest > self.context_limit:
            raise UsageError(f"{len(self._text) + longest} tokens do not fit a context of {self.context_limit}")
        if min(tokens) < 0 or max(tokens) >= self.vocab_size:
            raise UsageError(f"token ids must be 0 to {self.vocab_size - 1}; got {min(tokens)} to {max(tokens)}")

    def _back(self, length: int) -> None:
        """Let the inner model hold the whole blocks of the first `length` tokens, or fewer."""
        blocks = length // self._rows * self._rows
        if self._inner.length > blocks:
            self._inner.rewind(blocks)

    def _read(self, text: Tokens, asked: int) -> Array:
        """Return the rows of the last `asked` tokens of `text`, which begins with what the inner model holds."""
        first, found = len(text) - asked, list[Array]()
        for start in range(self._inner.length, len(text), self._rows):
            block = text[start : start + self._rows]
            shape = min(self._rows, self.context_limit - start)
            wanted = start + len(block) > first
            rows = self._inner.extend([*block, *[IDLE] * (shape - len(block))], shape if wanted else 1)
            if len(block) < self._rows:
                self._inner.rewind(start)
            if wanted:
                found.append(rows[max(0, first - start) : len(block)])
        return found[0] if len(found) == 1 else array_namespace(*found).concat(found, axis=0)

    def _branches(self, text: Tokens, tokens: Tokens, paths: Sequence[Sequence[int]]) -> Array:
        """Return the rows of a tree after `text`, and leave of it in the inner model what was there."""
        root, rows = self._inner.length, dict[int, Array]()
        inside = {path[-2] for path in paths if len(path) > 1}
        for leaf in sorted({*range(len(paths))} - inside):
            path = paths[leaf]
            branch = self._read([*text, *(tokens[node] for node in path)], len(path))
            rows |= {node: branch[i] for i, node in enumerate(path)}
            if self._inner.length > root:
                self._inner.rewind(root)
        return array_namespace(rows[0]).stack([rows[node] for node in range(len(paths))])
