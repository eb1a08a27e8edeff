"""A token's logits do not depend on the company it is scored in: to the bit, where BLAS itself keeps rows apart."""

import numpy as np
import pytest

from draftproof.models.blocks import Columns
from models_of_tests import needs_rows_apart


def pieces_of(model, ids, sizes):
    model = model.fresh()
    cuts = np.cumsum(sizes)
    return np.concatenate([model.extend(ids[a:b]) for a, b in zip([0, *cuts[:-1]], cuts, strict=True)])


@needs_rows_apart
@pytest.mark.parametrize("which", [0, 1], ids=["target", "draft"])
def test_logits_are_the_same_bits_in_any_company(pair, which):
    model = pair[which].model
    rng = np.random.default_rng(1)
    ids = rng.integers(0, model.vocab_size, 400).tolist()
    sizes = rng.integers(1, 12, 100)
    sizes = [*sizes[np.cumsum(sizes) < 400]]
    sizes.append(400 - sum(sizes))
    assert np.array_equal(pieces_of(model, ids, [1] * 400), pieces_of(model, ids, sizes))


def test_the_place_of_a_row_among_as_many_rows_never_changes_its_bits():
    rng = np.random.default_rng(2)
    columns = Columns(rng.standard_normal((384, 128), dtype=np.float32))
    rows = rng.standard_normal((4, 384), dtype=np.float32)
    straight, turned = columns(rows), columns(rows[::-1].copy())
    assert np.array_equal(straight, turned[:, ::-1])
