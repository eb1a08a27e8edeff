"""The fast way to a nucleus, for long rows of NumPy, keeps what the definition keeps, to the last token and bit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import needs
from draftproof.warpers import top_p
from draftproof.warpers.top_p import FEW, STRIDE, TopP

SIZES = (1, 2, 50, FEW - 1, FEW, FEW + 1, 3 * FEW)
SHAPES = {
    "normal": lambda rng, size: np.exp(rng.normal(size=size)),
    "nearly equal": lambda rng, size: np.exp(rng.normal(scale=1e-9, size=size)),
    "steep": lambda rng, size: (rng.permutation(size) + 1) ** -2.0,
    "slow": lambda rng, size: (rng.permutation(size) + 1) ** -1.0,
    "equal": lambda rng, size: np.ones(size),
    "few values": lambda rng, size: np.exp(np.round(rng.normal(size=size))),
    "two values": lambda rng, size: np.where(rng.random(size) < 0.01, 1.0, 0.001),
    "one token": lambda rng, size: np.eye(1, size, rng.integers(size))[0],
    "few tokens": lambda rng, size: np.where(rng.permutation(size) < 40, rng.random(size), 0),
    "one and the rest": lambda rng, size: np.where(rng.permutation(size) == 0, float(size), rng.random(size)),
    "a sample that is too large": lambda rng, size: np.where(np.arange(size) % STRIDE == 0, 1.0, rng.random(size) / 8),
    "a sample that is too small": lambda rng, size: np.where(np.arange(size) % STRIDE == 0, 1e-9, rng.random(size)),
}
MASSES = st.one_of(st.floats(1e-12, 1, exclude_max=True), st.sampled_from([0.25, 0.5, 0.9, 0.95, 1 - 2.0**-53]))


@pytest.mark.parametrize("shape", SHAPES)
@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from(SIZES), p=MASSES)
def test_the_fast_way_keeps_what_the_definition_keeps(shape, seed, size, p):
    weights = SHAPES[shape](np.random.default_rng(seed), size)
    law = weights / weights.sum()
    assert np.array_equal(TopP(p)(law), top_p._sorted(law, p))


@given(seed=st.integers(0, 2**32 - 1), data=st.data())
def test_masses_that_are_reached_exactly_end_the_nucleus(seed, data):
    # Multiples of 2**-30 add up without rounding in any order, so that the mass of the first n tokens is exact.
    rng, size = np.random.default_rng(seed), 2 * FEW
    law = np.ldexp(rng.multinomial(2**30, rng.dirichlet(np.ones(size))).astype(np.float64), -30)
    reached = np.cumsum(np.sort(law)[::-1])
    count = data.draw(st.integers(1, int(np.count_nonzero(law)) - 1))
    kept = TopP(float(reached[count - 1]))(law)
    assert np.count_nonzero(kept) == count
    assert kept.sum() == reached[count - 1]


@given(seed=st.integers(0, 2**32 - 1), part=st.floats(0.1, 0.9))
def test_masses_that_are_reached_up_to_rounding_end_it_where_the_definition_has_it(seed, part):
    law = np.exp(np.random.default_rng(seed).normal(size=3 * FEW))
    law /= law.sum()
    reached = np.cumsum(np.sort(law)[::-1])
    p = float(reached[int(part * len(law))])
    for mass in (np.nextafter(p, 0), p, np.nextafter(p, 1)):
        assert np.array_equal(TopP(mass)(law), top_p._sorted(law, mass))


def test_among_equals_the_lowest_ids_stay_in_long_rows_too():
    kept = TopP(0.5)(np.full(2 * FEW, 0.5 / FEW))
    assert np.flatnonzero(kept).tolist() == list(range(FEW))


def test_the_bounds_spare_most_of_a_long_row():
    law = np.exp(np.random.default_rng(0).normal(size=40 * FEW))
    law /= law.sum()
    for p in (0.1, 0.5, 0.95):
        low, high = top_p._bounds(law, 1 - p)
        assert 0 < np.count_nonzero((law >= low) & (law <= high)) < len(law) / 20


@given(seed=st.integers(0, 2**32 - 1), shape=st.sampled_from(sorted(SHAPES)), p=MASSES, data=st.data())
def test_bounds_that_mislead_cost_time_only(seed, shape, p, data):
    law = SHAPES[shape](np.random.default_rng(seed), FEW + 1)
    law /= law.sum()
    bounds = st.one_of(st.sampled_from(sorted(set(law.tolist()))), st.floats(0, 1))
    low, high = sorted((data.draw(bounds), data.draw(st.one_of(bounds, st.just(np.inf)))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(top_p, "_bounds", lambda row, rest: (low, high))
        assert np.array_equal(TopP(p)(law), top_p._sorted(law, p))


def test_where_rounding_could_decide_the_whole_row_is_sorted(monkeypatch):
    law = np.full(2 * FEW, 0.5 / FEW)
    law[:FEW:2], law[1:FEW:2] = 0.25 / FEW, 0.75 / FEW
    between = 0.25 / FEW, 0.5 / FEW  # tokens above 0.5 / FEW have the mass 0.375, and those at it 0.5
    monkeypatch.setattr(top_p, "_bounds", lambda row, rest: between)
    for p in (0.375, np.nextafter(0.375, 1), 0.3, 0.875, 0.99):
        assert np.array_equal(TopP(p)(law), top_p._sorted(law, p))


def test_rows_of_a_batch_are_filtered_alone():
    laws = np.random.default_rng(3).dirichlet(np.ones(2 * FEW), size=(2, 3))
    together = TopP(0.7)(laws)
    assert all(np.array_equal(together[i, j], TopP(0.7)(laws[i, j])) for i in range(2) for j in range(3))


@given(seed=st.integers(0, 2**32 - 1), p=MASSES)
def test_numpy_torch_and_fractions_keep_the_same_tokens(seed, p):
    # Multiples of 2**-20 add up without rounding; so do their products with p, a number of 53 bits, as Fractions only.
    law = np.ldexp(np.random.default_rng(seed).multinomial(2**20, np.full(12, 1 / 12)).astype(np.float64), -20)
    kept = TopP(p)(law)
    exact = TopP(Fraction(p))(np.array([Fraction(float(x)) for x in law], dtype=object))
    assert kept.tolist() == [float(x) for x in exact]
    assert kept.tolist() == TopP(p)(needs("torch").from_numpy(law)).tolist()
