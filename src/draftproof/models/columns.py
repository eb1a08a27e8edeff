"""A matrix kept in blocks of columns, so that products with few rows take BLAS' fast path.

In: float32 rows. Out: float32 rows. OpenBLAS packs both factors when a product has more than one row, unless
rows * inner * columns is at most a million; then it runs as fast as memory delivers the weights. Measured in
benchmarks/README.md: four rows cost what one does, and the bits of a row do not depend on the number of rows.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK", "SMALL_PRODUCT", "Columns"]

Floats = NDArray[np.float32]
BLOCK = 64
"""Columns in a block: narrow enough for many rows, wide enough to keep the kernel busy (measured: 64 beats 128-512)."""
SMALL_PRODUCT = 1_000_000
"""OpenBLAS' own limit on rows * inner * columns for its small-matrix kernels."""


class Columns:
    """A matrix (inner, outer), cut into blocks of `block` columns, the last one filled up with zeros."""

    def __init__(self, matrix: Floats, block: int = BLOCK) -> None:
        inner, self.outer = matrix.shape
        count = -(-self.outer // block)
        padded = np.zeros((inner, count * block), np.float32)
        padded[:, : self.outer] = matrix
        self._blocks = np.ascontiguousarray(padded.reshape(inner, count, block).swapaxes(0, 1))
        self.rows_at_once = max(1, SMALL_PRODUCT // (inner * block))

    def blocks(self, x: Floats) -> Floats:
        """Return x @ matrix as (blocks, n, block) for x (n, inner)."""
        return x @ self._blocks

    def __call__(self, x: Floats) -> Floats:
        """Return x @ matrix as (n, blocks * block) for x (n, inner)."""
        product = self.blocks(x)
        return product.swapaxes(0, 1).reshape(len(x), -1)

    def of_blocks(self, x: Floats) -> Floats:
        """Return the product (n, outer) for x given as (blocks, n, block), the way `blocks` returns it."""
        joined = x.swapaxes(0, 1).reshape(x.shape[1], -1)
        return self(joined)[:, : self.outer]
