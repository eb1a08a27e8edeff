"""The model that is a table: its rows are what the table says, through growth, trees, rewinds and keeps."""

from fractions import Fraction

import numpy as np
import pytest

from draftproof.errors import UsageError
from draftproof.models.table import TableModel, markov


def shown(context):
    """A law that shows which context it was asked for."""
    weights = [1 + sum((i + 1) * token for i, token in enumerate(context)), 2, 3]
    return [Fraction(weight, sum(weights)) for weight in weights]


def rows(*texts):
    return [shown(text) for text in texts]


def test_rows_follow_each_of_the_last_tokens():
    model = TableModel(shown, 3)
    assert model.extend([1]).tolist() == rows((1,))
    assert model.extend([2, 0, 1], rows=2).tolist() == rows((1, 2, 0), (1, 2, 0, 1))
    assert model.length == 4


def test_a_token_of_a_tree_sees_its_ancestors_only():
    model = TableModel(shown, 3)
    model.extend([1])
    found = model.extend([2, 0, 1, 2, 0], parents=[-1, -1, 0, 1])
    assert found.tolist() == rows((1, 2), (1, 2, 0), (1, 2, 1), (1, 2, 0, 2), (1, 2, 1, 0))


def test_a_kept_path_is_the_text():
    model = TableModel(shown, 3)
    model.extend([1, 0, 2, 1, 2], parents=[-1, -1, 0])
    model.keep(2, [1, 2])
    assert model.context == [1, 0, 1, 2]
    model.rewind(3)
    assert model.extend([2]).tolist() == rows((1, 0, 1, 2))


def test_its_context_has_an_end():
    model = TableModel(shown, 3, context_limit=3)
    model.extend([1, 2])
    with pytest.raises(UsageError, match="4 tokens do not fit a context of 3"):
        model.extend([0, 1])
    assert model.length == 2
    model.rewind(1)
    model.extend([0, 1, 2], parents=[-1, -1])  # siblings stand at one place


def test_a_fresh_table_is_the_same_table_with_nothing_read():
    model = TableModel(shown, 3, context_limit=9, row_kind="logits")
    model.extend([1, 2])
    fresh = model.fresh()
    assert (fresh.length, fresh.vocab_size, fresh.context_limit, fresh.row_kind) == (0, 3, 9, "logits")
    assert model.length == 2


def test_an_order_looks_back_so_far_and_never_into_what_it_skips():
    table = {(): ["start"], (1,): ["after 1"], (2,): ["after 2"], (1, 2): ["after 1 2"], (2, 2): ["after 2 2"]}
    law = markov(table, 2, skip=1)
    found = [law(text) for text in ((9,), (9, 1), (9, 2), (9, 1, 2), (9, 1, 2, 2))]
    assert found == [["start"], ["after 1"], ["after 2"], ["after 1 2"], ["after 2 2"]]
    assert markov({(): ["always"]}, 0)((1, 2, 3)) == ["always"]


def test_fractions_stay_fractions_and_floats_floats():
    assert TableModel(shown, 3).extend([1]).dtype == object
    assert TableModel(lambda _: [0.5, 0.5], 2).extend([1]).dtype == np.float64
