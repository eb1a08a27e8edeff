"""A Llama decoder in plain NumPy, float32: the embedded pair, or any small Hugging Face folder of that architecture.

In: token ids. Out: float32 logits. RMSNorm, rotary positions, grouped-query attention, SwiGLU, a cache with rewind.
A token's logits should not depend on the company it is scored in: tokens of its own text or of others. So every product
has two rows or more, few enough for BLAS' small-matrix path, and attention reads a multiple of 16 positions: where the
kernels of BLAS do not round by the number of rows (AVX-512), the model does not either, bit for bit
(tests/models/test_row_invariance.py). A `steady` model gives every product the same number of rows instead.
"""

from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np

from draftproof.errors import UsageError
from draftproof.models.attention import Cache
from draftproof.models.base import Read
from draftproof.models.blocks import Floats
from draftproof.models.together import run_all
from draftproof.models.transformer import Part, Transformer
from draftproof.models.view import View, chain_view, tree_view
from draftproof.types import Tokens
from draftproof.warpers.base import RowKind

__all__ = ["TinyModel"]


class TinyModel:
    """See `BatchModel` and `LayeredModel`. Rows are logits. Make one with `draftproof.models.llama_folder.load`."""

    row_kind: RowKind = "logits"

    def __init__(self, transformer: Transformer, cache: Cache | None = None) -> None:
        weights = transformer.weights
        self.family = transformer
        self.vocab_size, self.context_limit = weights.shape.vocab_size, weights.shape.context_limit
        self.layers, self.size = weights.shape.layers, weights.size
        self._cache = cache or Cache(weights.shape)

    @property
    def length(self) -> int:
        """See `Model.length`."""
        return self._cache.length

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Floats:
        """See `Model.extend`: float32 logits (rows, V)."""
        return _joined([self.family([part])[0] for part in self._parts(tokens, rows, parents)])

    def read_together(self, reads: Sequence[Read]) -> list[Floats]:
        """See `BatchModel.read_together`."""
        texts: list[Iterator[Part]] = []
        for model, tokens, rows, parents in reads:
            if not isinstance(model, TinyModel) or model.family is not self.family:
                raise UsageError("read_together: got models of different families; read_all sorts them")
            texts.append(model._parts(tokens, rows, parents))  # noqa: SLF001 (of its own class)
        return [_joined(pieces) for pieces in run_all(self.family, texts, self.family.most)]

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
        return type(self)(self.family)

    def fork(self) -> Self:
        """See `Model.fork`."""
        return type(self)(self.family, self._cache.fork())

    def steady(self) -> Self:
        """See `Model.steady`: every product has one fixed number of rows, filled up with idle ones."""
        return type(self)(self.family.steady())

    def early_exit(self, layers: int) -> Self:
        """See `LayeredModel.early_exit`."""
        if not 1 <= layers < self.layers:
            raise UsageError(f"got {layers}; allowed are 1 to {self.layers - 1}, fewer layers than the model has")
        return type(self)(self.family.first(layers))

    def _parts(self, tokens: Tokens, rows: int | None, parents: Sequence[int] | None) -> Iterator[Part]:
        """Return what is to be read, in pieces; what is no text of this model is refused at once."""
        ids, cache = list(tokens), self._cache
        place = cache.length, len(ids), self.family.fewest
        view = chain_view(*place) if parents is None else tree_view(*place, parents)
        self._check(ids, view)
        cache.reserve(cache.length + len(ids) + self.family.fewest)
        return self._cut(ids, view, len(ids) - (rows or len(ids)))

    def _cut(self, ids: list[int], view: View, unasked: int) -> Iterator[Part]:
        start = 0
        for size in self.family.sizes(view.base, len(ids)):
            end = start + size
            yield Part(self._cache, ids[start:end], view, min(size, max(0, end - unasked)))
            start = end

    def _check(self, ids: list[int], view: View) -> None:
        if not ids:
            raise UsageError("extend: got no tokens; at least one is needed")
        longest = max(view.positions[: len(ids)], default=-1) + 1
        if longest > self.context_limit:
            raise UsageError(f"{longest} tokens do not fit a context of {self.context_limit}")
        if min(ids) < 0 or max(ids) >= self.vocab_size:
            raise UsageError(f"token ids must be 0 to {self.vocab_size - 1}; got {min(ids)} to {max(ids)}")


def _joined(pieces: list[Floats]) -> Floats:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
