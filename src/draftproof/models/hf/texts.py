"""A module of transformers whose layers all attend to what was read: a `BatchModel` that goes back for nothing.

In: a `Forward` and token ids. Out: float32 logits. A text is read in pieces; a tree is one piece, with a mask of its
own; pieces of several texts are one forward. It must never count a token as read before a forward has ended.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Self, cast

import torch
from torch import Tensor

from draftproof.errors import UsageError
from draftproof.models.base import Read
from draftproof.models.hf.attention import Part
from draftproof.models.hf.cache import TextCache
from draftproof.models.hf.facts import Facts
from draftproof.models.hf.forward import Forward
from draftproof.models.steady import Steady
from draftproof.models.view import check_tree, tree_view
from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind

__all__ = ["HfModel"]

MOST_ROWS = 512
"""Rows of a pass: a prompt is read in pieces, so that its scores and activations stay small."""
FEWEST_ROWS = 64
"""Of one text, however many are read together."""


class HfModel:
    """See `BatchModel`. Rows are logits. Make one with `model_of`."""

    row_kind: RowKind = "logits"

    def __init__(self, forward: Forward, facts: Facts, cache: TextCache | None = None) -> None:
        self.family, self._facts = forward, facts
        self.vocab_size, self.context_limit, self.size = facts.vocab_size, facts.context_limit, facts.size
        self._cache = cache or TextCache()

    @property
    def length(self) -> int:
        """See `Model.length`."""
        return self._cache.length

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`: float32 logits (rows, V)."""
        return self._facts.rows([self.family([part])[0] for part in self._parts(tokens, rows, parents)])

    def read_together(self, reads: Sequence[Read]) -> list[Array]:
        """See `BatchModel.read_together`."""
        share = max(FEWEST_ROWS, MOST_ROWS // len(reads))
        texts: list[list[Part]] = []
        for model, tokens, rows, parents in reads:
            if not isinstance(model, HfModel) or model.family is not self.family:
                raise UsageError("read_together: got models of different families; read_all sorts them")
            texts.append(list(model._parts(tokens, rows, parents, share)))  # noqa: SLF001 (of its own class)
        found: list[list[Tensor]] = [[] for _ in reads]
        for turn in zip_longest(*texts):
            whose = [text for text, part in enumerate(turn) if part is not None]
            for text, rows_found in zip(whose, self.family([turn[text] for text in whose]), strict=True):
                found[text].append(rows_found)
        return [self._facts.rows(pieces) for pieces in found]

    def rewind(self, length: int) -> None:
        """See `Model.rewind`."""
        self.keep(length, ())

    def keep(self, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`."""
        end = length + len(path)
        if not 0 <= length <= end <= self.length:
            raise UsageError(f"rewind: got {end}; allowed are 0 to {self.length}, the tokens in the cache")
        self._cache.keep(length, path)

    def fresh(self) -> Self:
        """See `Model.fresh`."""
        return type(self)(self.family, self._facts)

    def fork(self) -> Self:
        """See `Model.fork`."""
        return type(self)(self.family, self._facts, self._cache.fork())

    def steady(self) -> Self:
        """See `Model.steady`."""
        return cast("Self", Steady(self.fresh()))  # a `Model` like any other

    def _parts(
        self, tokens: Tokens, rows: int | None, parents: Sequence[int] | None, most: int = MOST_ROWS
    ) -> Iterator[Part]:
        """Return what is to be read, in pieces; what is no text of this model is refused at once."""
        self._check(tokens, parents or ())
        start, count, unasked = self.length, len(tokens), len(tokens) - (rows or len(tokens))
        trunk = count - len(parents or ())
        chain = count if not parents else 0 if count <= most else trunk - 1
        for first in range(0, chain, most):
            end = min(first + most, chain)
            places = range(start + first, start + end)
            yield Part(self._cache, tokens[first:end], places, None, min(end - first, max(0, end - unasked)))
        if parents:
            view = tree_view(start + chain, count - chain, 0, parents)
            hidden = torch.from_numpy(view.hidden)[: count - chain, : count - chain]
            yield Part(self._cache, tokens[chain:], view.positions, hidden, min(count - chain, count - unasked))

    def _check(self, tokens: Tokens, parents: Sequence[int]) -> None:
        trunk = len(tokens) - len(parents)
        if not tokens:
            raise UsageError("extend: got no tokens; at least one is needed")
        check_tree(trunk, parents)
        depths = [0]
        for parent in parents:
            depths.append(depths[parent + 1] + 1)
        longest = self.length + trunk + max(depths)
        if longest > self.context_limit:
            raise UsageError(f"{longest} tokens do not fit a context of {self.context_limit}")
        if min(tokens) < 0 or max(tokens) >= self.vocab_size:
            raise UsageError(f"token ids must be 0 to {self.vocab_size - 1}; got {min(tokens)} to {max(tokens)}")
