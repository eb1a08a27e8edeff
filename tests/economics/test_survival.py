"""Tokens per pass in closed form, against exact answers that were computed apart."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import exact_answers, fractions
from draftproof.economics.survival import (
    acceptance,
    acceptance_rate,
    block_survival,
    iid_survival,
    survival,
    tokens_per_pass,
)
from draftproof.errors import UsageError

FAMILIES = exact_answers("efficiency_exact.json")
PAIRS = [(name, rule) for name in FAMILIES for rule in ("token", "block", "coupled")]


@pytest.mark.parametrize(("name", "rule"), PAIRS)
def test_tokens_per_pass_are_the_known_ones(name, rule):
    p, q = (fractions(FAMILIES[name][law]) for law in "pq")
    for length, known in enumerate(FAMILIES[name][rule], 1):
        found = tokens_per_pass(survival(rule, p, q, length))
        if rule == "coupled":  # its closed form is computed in floats
            assert found == pytest.approx(float(Fraction(known)), rel=1e-13)
        else:
            assert found == Fraction(known)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_table_in_floats_is_as_good_as_it_says(name):
    p, q = (fractions(FAMILIES[name][law]) for law in "pq")
    exact = tokens_per_pass(block_survival(p, q, 8))
    assert tokens_per_pass(block_survival(p.astype(float), q.astype(float), 8)) == pytest.approx(float(exact), abs=2e-6)


def random_laws(size, seed):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(size, 0.5)), rng.dirichlet(np.full(size, 0.5))


@pytest.mark.parametrize("seed", range(5))
def test_of_many_tokens_the_block_rule_keeps_what_a_simulation_of_its_weights_says(seed):
    p, q = random_laws(64, seed)
    rng = np.random.default_rng(100 + seed)
    weight, total = np.ones(200_000), np.zeros(200_000)
    for _ in range(8):
        x = rng.choice(64, size=200_000, p=q / q.sum())
        weight = np.minimum(1, weight * p[x] / q[x])
        total += weight
    error = total.std() / len(total) ** 0.5
    # Five seeds at 4.5 standard errors: a false alarm in 30,000 runs.
    assert 1 + total.mean() == pytest.approx(tokens_per_pass(block_survival(p, q, 8)), abs=4.5 * error + 2e-6)


@given(st.integers(2, 5).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 9), min_size=n, max_size=n)] * 2)))
def test_block_keeps_at_least_what_token_does_and_no_more_than_one_token_is_accepted_alone(weights):
    p, q = (np.array([Fraction(w, max(1, sum(law))) for w in law], dtype=object) for law in weights)
    if p.sum() != 1 or q.sum() != 1:
        return
    token, block = survival("token", p, q, 4), survival("block", p, q, 4)
    assert all(one <= other for one, other in zip(token, block, strict=True))
    assert all(share <= acceptance("token", p, q) for share in block)
    assert token[0] == block[0]


@pytest.mark.parametrize(
    ("p", "q", "token", "match"),
    [
        ((0.5, 0.3, 0.2), (0.2, 0.3, 0.5), 0.7, 0.29),
        ((0.7, 0.2, 0.1), (0.5, 0.3, 0.2), 0.8, 0.43),
        ((0.95, 0.03, 0.02), (0.5, 0.3, 0.2), 0.55, 0.488),
        ((0.5, 0.3, 0.2), (0.5, 0.3, 0.2), 1.0, 0.38),
    ],
)
def test_rules_accept_a_single_token_as_public_reports_say(p, q, token, match):
    p, q = np.array(p), np.array(q)
    assert acceptance("token", p, q) == pytest.approx(token, abs=1e-12)
    assert acceptance("match", p, q) == pytest.approx(match, abs=1e-12)


def test_the_better_rule_can_lose_to_matching_the_most_probable_draft():
    p, greedy = np.array([0.95, 0.03, 0.02]), np.array([1.0, 0.0, 0.0])
    assert acceptance("token", p, greedy) == pytest.approx(0.95)
    assert acceptance("token", p, np.array([0.5, 0.3, 0.2])) == pytest.approx(0.55)


@pytest.mark.parametrize(
    ("length", "accepted", "rate"), [(2, 1.44, 0.72), (4, 2.36, 0.59), (8, 3.33, 0.42), (16, 3.89, 0.24)]
)
def test_the_rate_falls_with_the_length_while_what_is_accepted_grows(length, accepted, rate):
    kept = iid_survival(0.8, length)
    assert sum(kept) == pytest.approx(accepted, abs=0.005)
    assert acceptance_rate(kept) == pytest.approx(rate, abs=0.005)


@pytest.mark.parametrize("wrong", [-0.1, 1.01, float("nan")])
def test_an_acceptance_that_is_no_probability_is_refused(wrong):
    with pytest.raises(UsageError, match="acceptance: got"):
        iid_survival(wrong, 3)


def test_a_negative_length_is_refused():
    with pytest.raises(UsageError, match="num_speculative_tokens: got -1"):
        iid_survival(0.5, -1)
