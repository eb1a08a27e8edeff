from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import exact_answers, fractions, needs
from draftproof.errors import ContractError
from draftproof.rules.base import pick, surplus
from draftproof.rules.token import TokenRule, acceptance_probabilities, expected_acceptance, residual_law
from engines_of_tests import Given
from laws_of_tests import float_rows, law_pairs

RULE = TokenRule()
CASES = exact_answers("token_level.json")
CHAINS = exact_answers("chain_token_block.json")
JUST_BELOW_ONE = 1 - 2.0**-53


def verify(p, q, tokens, accept, final):
    return RULE.verify(p, q, tokens, Given(accept, final[..., None]))


def verify_one(p, q, token, accept, final):
    """Verify one drafted token; the bonus row is the same law as the first."""
    return verify(np.stack([p, p]), q[None], np.array([token]), np.array([accept]), np.array(final))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_laws_that_people_see_are_exactly_right(case):
    p, q = fractions(case["p"]), fractions(case["q"])
    assert acceptance_probabilities(p, q).tolist() == fractions(case["accept_prob"]).tolist()
    assert expected_acceptance(p, q) == Fraction(case["alpha"])
    assert 1 - expected_acceptance(p, q) == Fraction(case["residual_mass"])
    assert residual_law(p, q).tolist() == fractions(case["residual"] or case["p"]).tolist()
    assert RULE.emitted_law(p, q).tolist() == fractions(case["P_emit"]).tolist()


@pytest.mark.parametrize("case", CHAINS, ids=lambda case: case["name"])
def test_acceptances_and_residuals_of_a_chain_are_exactly_right(case):
    target, draft = (np.stack([fractions(row) for row in case[rows]]) for rows in ("p_rows", "q_rows"))
    kept = acceptance_probabilities(target[:-1], draft)
    assert [kept[i, token] for i, token in enumerate(case["draft"])] == fractions(case["token"]["accept"]).tolist()
    assert residual_law(target[:-1], draft).tolist() == [fractions(row).tolist() for row in case["token"]["residual"]]


def test_a_forbidden_token_is_never_accepted_even_by_a_zero_uniform():
    p, q = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    verdict = verify_one(p, q, token=0, accept=0.0, final=0.0)
    assert (verdict.accepted, verdict.token) == (0, 1)


def test_equal_laws_accept_even_the_largest_uniform():
    p = np.array([0.1, 0.2, 0.7])
    assert [int(verify_one(p, p, token, JUST_BELOW_ONE, 0.5).accepted) for token in range(3)] == [1, 1, 1]


def test_a_token_the_draft_could_not_draw_is_refused_even_if_the_target_allows_it():
    # Then q is not the law it was drawn from, and whatever was decided would not be lossless.
    p, q = np.array([0.5, 0.5, 0.0]), np.array([0.0, 0.5, 0.5])
    with pytest.raises(ContractError, match="draft row 0 gives token 0 no mass"):
        verify_one(p, q, token=0, accept=JUST_BELOW_ONE, final=0.5)


def test_an_empty_residual_after_a_rounding_rejection_falls_back_to_the_target():
    # Rows not quite normalised, p <= q everywhere: reject probability 1e-7, residual mass exactly 0.
    p = np.array([0.5, 0.5, 0.0])
    q = p * (1 + 1e-7)
    verdicts = [verify_one(p, q, 0, JUST_BELOW_ONE, final) for final in (0.0, 0.3, JUST_BELOW_ONE)]
    assert [(int(v.accepted), int(v.token)) for v in verdicts] == [(0, 0), (0, 0), (0, 1)]


def test_a_draw_never_passes_the_last_token_that_has_weight():
    weights = np.array([0.1, 0.2, 0.0, 0.3, 0.0, 0.0])
    assert pick(weights, np.array(1.0)) == 3
    assert pick(np.full(10, 0.1), np.array(JUST_BELOW_ONE)) == 9


def test_a_draw_of_zero_takes_the_first_token_that_has_weight():
    assert pick(np.array([0.0, 0.0, 0.4, 0.6]), np.array(0.0)) == 2


def test_everything_after_the_first_rejection_is_dropped():
    p, q = np.array([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5], [0.5, 0.5]]), np.full((3, 2), 0.5)
    verdict = verify(p, q, np.array([0, 0, 0]), np.array([0.1, 0.9, 0.0]), np.array(0.5))
    assert (verdict.accepted, verdict.token) == (1, 1)


def test_without_a_draft_the_token_is_drawn_from_the_target():
    p = np.array([[0.25, 0.75]])
    verdicts = [verify(p, p[:0], np.zeros(0, np.int64), np.zeros(0), np.array(u)) for u in (0.2, 0.25)]
    assert [(int(v.accepted), int(v.token)) for v in verdicts] == [(0, 0), (0, 1)]


def test_a_large_ratio_loses_no_residual_mass():
    # vLLM PR #46665: p = 0.5, q = 1e-9 must leave p - q, to the last bit.
    p, q = np.array([0.5, 0.5]), np.array([1e-9, 1 - 1e-9])
    assert surplus(p, q)[0] == 0.5 - 1e-9


@given(law_pairs())
def test_the_emitted_law_is_the_target_whatever_the_draft(laws):
    p, q = laws
    assert RULE.emitted_law(p, q).tolist() == p.tolist()


@given(law_pairs())
def test_kept_and_residual_mass_add_up(laws):
    p, q = laws
    kept = (q * acceptance_probabilities(p, q)).sum()
    assert kept == expected_acceptance(p, q)
    if kept < 1:
        assert kept + surplus(p, q).sum() == 1


@given(st.data())
def test_numpy_torch_and_fractions_decide_alike_on_any_floats(data):
    batch, block, size = 2, data.draw(st.integers(0, 3)), data.draw(st.integers(1, 4))
    p = np.stack([data.draw(float_rows(block + 1, size)) for _ in range(batch)])
    q = np.stack([data.draw(float_rows(max(block, 1), size))[:block] for _ in range(batch)])
    uniforms = data.draw(
        st.lists(st.integers(0, 2**53 - 1), min_size=batch * (block + 1), max_size=batch * (block + 1))
    )
    u = np.array(uniforms).reshape(batch, block + 1) * 2.0**-53
    # Drafted by inverse CDF, so that no token lacks mass.
    chosen = data.draw(st.lists(st.floats(0, 1, exclude_max=True), min_size=batch * block, max_size=batch * block))
    tokens = np.asarray(pick(q, np.array(chosen).reshape(batch, block)), dtype=np.int64)
    inputs = (p, q, tokens, u[:, :block], u[:, block])
    expected = verify(*inputs)
    got = verify(*map(needs("torch").from_numpy, inputs))
    assert got.accepted.tolist() == expected.accepted.tolist()
    assert got.token.tolist() == expected.token.tolist()
    for row in range(batch):  # a batch is its rows
        alone = verify(*(part[row] for part in inputs))
        assert (alone.accepted, alone.token) == (expected.accepted[row], expected.token[row])
    exact = verify(_exact(p), _exact(q), tokens, _exact(u[:, :block]), _exact(u[:, block]))
    assert exact.accepted.tolist() == expected.accepted.tolist()


def _exact(values):
    entries = [Fraction(float(value)) for value in values.ravel()]
    return np.array(entries, dtype=object).reshape(values.shape)
