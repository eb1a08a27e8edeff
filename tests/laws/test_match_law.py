"""The shipped match rule, integrated exactly: the target's law, and sum p q of the tokens kept."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from conftest import exact_answers, fractions
from draftproof.rules.match import MatchRule
from draftproof.witness.exact import expected_tokens, first_token_law, pass_law
from engines_of_tests import mean, seen_law
from laws_of_tests import blocks, completed, law_pairs, product_of, repeated

RULE = MatchRule()
CASES = exact_answers("token_level.json")
TRAP = fractions(["4/8", "1/8", "3/8"]), fractions(["1/9", "6/9", "2/9"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_emitted_law_equals_the_target(case):
    p, q = fractions(case["p"]), fractions(case["q"])
    assert first_token_law(RULE, p, q) == p.tolist()


@pytest.mark.parametrize("block", [1, 2, 3])
def test_whole_passes_have_the_targets_law_on_the_pair_that_hides_faults_least(block):
    target, draft = repeated(*TRAP, block)
    law = pass_law(RULE, target, draft)
    assert completed(law, target) == product_of(target)
    matched = np.dot(*TRAP)
    assert expected_tokens(law) == sum(matched**i for i in range(block + 1))


@given(law_pairs(max_size=4))
@settings(max_examples=40)
def test_any_pair_emits_the_target_and_matches_as_often_as_two_independent_draws(laws):
    p, q = laws
    law = seen_law(RULE, *repeated(p, q, 1), (), lambda done: (done.emitted[0], len(done.path)))
    assert [law.get((x, 0), 0) + law.get((x, 1), 0) for x in range(len(p))] == p.tolist()
    assert [law.get((x, 1), Fraction(0)) for x in range(len(p))] == (p * q).tolist()


@given(blocks(max_depth=2))
@settings(max_examples=30)
def test_any_block_has_the_targets_law_and_the_expected_acceptance_it_says(rows):
    target, draft = rows
    assert completed(pass_law(RULE, target, draft), target) == product_of(target)
    law = seen_law(RULE, target, draft, (), lambda done: (done.expected_accepted, len(done.path)))
    expected = sum(float(chance) * expected for (expected, _), chance in law.items())
    assert abs(expected - float(mean(law, lambda outcome: outcome[1]))) < 1e-12  # the estimates are floats
