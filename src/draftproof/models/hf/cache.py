"""The keys and values of one text, layer by layer, with room to grow. In: new ones. Out: all of them.

Going back is a number: what lies behind `length` is written over by the next pass. So a pass that was broken off, and
idle rows, leave nothing behind. It must never know what attends to it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["TextCache"]

ROOM = 256
"""Buffers are cut to multiples of so many tokens, and grow by half of what they hold, so that few copies are made."""


class _Layer(NamedTuple):
    """Buffers (1, heads, room, size)."""

    keys: Tensor
    values: Tensor


class TextCache:
    """What a text has left in each layer; `length` tokens of it count."""

    def __init__(self) -> None:
        self.length = 0
        self._layers = dict[int, _Layer]()

    @property
    def layers(self) -> int:
        """How many have read something."""
        return len(self._layers)

    @property
    def bytes_per_token(self) -> int:
        """How much memory a token takes, in the layers that have read one."""
        return sum(buffer[:, :, :1].nbytes for layer in self._layers.values() for buffer in layer)

    def append(self, layer: int, keys: Tensor, values: Tensor) -> _Layer:
        """Write new ones (1, heads, n, size) behind the first `length`, and return all (1, heads, length + n, size)."""
        end = self.length + keys.shape[2]
        found = self._layers.get(layer)
        if found is None or found.keys.shape[2] < end:
            found = self._grow(layer, found, keys, values, end)
        found.keys[:, :, self.length : end] = keys
        found.values[:, :, self.length : end] = values
        return _Layer(found.keys[:, :, :end], found.values[:, :, :end])

    @torch.inference_mode()
    def keep(self, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`."""
        self.length = length
        straight = next((i for i, offset in enumerate(path) if offset != i), len(path))
        first, end = length + straight, length + len(path)
        if first < end:
            slots = torch.tensor([length + offset for offset in path[straight:]])
            for layer in self._layers.values():
                for buffer in layer:
                    buffer[:, :, first:end] = buffer[:, :, slots.to(buffer.device)]
        self.length = end

    @torch.inference_mode()
    def fork(self) -> "TextCache":
        """Return a copy."""
        fork = TextCache()
        fork.length = self.length
        for layer, (keys, values) in self._layers.items():
            fork._layers[layer] = _Layer(keys[:, :, : self.length].clone(), values[:, :, : self.length].clone())
        return fork

    def _grow(self, layer: int, old: _Layer | None, keys: Tensor, values: Tensor, end: int) -> _Layer:
        room = -(-max(end, self.length * 3 // 2) // ROOM) * ROOM
        grown = _Layer(*(new.new_empty(*new.shape[:2], room, new.shape[3]) for new in (keys, values)))
        if old is not None:
            for buffer, full in zip(grown, old, strict=True):
                buffer[:, :, : self.length] = full[:, :, : self.length]
        self._layers[layer] = grown
        return grown
