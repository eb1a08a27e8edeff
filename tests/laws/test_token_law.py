"""The shipped token rule, integrated exactly over its uniforms, emits the target's law: Fraction equality."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from conftest import exact_answers, fractions
from draftproof.rules.token import TokenRule
from draftproof.witness.exact import check_rule, expected_tokens, first_token_law, pass_law
from engines_of_tests import Given, mean, seen_law, verdict_law
from laws_of_tests import blocks, completed, law_pairs, product_of, repeated

RULE = TokenRule()
CASES = exact_answers("token_level.json")
CHAINS = exact_answers("chain_token_block.json")
FAMILIES = exact_answers("efficiency_exact.json")
TRAP = fractions(["4/8", "1/8", "3/8"]), fractions(["1/9", "6/9", "2/9"])
TAMPERS = {
    "residual replaced by the target": lambda p, q: p,
    "residual replaced by the draft": lambda p, q: q,
    "residual not clamped": lambda p, q: abs(p - q),
}


def rows(case):
    return fractions(case["p"]), fractions(case["q"])


def test_on_the_grid_of_uniforms_that_a_machine_has_the_acceptance_is_exact():
    # Of 64 uniforms k / 64 exactly 64 p / q lie below p / q: none for a forbidden token, not even 0.
    p, q = fractions(["0", "3/128", "21/128", "104/128"]), fractions(["1/4"] * 4)
    for token, ratio in enumerate((0, 6, 42, 64)):
        grid = [Given(np.array([Fraction(k, 64)]), *[np.array([Fraction(1, 2)])] * 2) for k in range(64)]
        verdicts = [RULE.verify(np.stack([p, p]), q[None], np.array([token]), written) for written in grid]
        assert sum(int(verdict.accepted) for verdict in verdicts) == ratio


def test_it_expects_what_it_keeps_on_the_way_it_came():
    # sum min(p, q) is 11/24 at every row; it came to one more row than it kept drafts, but to no bonus row.
    target, draft = repeated(*TRAP, 2)
    for accepted, rows_tested in ((0, 1), (1, 2), (2, 2)):
        expected = RULE.expected_accepted(target, draft, np.array([0, 0]), accepted)
        assert expected == float(rows_tested * Fraction(11, 24))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_emitted_law_equals_the_target(case):
    p, q = rows(case)
    assert first_token_law(RULE, p, q) == p.tolist()


@pytest.mark.parametrize("block", [1, 2])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_pass_emits_as_many_tokens_as_predicted(case, block):
    law = pass_law(RULE, *repeated(*rows(case), block))
    assert expected_tokens(law) == Fraction(case["E_tokens"][str(block)])


@pytest.mark.parametrize("case", CHAINS, ids=lambda case: case["name"])
def test_a_given_draft_is_accepted_as_far_as_predicted(case):
    target, draft = (np.stack([fractions(row) for row in case[name]]) for name in ("p_rows", "q_rows"))
    law = verdict_law(RULE, target, draft, np.array(case["draft"]))
    for length, chance in enumerate(case["token"]["P_tau"]):
        found = [law.get((length, token), Fraction(0)) for token in range(target.shape[-1])]
        assert sum(found) == Fraction(chance)
        final = fractions(case["token"]["residual"][length]) if length < len(draft) else target[-1]
        assert found == (sum(found) * final).tolist()


@pytest.mark.parametrize("block", [1, 2, 3])
def test_whole_passes_have_the_targets_law_on_the_pair_that_hides_faults_least(block):
    target, draft = repeated(*TRAP, block)
    assert completed(pass_law(RULE, target, draft), target) == product_of(target)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_expected_number_of_tokens_is_exactly_the_known_one(name):
    p, q = rows(FAMILIES[name])
    for block, known in enumerate(FAMILIES[name]["token"][:3], start=1):
        assert expected_tokens(pass_law(RULE, *repeated(p, q, block))) == Fraction(known)


@given(blocks())
@settings(max_examples=30)
def test_any_block_has_the_targets_law_and_the_expected_acceptance_it_says(rows_of_block):
    target, draft = rows_of_block
    assert completed(pass_law(RULE, target, draft), target) == product_of(target)
    law = seen_law(RULE, target, draft, (), lambda done: (done.expected_accepted, len(done.path)))
    expected = sum(float(chance) * expected for (expected, _), chance in law.items())
    assert abs(expected - float(mean(law, lambda outcome: outcome[1]))) < 1e-12  # the estimates are floats


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
