"""What a text has left behind in every layer, keys and values, and how new tokens attend to it.

In: queries, keys and values of new tokens. Out: mixed values. It must never know weights, nor what other texts read.
"""

from collections.abc import Sequence
from copy import copy
from typing import Self

import numpy as np

from draftproof.models.blocks import Floats
from draftproof.models.llama_config import Shape
from draftproof.models.view import LANES, View

__all__ = ["Cache", "whole_lanes"]

FIRST_ROOM = 256
"""Positions a cache has room for at first."""


class Cache:
    """Keys and values of one text. Slots past `length` are overwritten before they are ever looked at again."""

    def __init__(self, shape: Shape) -> None:
        self._shape, self.length = shape, 0
        self._keys: Floats = np.zeros((shape.layers, shape.kv_heads, shape.head_size, 0), np.float32)
        self._values: Floats = np.zeros((shape.layers, shape.kv_heads, 0, shape.head_size + LANES), np.float32)

    def reserve(self, positions: int) -> None:
        """Make room, doubling it: what is copied is at most what was ever read."""
        room = self._keys.shape[-1]
        if positions > room:
            more = whole_lanes(max(positions - room, room, FIRST_ROOM))
            keys = np.pad(self._keys, ((0, 0), (0, 0), (0, 0), (0, more)))
            values = np.pad(self._values, ((0, 0), (0, 0), (0, more), (0, 0)))
            values[..., self._shape.head_size :] = 1  # a product with the scores sums them too, in order
            self._keys, self._values = keys, values

    def keep(self, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`: what stays is moved together, bit for bit."""
        end = length + len(path)
        if any(offset != i for i, offset in enumerate(path)):
            slots = [length + offset for offset in path]
            self._keys[..., length:end] = self._keys[..., slots]
            self._values[:, :, length:end] = self._values[:, :, slots]
        self.length = end

    def fork(self) -> Self:
        """Return a cache of its own that holds the same."""
        its_own = copy(self)
        its_own._keys, its_own._values = self._keys.copy(), self._values.copy()  # noqa: SLF001 (of its own class)
        return its_own

    def attend(self, layer: int, heads: Floats, view: View, fewest: int, mixed: Floats) -> None:
        """Store n new positions of a layer, and let them look at all before them and themselves.

        Args:
            layer: which.
            heads: (heads + 2 kv_heads, n, head_size) queries and keys, turned, and values.
            view: what each may look back at.
            fewest: rows that products have at least; the last row is repeated where there are fewer.
            mixed: (kv_heads, heads / kv_heads, n, head_size) receives the values, weighted.
        """
        shape, rows = self._shape, heads.shape[1]
        now = slice(self.length, self.length + rows)
        self._keys[layer, :, :, now] = heads[shape.heads : -shape.kv_heads].swapaxes(1, 2)
        self._values[layer, :, now, : shape.head_size] = heads[-shape.kv_heads :]
        query = heads[: shape.heads].reshape(shape.kv_heads, -1, rows, shape.head_size)
        if rows < fewest:
            query = np.concatenate([query, np.repeat(query[:, :, -1:], fewest - rows, axis=2)], axis=2)
        all_rows = query.shape[2]
        end = whole_lanes(self.length + all_rows)
        scores = query @ self._keys[layer, :, None, :, :end]  # (kv_heads, heads / kv_heads, n, end)
        first, hidden = view.of_rows(self.length, all_rows, end)
        scores[..., first:] += hidden
        scores -= np.maximum.reduce(scores, axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        weighted = scores @ self._values[layer, :, None, :end]
        if all_rows > rows:
            weighted = weighted[:, :, :rows]
        totals = weighted[..., shape.head_size :][..., :1]
        np.divide(weighted[..., : shape.head_size], totals, out=mixed)


def whole_lanes(positions: int) -> int:
    """Return `positions`, rounded up to whole groups of `LANES`."""
    return -(-positions // LANES) * LANES
