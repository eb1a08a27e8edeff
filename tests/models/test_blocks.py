"""A matrix in blocks is still that matrix."""

import numpy as np
import pytest

from draftproof.models.blocks import Columns, Rows, house_together

SIZES = [(5, 64, 64), (5, 1, 64), (130, 130, 64), (16, 96, 32)]


def whole_numbers(seed, *size):
    """Small whole numbers: their float32 products are exact, in any order of summation."""
    return np.random.default_rng(seed).integers(-4, 5, size).astype(np.float32)


@pytest.mark.parametrize(("inner", "outer", "block"), SIZES)
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_products_are_those_of_the_matrix(inner, outer, block, rows):
    matrix, x = whole_numbers(0, inner, outer), whole_numbers(1, rows, inner)
    columns = Columns(matrix, block)
    assert np.array_equal(columns.joined(x), x @ matrix)
    padded = columns(x).swapaxes(0, 1).reshape(rows, -1)
    assert np.array_equal(padded[:, :outer], x @ matrix)
    assert not padded[:, outer:].any()


@pytest.mark.parametrize("rows", [1, 3])
def test_what_columns_write_rows_read(rows):
    first, second, x = whole_numbers(0, 6, 130), whole_numbers(1, 130, 10), whole_numbers(2, rows, 6)
    assert np.array_equal(Rows(second)(Columns(first)(x)), x @ first @ second)


def test_moving_house_changes_no_number():
    matrices = [Columns(whole_numbers(0, 6, 130)), Rows(whole_numbers(1, 130, 10)), Columns(whole_numbers(2, 10, 64))]
    before = [matrix.blocks.copy() for matrix in matrices]
    house_together(matrices)
    assert all(np.array_equal(matrix.blocks, old) for matrix, old in zip(matrices, before, strict=True))
    assert len({id(matrix.blocks.base) for matrix in matrices}) == 1
