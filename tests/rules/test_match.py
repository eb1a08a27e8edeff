from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from conftest import fractions
from draftproof.rules.match import MatchRule
from engines_of_tests import Given, verdict_law
from laws_of_tests import blocks, product_of

RULE = MatchRule()


def verify(p, tokens, final):
    p = np.array(p)
    return RULE.verify(
        p, np.full((len(tokens), p.shape[-1]), 1 / p.shape[-1]), np.array(tokens), Given(final=np.array(final))
    )


def test_what_is_emitted_is_the_targets_own_draw_and_goes_on_while_it_was_guessed():
    p = [[0.5, 0.5], [0.25, 0.75], [0.9, 0.1], [0.5, 0.5]]
    verdicts = [
        verify(p, tokens, [0.4, 0.3, 0.8, 0.6]) for tokens in ([0, 1, 0], [0, 1, 1], [0, 0, 0], [1, 1, 0])
    ]  # the target draws 0, 1, 0, 1
    assert [(int(v.accepted), int(v.token)) for v in verdicts] == [(3, 1), (2, 0), (1, 1), (0, 0)]


def test_a_late_match_after_a_miss_does_not_count():
    verdict = verify([[0.5, 0.5]] * 4, [1, 0, 0], [0.1, 0.1, 0.1, 0.9])
    assert (verdict.accepted, verdict.token) == (0, 0)


def test_without_a_draft_the_token_is_drawn_from_the_target():
    p = np.array([[0.25, 0.75]])
    verdict = RULE.verify(p, p[:0], np.zeros(0, np.int64), Given(final=np.array([0.25])))
    assert (verdict.accepted, verdict.token) == (0, 1)


@given(blocks(max_depth=2))
def test_the_draft_has_no_say_in_what_is_emitted(rows):
    target, draft = rows
    for tokens in product(*(np.flatnonzero(row) for row in draft)):
        law = verdict_law(RULE, target, draft, np.array(tokens))
        for text, chance in product_of(target).items():
            guessed = next((i for i, token in enumerate(tokens) if text[i] != token), len(tokens))
            law[guessed, text[guessed]] -= chance
        assert not any(law.values())


@pytest.mark.parametrize("accepted", [0, 1, 2])
def test_it_expects_the_sum_of_p_q_at_each_row_it_came_to(accepted):
    target = np.stack([fractions(row) for row in (["1/2", "1/2"], ["1/4", "3/4"], ["1", "0"])])
    draft = np.stack([fractions(row) for row in (["1/5", "4/5"], ["1/3", "2/3"])])
    rows = [Fraction(1, 2), Fraction(7, 12)]
    assert RULE.expected_accepted(target, draft, np.array([0, 0]), accepted) == float(sum(rows[: accepted + 1]))
