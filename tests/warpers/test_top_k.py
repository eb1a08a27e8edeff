"""The fast way to the k best, for long rows of NumPy, keeps what the definition keeps, to the last token and bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.warpers import top_k
from draftproof.warpers.top_k import BLOCK, TopK

SHAPES = {
    "normal": lambda rng, size: np.exp(rng.normal(size=size)),
    "equal": lambda rng, size: np.ones(size),
    "few values": lambda rng, size: np.exp(np.round(rng.normal(size=size))),
    "one token": lambda rng, size: np.eye(1, size, rng.integers(size))[0],
    "few tokens": lambda rng, size: np.where(rng.permutation(size) < 9, rng.random(size), 0),
    "best ones side by side": lambda rng, size: np.sort(rng.random(size)),
    "best ones in one block": lambda rng, size: np.where(np.arange(size) % (size // BLOCK) == 0, 1.0, rng.random(size)),
}


def by_definition(law, k):
    return np.where(law >= np.sort(law)[-k], law, 0)


@pytest.mark.parametrize("shape", SHAPES)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(BLOCK, 50 * BLOCK), data=st.data())
def test_the_fast_way_keeps_what_the_definition_keeps(shape, seed, size, data):
    law = SHAPES[shape](np.random.default_rng(seed), size)
    k = data.draw(st.integers(1, size - 1))  # up to size / BLOCK it is the fast way
    assert np.array_equal(TopK(k)(law), by_definition(law, k))
    written = law.copy()
    assert np.array_equal(TopK(k)(written, written), by_definition(law, k))


def test_rows_of_a_batch_are_filtered_alone():
    laws = np.random.default_rng(3).dirichlet(np.ones(40 * BLOCK), size=(2, 3))
    together = TopK(7)(laws)
    assert all(np.array_equal(together[i, j], TopK(7)(laws[i, j])) for i in range(2) for j in range(3))


def test_a_filter_without_a_place_to_write_leaves_the_law_as_it_is():
    law = np.random.default_rng(4).dirichlet(np.ones(40 * BLOCK))
    before = law.copy()
    TopK(3)(law)
    assert np.array_equal(law, before)


def test_few_entries_are_sorted():
    row = np.random.default_rng(5).random(BLOCK * 4096)
    bests = row.reshape(BLOCK, -1).max(axis=0)
    assert np.count_nonzero(row >= np.partition(bests, -50)[-50]) < 100
    assert len(top_k._largest(row, 50)) == 50
