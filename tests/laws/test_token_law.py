"""The shipped token rule, integrated exactly over its uniforms, emits the target's law: Fraction equality."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from conftest import exact_answers, fractions
from draftproof.rules.token import TokenRule
from draftproof.witness.exact import check_rule, first_token_law, pass_law
from laws_of_tests import law_pairs

RULE = TokenRule()
CASES = exact_answers("token_level.json")
TAMPERS = {
    "residual replaced by the target": lambda p, q: p,
    "residual replaced by the draft": lambda p, q: q,
    "residual not clamped": lambda p, q: abs(p - q),
}


def rows(case):
    return fractions(case["p"]), fractions(case["q"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_emitted_law_equals_the_target(case):
    p, q = rows(case)
    assert first_token_law(RULE, p, q) == p.tolist()


@pytest.mark.parametrize("block", [1, 2])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_pass_emits_as_many_tokens_as_predicted(case, block):
    p, q = rows(case)
    law = pass_law(RULE, np.stack([p] * (block + 1)), np.stack([q] * block))
    assert sum(len(emitted) * chance for emitted, chance in law.items()) == Fraction(case["E_tokens"][str(block)])


@pytest.mark.parametrize("case", exact_answers("chain_token_block.json"), ids=lambda case: case["name"])
def test_a_given_draft_is_accepted_as_far_as_predicted(case):
    target, draft = (np.stack([fractions(row) for row in case[name]]) for name in ("p_rows", "q_rows"))
    law = pass_law(RULE, target, draft)
    drawn = np.prod([row[token] for row, token in zip(draft, case["draft"], strict=True)])
    reached = [Fraction(chance) for chance in case["token"]["P_tau"]]
    whole = sum(chance for emitted, chance in law.items() if list(emitted[:-1]) == case["draft"])
    assert whole == drawn * reached[-1]


@given(law_pairs(max_size=4))
@settings(max_examples=40)
def test_any_pair_of_laws_emits_the_target(laws):
    assert first_token_law(RULE, *laws) == laws[0].tolist()


@pytest.mark.parametrize("tamper", TAMPERS)
def test_a_tampered_residual_is_caught(tamper):
    p, q = fractions(["1/2", "3/10", "1/5"]), fractions(["1/5", "3/10", "1/2"])
    finding = check_rule(TokenRule(residual=TAMPERS[tamper]), p, q, tamper)
    assert finding.verdict == "LOSSY"
    assert finding.max_deviation > 0.04


def test_the_redraw_from_the_target_drifts_by_the_known_amount():
    # Law L1 of the public reports: output .35 .39 .26 instead of .5 .3 .2.
    p, q = fractions(["1/2", "3/10", "1/5"]), fractions(["1/5", "3/10", "1/2"])
    law = first_token_law(TokenRule(residual=TAMPERS["residual replaced by the target"]), p, q)
    assert law == [Fraction(35, 100), Fraction(39, 100), Fraction(26, 100)]
