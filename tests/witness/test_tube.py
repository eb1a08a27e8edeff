"""A bet that pays for what rounding may give it: values computed elsewhere, and honest engines inside the tube."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.witness.tube import most_expected, most_expected_roughly

FIXTURE = json.loads((Path(__file__).parents[1] / "fixtures" / "witness_tube.json").read_text())
STRENGTH = 0.9


def payoffs(p, q):
    """Of a rejected token replaced by one of the target."""
    shared = np.minimum(p, q)
    return (shared + (1 - shared.sum(axis=-1, keepdims=True)) * p) / p - 1


@pytest.mark.parametrize("eta", FIXTURE["expected"]["log_wealth_by_eta"])
def test_the_bet_pays_what_it_should(eta):
    contexts, tokens = (np.array(column) for column in zip(*FIXTURE["rows"], strict=True))
    p, q = (np.array([context[law] for context in FIXTURE["contexts"]])[contexts] for law in "pq")
    gains, tax = payoffs(p, q), STRENGTH * most_expected_roughly(payoffs(p, q), p, float(eta))
    at_tokens = gains[np.arange(len(tokens)), tokens]
    wealth = np.log((1 + STRENGTH * at_tokens) / (1 + tax)).sum()
    assert wealth == pytest.approx(FIXTURE["expected"]["log_wealth_by_eta"][eta], abs=1e-9)
    if eta == "0.2":
        assert tax[-1] == pytest.approx(FIXTURE["expected"]["tax_last_token_eta_0.2"], abs=1e-9)


@given(seed=st.integers(0, 2**32 - 1), eta=st.floats(0, 0.5))
@settings(max_examples=100)
def test_no_law_in_the_tube_is_worth_more(seed, eta):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(6), 2)
    gains = payoffs(p[None], q[None])
    most = most_expected(gains, p[None], eta)[0]
    assert most <= most_expected_roughly(gains, p[None], eta)[0] + 1e-15
    for _ in range(20):
        law = p * np.exp(rng.uniform(-eta, eta, 6) / 2)  # normalising moves each by eta / 2 at most
        assert law @ gains[0] / law.sum() <= most + 1e-12
