"""The shipped block rule, integrated exactly over its uniforms: the target's law, and the invariants behind it."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from conftest import exact_answers, fractions
from draftproof.rules.block import BlockRule, prefix_weights
from draftproof.rules.token import TokenRule
from draftproof.witness.exact import expected_tokens, pass_law
from engines_of_tests import Given, mean, seen_law, verdict_law
from laws_of_tests import blocks, completed, law_pairs, product_of, repeated

RULE = BlockRule()
CHAINS = exact_answers("chain_token_block.json")
CASES = exact_answers("token_level.json")
FAMILIES = exact_answers("efficiency_exact.json")
TRAP = fractions(["4/8", "1/8", "3/8"]), fractions(["1/9", "6/9", "2/9"])


def rows(case):
    return fractions(case["p"]), fractions(case["q"])


def chain_of(case):
    return tuple(np.stack([fractions(row) for row in case[name]]) for name in ("p_rows", "q_rows"))


def test_on_the_grid_of_uniforms_that_a_machine_has_every_coin_is_exact():
    # p / q is 1/2 or 3/2. After (0, 0) w = 1/2, 1/4, after (0, 1) w = 1/2, 3/4: nothing is left at row 1, and its coin
    # has no chance, not even with 0. After (1, 0) w = 1, 1/2: the first coin always falls. 64 h of 64 uniforms are < h.
    p, q = fractions(["1/4", "3/4"]), fractions(["1/2", "1/2"])
    target, draft = np.stack([p, p, p]), np.stack([q, q])
    for tokens, coins in (((0, 0), (0, 16)), ((0, 1), (0, 48)), ((1, 0), (64, 32))):
        for number, coin in enumerate(coins):
            kept = 0
            for k in range(64):
                uniforms = [Fraction(63, 64)] * 2
                uniforms[number] = Fraction(k, 64)
                written = Given(np.array(uniforms, dtype=object), *[np.array([Fraction(1, 2)] * 2)] * 2)
                kept += int(RULE.verify(target, draft, np.array(tokens), written).accepted) == number + 1
            assert kept == coin


def test_it_expects_the_weighed_overlap_of_every_row():
    # sum min(p, q) = 11/24 at row 0; at row 1, after token 1, w = 3/16 and sum min(w p, q) = 3/16, as w p < q.
    target, draft = repeated(*TRAP, 2)
    for accepted in range(3):
        expected = RULE.expected_accepted(target, draft, np.array([1, 0]), accepted)
        assert expected == float(Fraction(11, 24) + Fraction(3, 16))


@pytest.mark.parametrize("case", CHAINS, ids=lambda case: case["name"])
def test_a_given_draft_is_kept_as_far_as_predicted(case):
    target, draft = chain_of(case)
    law = verdict_law(RULE, target, draft, np.array(case["draft"]))
    for length, (chance, final) in enumerate(zip(case["block"]["P_tau"], case["block"]["final_dist"], strict=True)):
        found = [law.get((length, token), Fraction(0)) for token in range(target.shape[-1])]
        assert sum(found) == Fraction(chance)
        assert found == (sum(found) * fractions(final)).tolist() if final else not any(found)


@pytest.mark.parametrize("block", [1, 2])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_pass_has_the_targets_law_at_every_edge(case, block):
    target, draft = repeated(*rows(case), block)
    assert completed(pass_law(RULE, target, draft), target) == product_of(target)


@pytest.mark.parametrize("block", [1, 2, 3])
def test_whole_passes_have_the_targets_law_on_the_pair_that_hides_faults_least(block):
    target, draft = repeated(*TRAP, block)
    assert completed(pass_law(RULE, target, draft), target) == product_of(target)


def test_the_toy_of_the_paper_keeps_eleven_ninths_of_two_tokens():
    p, q = fractions(["1/3", "2/3"]), fractions(["2/3", "1/3"])
    kept = [expected_tokens(pass_law(rule, *repeated(p, q, 2))) - 1 for rule in (TokenRule(), RULE)]
    assert kept == [Fraction(10, 9), Fraction(11, 9)]


@pytest.mark.parametrize("case", CHAINS, ids=lambda case: case["name"])
def test_chains_of_unlike_rows_have_the_targets_law(case):
    target, draft = chain_of(case)
    assert completed(pass_law(RULE, target, draft), target) == product_of(target)


def expected_weights(target, draft):
    """For each prefix of each drafted block: its w, and the chance that at least as much is kept, given the prefix."""
    reached, chances = {}, {}
    for tokens in product(*(np.flatnonzero(row) for row in draft)):
        drawn = np.prod([row[token] for row, token in zip(draft, tokens, strict=True)])
        weights = prefix_weights(target, draft, np.array(tokens))
        law = verdict_law(RULE, target, draft, np.array(tokens))
        for length in range(len(draft) + 1):
            prefix = tokens[:length]
            kept = mean(law, lambda outcome, length=length: outcome[0] >= length)
            reached[prefix] = reached.get(prefix, 0) + drawn * kept
            chances[prefix] = weights[length], chances.get(prefix, (0, 0))[1] + drawn
    return [(weight, reached[prefix] / drawn) for prefix, (weight, drawn) in chances.items()]


@given(blocks(max_depth=2))
@settings(max_examples=30)
def test_a_drafted_prefix_is_kept_with_its_weight_whatever_follows_it(rows_of_block):
    assert all(weight == kept for weight, kept in expected_weights(*rows_of_block))


@pytest.mark.parametrize("case", CHAINS[4:7], ids=lambda case: case["name"])
def test_a_drafted_prefix_of_three_unlike_rows_is_kept_with_its_weight(case):
    assert all(weight == kept for weight, kept in expected_weights(*chain_of(case)))


@given(blocks())
@settings(max_examples=30)
def test_any_block_has_the_targets_law_the_expected_acceptance_it_says_and_beats_the_token_rule(rows_of_block):
    target, draft = rows_of_block
    law = pass_law(RULE, target, draft)
    assert completed(law, target) == product_of(target)
    assert expected_tokens(law) >= expected_tokens(pass_law(TokenRule(), target, draft))
    seen = seen_law(RULE, target, draft, (), lambda done: (done.expected_accepted, len(done.path)))
    expected = sum(float(chance) * expected for (expected, _), chance in seen.items())
    assert abs(expected - float(mean(seen, lambda outcome: outcome[1]))) < 1e-12  # the estimates are floats


@given(law_pairs(max_size=4))
@settings(max_examples=30)
def test_one_drafted_token_makes_the_same_pass_as_under_the_token_rule(laws):
    target, draft = repeated(*laws, 1)
    assert pass_law(RULE, target, draft) == pass_law(TokenRule(), target, draft)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_expected_number_of_tokens_is_exactly_the_known_one(name):
    p, q = rows(FAMILIES[name])
    for block, known in enumerate(FAMILIES[name]["block"][:3], start=1):
        assert expected_tokens(pass_law(RULE, *repeated(p, q, block))) == Fraction(known)
