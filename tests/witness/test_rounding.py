"""What is taken for rounding: the bounds hold for models that round always, never, or all at once."""

import math

import numpy as np
import pytest

from draftproof.witness.rounding import FLOOR, Rounding, row_gaps

SPREAD = 3.5
LARGE = {"an entry too many": [0.5, 2.0], "an entry too few": [0.4, 1.5]}


def rounding(*gaps):
    return Rounding(gaps, SPREAD, LARGE)


def test_rows_within_twice_the_largest_gap_are_rounding_and_one_beyond_is_none():
    measured = rounding([0.05, 0.08], [0.06])
    assert not measured.exceeded([0.05] * 20 + [0.159])
    assert measured.exceeded([0.05] * 20 + [0.161])


def test_many_rows_beyond_the_largest_gap_are_no_rounding_though_each_is_within_the_bound():
    measured = rounding([0.05] * 40, [0.08])
    assert not measured.exceeded([0.079] * 20)
    assert measured.exceeded([0.081] * 20)
    assert not measured.exceeded([0.081] * 15)


def test_a_model_that_rounds_to_the_same_bits_until_a_number_tips_over_is_not_accused():
    """As SmolLM2 in Q4_1 does: most of its readings agree to the bit, and what it generates tips over early."""
    measured = rounding([0.0] * 23 + [0.056], [0.0] * 14 + [0.11, 0.09], [0.0] * 16)
    assert not measured.exceeded([0.0] * 8 + [0.105] * 16)


def test_a_model_that_never_rounds_has_next_to_no_slack():
    measured = rounding([0.0] * 40)
    assert not measured.exceeded([FLOOR * SPREAD / 2] * 20)
    assert measured.exceeded([0.0] * 20 + [1e-4])


def test_what_is_beyond_the_bounds_is_a_fault_if_it_is_of_the_size_of_one():
    measured = rounding([0.0] * 40)
    assert measured.exceeded([0.3])
    assert not measured.clear([0.3])
    assert measured.clear([0.4])
    assert measured.clear([math.inf])


def test_faults_within_the_bound_are_hidden_and_so_is_any_where_none_was_tried():
    assert rounding([0.05]).hidden() == []
    assert rounding([0.8]).hidden() == ["an entry too few"]
    assert Rounding(([0.05],), SPREAD, {}).hidden() == ["any fault"]


def test_a_constant_in_all_scores_is_no_gap_infinite_ones_that_agree_are_none_and_others_are():
    rows = np.array([[0.0, 1.0, -math.inf, 2.0]])
    assert row_gaps(rows, rows) == [0.0]
    assert row_gaps(rows[:, :2], rows[:, :2] + 3) == [0.0]
    assert row_gaps(rows, rows[:, ::-1]) == [math.inf]
    assert row_gaps(rows, rows[:, :2]) == [math.inf]
    with np.errstate(invalid="ignore"):
        assert row_gaps(rows, rows * np.nan) == [math.inf]


def test_a_gap_is_the_standard_deviation_of_the_differences():
    assert row_gaps(np.zeros((1, 2)), np.array([[0.0, 4.0]])) == [pytest.approx(2.0)]
