"""A Llama decoder in plain NumPy, float32: the embedded pair, or any small Hugging Face folder of that architecture.

In: token ids. Out: float32 logits. RMSNorm, rotary positions, grouped-query attention, SwiGLU, a cache with rewind.
A token's logits should not depend on the company it is scored in. So every product has two rows or more, few enough
for BLAS' small-matrix path, and attention reads a multiple of 16 positions: where the kernels of BLAS do not round by
the number of rows (AVX-512), the model does not either, bit for bit (tests/models/test_row_invariance.py).
"""

from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from draftproof.errors import UsageError
from draftproof.models.blocks import SMALL_PRODUCT, Floats
from draftproof.models.llama_weights import Weights
from draftproof.models.view import LANES, MOST_ROWS, View, chain_view, tree_view
from draftproof.types import Tokens
from draftproof.warpers.base import RowKind

__all__ = ["TinyModel"]

FEWEST_ROWS = 2
"""A product of one row takes another path of BLAS (gemv) and rounds differently; it costs no less than two rows."""
STEADY_ROWS = 8
"""Rows of every product where the bits of a score must not depend on the number of tokens read with it."""
FIRST_ROOM = 256
"""Positions the cache has room for at first."""


class TinyModel:
    """See `Model`. Rows are logits. Make one with `draftproof.models.llama_folder.load`."""

    row_kind: RowKind = "logits"

    def __init__(self, weights: Weights, steady_rows: int | None = None) -> None:
        shape = weights.shape
        self._weights, self._steady_rows = weights, steady_rows
        self.vocab_size, self.context_limit, self.length = shape.vocab_size, shape.context_limit, 0
        self.size = weights.size
        self._keys: Floats = np.zeros((shape.layers, shape.kv_heads, shape.head_size, 0), np.float32)
        self._values: Floats = np.zeros((shape.layers, shape.kv_heads, 0, shape.head_size + LANES), np.float32)

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Floats:
        """See `Model.extend`: float32 logits (rows, V)."""
        ids = list(tokens)
        place = self.length, len(ids), self._fewest_rows
        view = chain_view(*place) if parents is None else tree_view(*place, parents)
        self._check(ids, view)
        self._reserve(self.length + len(ids) + self._fewest_rows)
        with np.errstate(over="ignore"):  # in SwiGLU exp(-gate) = inf gives gate / inf = 0, which is the limit
            states = [self._states(chunk, view) for chunk in self._chunks(ids)]
        wanted = states[0] if len(states) == 1 else np.concatenate(states)
        return self._logits(wanted[-(rows or len(ids)) :])

    def rewind(self, length: int) -> None:
        """See `Model.rewind`: rows past `length` are overwritten before they are ever read again."""
        if not 0 <= length <= self.length:
            raise UsageError(f"rewind: got {length}; allowed are 0 to {self.length}, the tokens in the cache")
        self.length = length

    def keep(self, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`: the rows that stay are moved together, bit for bit."""
        end = length + len(path)
        if any(offset != i for i, offset in enumerate(path)):
            slots = [length + offset for offset in path]
            self._keys[..., length:end] = self._keys[..., slots]
            self._values[:, :, length:end] = self._values[:, :, slots]
        self.rewind(end)

    def fresh(self) -> Self:
        """See `Model.fresh`."""
        return type(self)(self._weights, self._steady_rows)

    def steady(self) -> Self:
        """See `Model.steady`: every product has one fixed number of rows, filled up with idle ones."""
        shape = self._weights.shape
        fits = SMALL_PRODUCT // ((shape.head_size + LANES) * _whole_lanes(shape.context_limit + STEADY_ROWS))
        return type(self)(self._weights, max(min(STEADY_ROWS, fits, self._weights.rows_at_once), FEWEST_ROWS))

    @property
    def _fewest_rows(self) -> int:
        return self._steady_rows or FEWEST_ROWS

    def _in_company(self, rows: Floats) -> Floats:
        """Return rows (n, hidden), repeated if they are too few to be multiplied alone."""
        missing = self._fewest_rows - len(rows)
        return np.concatenate([rows, np.repeat(rows[-1:], missing, axis=0)]) if missing > 0 else rows

    def _check(self, ids: list[int], view: View) -> None:
        if not ids:
            raise UsageError("extend: got no tokens; at least one is needed")
        longest = max(view.positions[: len(ids)], default=-1) + 1
        if longest > self.context_limit:
            raise UsageError(f"{longest} tokens do not fit a context of {self.context_limit}")
        if min(ids) < 0 or max(ids) >= self.vocab_size:
            raise UsageError(f"token ids must be 0 to {self.vocab_size - 1}; got {min(ids)} to {max(ids)}")

    def _reserve(self, positions: int) -> None:
        """Make room in the cache, doubling it: what is copied is at most what was ever read."""
        room = self._keys.shape[-1]
        if positions > room:
            more = _whole_lanes(max(positions - room, room, FIRST_ROOM))
            self._keys = np.pad(self._keys, ((0, 0), (0, 0), (0, 0), (0, more)))
            self._values = np.pad(self._values, ((0, 0), (0, 0), (0, more), (0, 0)))
            self._values[..., self._weights.shape.head_size :] = 1  # a product with the scores sums them too, in order

    def _chunks(self, ids: list[int]) -> Iterator[list[int]]:
        """Cut ids into pieces whose every product stays on the small-matrix path."""
        width = self._weights.shape.head_size + LANES
        widest = self._weights.rows_at_once
        while ids and self._steady_rows:
            yield ids[: self._steady_rows]
            ids = ids[self._steady_rows :]
        while ids:
            most = min(widest, SMALL_PRODUCT // (width * _whole_lanes(self.length + widest)))
            size = min(max(most, FEWEST_ROWS), MOST_ROWS)
            yield ids[:size]
            ids = ids[size:]

    def _states(self, ids: list[int], view: View) -> Floats:
        """Run the layers over n ids, filling the cache: final normalised states (n, hidden)."""
        count = len(ids)
        if count < self._fewest_rows:
            ids = ids + ids[-1:] * (self._fewest_rows - count)
        first = self.length - view.base
        turn = self._weights.turns[list(view.positions[first : first + len(ids)])]
        state = self._weights.embedding[ids]
        for i, layer in enumerate(self._weights.layers):
            state += layer.out(self._attention(i, layer.qkv(self._norm(state)), turn, view))
            state += layer.down(_swiglu(layer.gate_up(self._norm(state))))
        self.length += count
        return self._norm(state)[:count]

    def _attention(self, i: int, heads: Floats, turn: NDArray[np.complex64], view: View) -> Floats:
        """Attend from n new positions to all before them and themselves.

        Args:
            i: the layer.
            heads: (heads + 2 kv_heads, n, head_size) queries, keys, values.
            turn: (n, head_size / 2) rotation of each position.
            view: what each may look back at.

        Returns:
            (heads, n, head_size) mixed values.
        """
        shape, rows = self._weights.shape, heads.shape[1]
        turned = heads[: -shape.kv_heads].view(np.complex64)
        turned *= turn
        now = slice(self.length, self.length + rows)
        self._keys[i, :, :, now] = heads[shape.heads : -shape.kv_heads].swapaxes(1, 2)
        self._values[i, :, now, : shape.head_size] = heads[-shape.kv_heads :]
        end = _whole_lanes(now.stop)
        query = heads[: shape.heads].reshape(shape.kv_heads, -1, rows, shape.head_size)
        scores = query @ self._keys[i, :, None, :, :end]  # (kv_heads, heads / kv_heads, n, end)
        first, hidden = view.of_rows(self.length, rows, end)
        scores[..., first:] += hidden
        scores -= np.maximum.reduce(scores, axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        mixed = scores @ self._values[i, :, None, :end]
        totals = mixed[..., shape.head_size :][..., :1]
        return np.divide(mixed[..., : shape.head_size], totals).reshape(shape.heads, rows, shape.head_size)

    def _norm(self, x: Floats) -> Floats:
        """Scale rows (n, hidden) to unit length; the square root of hidden and the gain are in the matrix that follows.

        Dividing by sqrt(mean square + epsilon) and by sqrt(sum of squares + hidden * epsilon) differ by that root.
        """
        squares: Floats = np.vecdot(x, x)[:, None]
        squares += x.shape[1] * self._weights.shape.norm_epsilon
        lengths: Floats = np.sqrt(squares)
        return x / lengths

    def _logits(self, states: Floats) -> Floats:
        """Return (n, V) logits of final states (n, hidden)."""
        head = self._weights.head
        most = self._steady_rows or head.rows_at_once
        pieces = [states[first : first + most] for first in range(0, len(states), most)]
        whole = [head.joined(self._in_company(piece))[: len(piece)] for piece in pieces]
        return whole[0] if len(whole) == 1 else np.concatenate(whole)


def _swiglu(gate_up: Floats) -> Floats:
    """Return silu(gate) * up for (2 blocks, n, block) of -gate and -up: g * u / (1 + exp(-g))."""
    half = len(gate_up) // 2
    gate, up = gate_up[:half], gate_up[half:]
    up *= gate
    np.exp(gate, out=gate)
    gate += 1
    up /= gate
    return up


def _whole_lanes(positions: int) -> int:
    return -(-positions // LANES) * LANES
