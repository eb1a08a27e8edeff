from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from conftest import exact_answers, fractions
from draftproof.rules.base import surplus
from draftproof.rules.block import BlockRule, prefix_weights, stopping_probability
from draftproof.rules.token import TokenRule
from engines_of_tests import Given, verdict_law
from laws_of_tests import blocks, law_pairs

RULE = BlockRule()
CHAINS = exact_answers("chain_token_block.json")
JUST_BELOW_ONE = 1 - 2.0**-53


def rows(case):
    return tuple(np.stack([fractions(row) for row in case[name]]) for name in ("p_rows", "q_rows"))


def coins_of(target, draft, weights):
    """The probabilities of the coins that keep exactly 0, 1 .. K tokens; the first is never tossed."""
    return [*stopping_probability(target[:-1], draft, weights[:-1]), weights[-1]]


def verify(p, q, tokens, accept, final):
    return RULE.verify(np.array(p), np.array(q), np.array(tokens), Given(np.array(accept), np.array([final])))


@pytest.mark.parametrize("case", CHAINS, ids=lambda case: case["name"])
def test_weights_leftovers_and_coins_are_exactly_right(case):
    target, draft = rows(case)
    weights = prefix_weights(target, draft, np.array(case["draft"]))
    coins = coins_of(target, draft, weights)
    assert weights.tolist() == fractions(case["block"]["p"]).tolist()
    assert coins[1:] == fractions(case["block"]["h"][1:]).tolist()
    for weight, coin, p, q, left in zip(weights, coins, target, draft, case["block"]["S"], strict=False):
        above = weight * p - q
        mass = above[above > 0].sum()
        assert mass == Fraction(left)
        assert coin == (mass / (mass + 1 - weight) if mass + 1 - weight else 1)


@pytest.mark.parametrize("case", CHAINS, ids=lambda case: case["name"])
def test_lengths_and_final_laws_are_exactly_right(case):
    law = verdict_law(RULE, *rows(case), np.array(case["draft"]))
    for length, (chance, final) in enumerate(zip(case["block"]["P_tau"], case["block"]["final_dist"], strict=True)):
        found = [law.get((length, token), Fraction(0)) for token in range(len(case["p_rows"][0]))]
        assert sum(found) == Fraction(chance)
        if sum(found):
            assert [each / sum(found) for each in found] == fractions(final).tolist()


@pytest.mark.parametrize("case", CHAINS, ids=lambda case: case["name"])
def test_the_law_after_each_length_is_right_even_where_that_length_has_no_chance(case):
    # A uniform of -1 makes a coin fall whatever its probability, one of 1 makes it fail.
    target, draft = rows(case)
    count = len(draft)
    for length, final in enumerate(case["block"]["final_dist"]):
        coins = [Fraction(-1 if i + 1 == length else 1) for i in range(count)]
        found = set()
        for uniform in range(97):
            written = Given(np.array(coins, dtype=object), np.array([Fraction(uniform, 97)], dtype=object))
            verdict = RULE.verify(target, draft, np.array(case["draft"]), written)
            assert verdict.accepted == length
            found.add(int(verdict.token))
        wanted = fractions(final) if final else target[length]  # no mass left: the target's own row
        assert found == {token for token, chance in enumerate(wanted) if chance}


def test_a_later_coin_saves_what_an_earlier_one_left():
    # Ratio 1/2, then 2: w = 1, 1/2, 1; h_1 = 0 and h_2 = 1. The token rule would reject the first draft half the time.
    p, q = [[0.25, 0.75], [2 / 3, 1 / 3], [0.5, 0.5]], [[0.5, 0.5], [1 / 3, 2 / 3]]
    verdict = verify(p, q, [0, 0], [JUST_BELOW_ONE, 0.9999], 0.75)
    assert (verdict.accepted, verdict.token) == (2, 1)


def test_the_longest_prefix_whose_coin_falls_stays():
    # w = 1, 1/2, 1/4, 1/8; the coins for lengths 1, 2, 3 are 1/3, 0.2 .. and 1/8.
    p, q = np.array([[0.4, 0.6]] * 4), np.array([[0.8, 0.2]] * 3)
    tokens = np.array([0, 0, 0])
    coins = np.array(coins_of(p, q, prefix_weights(p, q, tokens))[1:])
    below, above = coins * 0.999, np.minimum(coins * 1.001 + 1e-9, JUST_BELOW_ONE)
    for pattern in np.ndindex(2, 2, 2):
        accept = np.where(np.array(pattern) == 1, below, above)
        fallen = [i + 1 for i in range(3) if pattern[i] and coins[i] > 0]
        assert verify(p, q, tokens, accept, 0.5).accepted == max(fallen, default=0)


def test_equal_laws_keep_everything_even_with_the_largest_uniforms():
    p = np.array([0.1, 0.2, 0.7])
    verdict = verify([p] * 4, [p] * 3, [0, 1, 2], [JUST_BELOW_ONE] * 3, 0.5)
    assert (verdict.accepted, verdict.token) == (3, 2)


def test_a_draft_like_the_target_up_to_rounding_is_kept():
    # p and q differ in the last bits only: no coin may come out of 0 / 0, and all but 1e-15 of the uniforms keep all.
    p = np.array([0.1, 0.2, 0.7])
    q = np.nextafter(p, 1)
    for one, other in ((p, q), (q, p)):
        verdict = verify([one] * 4, [other] * 3, [0, 1, 2], [1 - 1e-12] * 3, 0.5)
        assert (verdict.accepted, verdict.token) == (3, 2)


def test_without_a_draft_the_token_is_drawn_from_the_target():
    for uniform, token in ((0.2, 0), (0.25, 1)):
        verdict = RULE.verify(
            np.array([[0.25, 0.75]]), np.zeros((0, 2)), np.zeros(0, np.int64), Given(np.zeros(0), np.array([uniform]))
        )
        assert (verdict.accepted, verdict.token) == (0, token)


@given(law_pairs(max_size=4))
def test_one_drafted_token_is_judged_as_by_the_token_rule(laws):
    p, q = laws
    target, draft = np.stack([p, p]), q[None]
    for token in np.flatnonzero(q):
        judged = [verdict_law(rule, target, draft, np.array([token])) for rule in (RULE, TokenRule())]
        assert judged[0] == judged[1]


@given(blocks())
def test_coins_and_weights_are_probabilities(rows_of_block):
    target, draft = rows_of_block
    for tokens in product(*(np.flatnonzero(row) for row in draft)):
        weights = prefix_weights(target, draft, np.array(tokens))
        coins = coins_of(target, draft, weights)
        assert all(0 <= entry <= 1 for entry in [*weights, *coins])
        assert (weights[0], coins[0]) == (1, 1)


def test_the_residual_has_the_factor_of_the_prefix():
    # w_1 = 1/2: what is left at row 1 is 1/2 p - q, which has token 2 only; p - q would have token 1 as well.
    p = [["1/4", "3/4", "0"], ["1/10", "3/10", "6/10"], ["1/3", "1/3", "1/3"]]
    q = [["1/2", "1/4", "1/4"], ["7/10", "2/10", "1/10"]]
    target, draft = (np.stack([fractions(row) for row in side]) for side in (p, q))
    law = verdict_law(RULE, target, draft, np.array([0, 0]))
    assert {token for (length, token), chance in law.items() if length == 1 and chance} == {2}
    assert surplus(target[1], draft[1]).tolist() == fractions(["0", "1/10", "1/2"]).tolist()
