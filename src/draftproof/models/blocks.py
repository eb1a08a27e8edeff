"""Matrices kept in blocks of 64, so that products with few rows take BLAS' fast path.

In: float32 rows. Out: float32 rows. OpenBLAS packs both factors when a product has more than one row, unless
rows * inner * columns is at most a million; then it runs as fast as memory delivers the weights. Measured in
benchmarks/README.md: four rows cost what one does, and the bits of a row do not depend on the number of rows.
A matrix cut by columns writes what a matrix cut by rows reads, so that a layer moves nothing from place to place.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK", "SMALL_PRODUCT", "Columns", "Floats", "Rows", "house_together"]

Floats = NDArray[np.float32]
BLOCK = 64
"""Columns or rows in a block: narrow enough for many rows, wide enough to keep the kernel busy (64 beats 128-512)."""
SMALL_PRODUCT = 1_000_000
"""OpenBLAS' own limit on rows * inner * columns for its small-matrix kernels."""
_HUGE = 2**23
"""Bytes from which NumPy asks the system for huge pages (4 MiB), with room to spare."""


class Columns:
    """A matrix (inner, outer) cut into blocks of columns, the last one filled up with zeros."""

    def __init__(self, matrix: Floats, block: int = BLOCK) -> None:
        inner, self.outer = matrix.shape
        padded = np.pad(matrix, ((0, 0), (0, -self.outer % block)))
        self.blocks = np.ascontiguousarray(padded.reshape(inner, -1, block).swapaxes(0, 1))
        self.rows_at_once = max(1, SMALL_PRODUCT // (inner * block))

    def __call__(self, x: Floats) -> Floats:
        """Return x @ matrix as (blocks, n, block) for x (n, inner)."""
        return x @ self.blocks

    def joined(self, x: Floats) -> Floats:
        """Return x @ matrix as (n, outer) for x (n, inner)."""
        return self(x).swapaxes(0, 1).reshape(len(x), -1)[:, : self.outer]


class Rows:
    """A matrix (inner, outer) cut into blocks of rows, the last one filled up with zeros."""

    def __init__(self, matrix: Floats, block: int = BLOCK) -> None:
        inner, outer = matrix.shape
        padded = np.pad(matrix, ((0, -inner % block), (0, 0)))
        self.blocks = np.ascontiguousarray(padded.reshape(-1, block, outer))
        self.rows_at_once = max(1, SMALL_PRODUCT // (block * outer))

    def __call__(self, x: Floats) -> Floats:
        """Return the product (n, outer) for x given as (blocks, n, block)."""
        return np.add.reduce(x @ self.blocks, axis=0)


def house_together(matrices: Sequence[Columns | Rows]) -> None:
    """Move the blocks of all matrices into one allocation, in the order they are read.

    Large enough for huge pages: a pass reads all of it, and would otherwise wait for page tables too (measured: 12 %).
    """
    home = np.empty(max(sum(matrix.blocks.size for matrix in matrices), _HUGE // 4), np.float32)
    start = 0
    for matrix in matrices:
        place = home[start : start + matrix.blocks.size].reshape(matrix.blocks.shape)
        place[:] = matrix.blocks
        matrix.blocks = place
        start += matrix.blocks.size
