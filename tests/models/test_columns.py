"""A matrix in blocks is still that matrix."""

import numpy as np
import pytest

from draftproof.models.columns import Columns


@pytest.mark.parametrize(("inner", "outer", "block"), [(5, 64, 64), (5, 1, 64), (7, 130, 64), (16, 96, 32)])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_products_are_those_of_the_matrix(inner, outer, block, rows):
    rng = np.random.default_rng(0)
    matrix = rng.integers(-4, 5, (inner, outer)).astype(np.float32)  # small integers: float32 products are exact
    x = rng.integers(-4, 5, (rows, inner)).astype(np.float32)
    columns = Columns(matrix, block)
    assert np.array_equal(columns(x)[:, :outer], x @ matrix)
    assert not columns(x)[:, outer:].any()
    joined = columns.blocks(x).swapaxes(0, 1).reshape(rows, -1)
    assert np.array_equal(joined, columns(x))


def test_blocks_of_one_product_are_the_input_of_the_next():
    rng = np.random.default_rng(1)
    first, second = (rng.integers(-3, 4, size).astype(np.float32) for size in ((6, 128), (128, 10)))
    x = rng.integers(-3, 4, (3, 6)).astype(np.float32)
    assert np.array_equal(Columns(second).of_blocks(Columns(first).blocks(x)), x @ first @ second)
