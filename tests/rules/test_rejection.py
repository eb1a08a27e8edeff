"""Rejection sampling is exact, never keeps more than the token rule, and is not what retrying makes of that rule."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from conftest import fractions
from draftproof.errors import ContractError
from draftproof.noise import PhiloxNoise
from draftproof.rules import rejection
from draftproof.rules.base import pick
from draftproof.rules.token import expected_acceptance
from draftproof.types import Purpose
from draftproof.witness.exact import PAIRS
from draftproof.witness.forking import exact_law
from laws_of_tests import in_floats, law_pairs

P, Q = fractions(["1/2", "3/10", "1/5"]), fractions(["1/5", "3/10", "1/2"])
JUST_BELOW_ONE = 1 - 2.0**-53


def covered(p, q):
    return all(q[p > 0] > 0)


def one_proposal(p, q):
    """The exact law of (what is proposed, whether it is kept), over all uniforms of the shipped lines."""

    def program(noise):
        token = int(pick(q, noise.uniforms(Purpose.DRAFT, 0, 1)[0, ...]))
        kept = rejection.run(p, q, np.array([token]), noise.uniforms(Purpose.ACCEPT, 0, 1))
        return token, bool(kept[0])

    return exact_law(program)


@given(law_pairs())
def test_the_first_kept_proposal_has_the_law_that_is_wanted(laws):
    p, q = laws
    chances = one_proposal(p, q)
    kept = [chances.get((token, True), Fraction(0)) for token in range(len(p))]
    assert sum(kept) == rejection.kept_share(p, q)
    assert kept == (q * rejection.acceptance(p, q)).tolist()
    if covered(p, q):  # what is kept in the end has the law of what is kept at once, given that it is
        assert [chance / sum(kept) for chance in kept] == p.tolist()


@pytest.mark.parametrize("name", PAIRS)
def test_it_is_exact_or_keeps_nothing_on_the_pairs_that_show_every_fault(name):
    p, q = (fractions(row) for row in PAIRS[name])
    kept = q * rejection.acceptance(p, q)
    assert kept.tolist() == (p * rejection.kept_share(p, q)).tolist()
    assert (rejection.envelope(p, q) == math.inf) == (not covered(p, q)) == (not any(kept))


@given(law_pairs())
def test_it_keeps_at_most_what_the_token_rule_keeps(laws):
    p, q = laws
    share, token_rule = rejection.kept_share(p, q), expected_acceptance(p, q)
    tokens = p > 0
    cut_down = q[tokens].sum() > 0 and (q[tokens] / q[tokens].sum()).tolist() == p[tokens].tolist()
    assert share <= token_rule
    assert (share == token_rule) == (cut_down or token_rule == 0)


def test_known_figures():
    assert rejection.envelope(P, Q) == Fraction(5, 2)
    assert rejection.acceptance(P, Q).tolist() == [1, Fraction(2, 5), Fraction(4, 25)]
    assert (rejection.kept_share(P, Q), expected_acceptance(P, Q)) == (Fraction(2, 5), Fraction(7, 10))
    assert rejection.retrying_law(P, Q).tolist() == fractions(["2/7", "3/7", "2/7"]).tolist()


@given(law_pairs())
def test_to_retry_after_the_token_rules_test_is_right_only_where_p_is_q_cut_down(laws):
    p, q = laws
    if expected_acceptance(p, q) == 0:
        with pytest.raises(ContractError, match="share no token"):
            rejection.retrying_law(p, q)
        return
    retried, tokens = rejection.retrying_law(p, q), p > 0
    cut_down = (q[tokens] / q[tokens].sum()).tolist() == p[tokens].tolist()
    assert retried.sum() == 1
    assert (retried.tolist() == p.tolist()) == cut_down


def test_an_infinite_envelope_keeps_nothing_not_even_at_a_uniform_of_zero():
    for p, q in ((fractions(["1/2", "1/2"]), fractions(["1", "0"])), (np.array([0.5, 0.5]), np.array([1.0, 0.0]))):
        assert rejection.envelope(p, q) == math.inf
        assert rejection.kept_share(p, q) == 0
        assert rejection.acceptance(p, q).tolist() == [0, 0]
        assert rejection.run(p, q, np.array([0, 0]), np.array([0.0, 0.5])).tolist() == [False, False]


def test_a_ratio_that_no_float_holds_is_an_infinite_envelope():
    p, q = np.array([0.5, 0.5]), np.array([1e-320, 1.0])
    assert rejection.envelope(p, q) == math.inf
    assert rejection.run(p, q, np.array([0, 1]), np.zeros(2)).tolist() == [False, False]


def test_a_forbidden_token_is_never_kept_and_the_token_of_the_envelope_always():
    p, q = np.array([0.0, 0.25, 0.75]), np.array([0.5, 0.25, 0.25])
    kept = rejection.run(p, q, np.array([0, 2, 1, 1]), np.array([0.0, JUST_BELOW_ONE, 0.33, 0.34]))
    assert kept.tolist() == [False, True, True, False]


def test_a_proposal_that_cannot_have_been_drawn_is_refused():
    with pytest.raises(ContractError, match="q gives token 1 no mass"):
        rejection.run(np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([0, 1]), np.zeros(2))


@given(law_pairs())
def test_floats_keep_what_fractions_keep(laws):
    p, q = laws
    uniforms = PhiloxNoise(7).uniforms(Purpose.ACCEPT, 0, 8)
    proposals = np.asarray(pick(np.stack([q] * 8), PhiloxNoise(7).uniforms(Purpose.DRAFT, 0, 8)), dtype=np.int64)
    exact = rejection.run(p, q, proposals, np.array([Fraction(float(u)) for u in uniforms], dtype=object))
    assert rejection.run(in_floats(p), in_floats(q), proposals, uniforms).tolist() == exact.tolist()
    chances = rejection.acceptance(in_floats(p), in_floats(q))
    assert max(chances) <= 1  # to the last bit: a chance
    # Two divisions, one of them by M, each within 2**-53 of the right quotient.
    assert np.allclose(chances, in_floats(rejection.acceptance(p, q)), rtol=2**-50, atol=0)
