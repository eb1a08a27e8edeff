"""What models of one Llama folder share: its matrices, as `tiny.py` multiplies with them.

In: arrays. Out: the same, named. It must never know files (`llama_folder.py`) nor caches (`tiny.py`).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from draftproof.models.base import Size
from draftproof.models.blocks import Columns, Floats, Rows
from draftproof.models.llama_config import Shape
from draftproof.models.view import LANES

__all__ = ["Layer", "Weights"]


@dataclass(frozen=True)
class Layer:
    """Weights of one layer; norm gains and the attention scale are folded in.

    Within a head of queries or keys the halves that rotate together lie side by side, as complex numbers. Gate and up
    are stored negated, which their product does not show.
    """

    qkv: Columns
    out: Rows
    gate_up: Columns
    down: Rows

    @property
    def matrices(self) -> tuple[Columns | Rows, ...]:
        """All four, in the order a pass reads them."""
        return self.qkv, self.out, self.gate_up, self.down


@dataclass(frozen=True)
class Weights:
    """Everything that models of one folder share."""

    shape: Shape
    embedding: Floats
    layers: tuple[Layer, ...]
    head: Columns
    turns: NDArray[np.complex64]
    """(context + 64, head_size / 2): what a query or key at each position is multiplied with."""

    @cached_property
    def rows_at_once(self) -> int:
        """How many rows stay on the small-matrix path in every product of a layer."""
        return min(matrix.rows_at_once for layer in self.layers for matrix in layer.matrices)

    def first(self, layers: int) -> Self:
        """Return the first layers; what comes before and after them is the same."""
        return replace(self, shape=replace(self.shape, layers=layers), layers=self.layers[:layers])

    @property
    def size(self) -> Size:
        """See `Model.size`: the matrices; keys, and values with the lanes that sum the scores."""
        matrices = [self.head, *(matrix for layer in self.layers for matrix in layer.matrices)]
        entries = self.shape.layers * self.shape.kv_heads * (2 * self.shape.head_size + LANES)
        return Size(sum(matrix.blocks.nbytes for matrix in matrices), entries * np.dtype(np.float32).itemsize)
