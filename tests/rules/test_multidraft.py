"""Several drafts for one position: what each rule draws, keeps and leaves, against the fixtures and its definition."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import exact_answers, fractions
from draftproof.rules.base import Place
from draftproof.rules.multidraft import GreedyDraft, KSeq, RecursiveRejection
from draftproof.rules.node import most_probable, without
from engines_of_tests import Given
from laws_of_tests import in_floats, law_pairs

CASES = exact_answers("multi_draft.json")
NODES = [RecursiveRejection(), RecursiveRejection(replacement=True), KSeq(), GreedyDraft()]
JUST_BELOW_ONE = 1 - 2.0**-53


def at(count, accept=0.0, final=0.0, draft=0.0):
    """A place with `count` children whose uniforms are all the same, or given."""
    numbers = [np.full(count, each) if np.isscalar(each) else np.array(each) for each in (accept, draft)]
    return Place(Given(numbers[0], np.array([final]), numbers[1]), 0, 0, tuple(range(count)))


def named(case):
    return f"{case['p']} {case['q']} k={case['k']}"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_rho_is_the_fixtures_to_the_last_bit_of_its_search(case):
    p, q, count, kseq = fractions(case["p"]), fractions(case["q"]), case["k"], case["kseq"]
    used, node = Fraction(kseq["rho_used"]), KSeq(bits=16, exact_bits=16)
    assert node.rho(p, q, count) == used
    # Equal laws need no rho above 1; floats, whose sum may be the number next to 1, may take the first step above.
    assert node.rho(in_floats(p), in_floats(q), count) in {kseq["rho_float"], 1 + (p == q).all() / 2**16}
    chance = np.minimum(q, p / used).sum()
    assert chance == Fraction(kseq["beta"])
    assert float(1 - (1 - chance) ** count) == kseq["accept_float"]
    assert 1 - (1 - np.minimum(q, p / count).sum()) ** count == Fraction(kseq["accept_rho_equals_k"])


@given(law_pairs(), st.integers(1, 4))
def test_rho_is_lossless_and_hardly_above_the_least_one_that_is(laws, count):
    p, q = laws

    def allowed(rho):
        chance = np.minimum(q, p / rho).sum()
        return 1 - (1 - chance) ** count <= rho * chance

    step = Fraction(count - 1, 2**8)
    rho = KSeq(exact_bits=8).rho(p, q, count)
    assert 1 <= rho <= count
    assert allowed(rho)
    assert rho == 1 or not allowed(rho - step)
    # In floats the least rho may be missed by the count-th root of a rounding error, always to the lossless side.
    missed = 2.0 ** (-50 / count)
    assert -missed < rho - KSeq().rho(in_floats(p), in_floats(q), count) <= step


@given(law_pairs(), st.integers(1, 4))
def test_no_residual_of_k_seq_is_negative(laws, count):
    p, q = laws
    rho = KSeq().rho(p, q, count)
    once = np.minimum(q, p / rho)
    chance = once.sum()
    kept = once * ((1 - (1 - chance) ** count) / chance) if chance else once
    assert all(p - kept >= 0)


@pytest.mark.parametrize("node", NODES, ids=repr)
@given(st.data())
def test_what_is_kept_and_what_is_left_make_the_target_in_every_round(node, data):
    p, q = data.draw(law_pairs(max_size=4))
    count = data.draw(st.integers(1, 3))
    uniform = Fraction(2 * data.draw(st.integers(0, 2**10 - 1)) + 1, 2**11)
    place = Place(Given(draft=np.array([uniform] * count, dtype=object)), 0, 0, tuple(range(count)))
    for emitted, wanted in node.rounds(p, q, node.children(q, place)):
        assert emitted.tolist() == wanted.tolist()


@pytest.mark.parametrize("case", CASES, ids=named)
def test_with_one_draft_all_rules_are_the_token_rule(case):
    p, q = fractions(case["p"]), fractions(case["q"])
    for node in NODES:
        for token in np.flatnonzero(q):
            uniforms = [Fraction(2 * i + 1, 128) for i in range(64)]
            kept = [node.choose(p, q, [int(token)], at(1, [uniform])).kept == 0 for uniform in uniforms]
            assert kept == [uniform * q[token] < p[token] for uniform in uniforms]


def test_a_duplicate_costs_a_round():
    # Both drafts are token 1: the second is tested against what the first left, which has no token 1.
    p, q = fractions(["1/2", "1/8", "3/8"]), fractions(["1/9", "2/3", "2/9"])
    rule = RecursiveRejection(replacement=True)
    choice = rule.choose(p, q, [1, 1], at(2, [0.5, 0.0], final=0.93))
    # Left by the first round (7/18, 0, 11/72) / (13/24) = (28/39, 0, 11/39); by the second, less q, (71/117, 0, 7/117).
    assert (choice.kept, choice.token) == (None, 2)
    assert rule.choose(p, q, [1, 1], at(2, [0.5, 0.0], final=0.89)).token == 0
    assert 71 / 78 > 0.89
    assert 71 / 78 < 0.93


def test_without_replacement_a_rejected_token_is_taken_out_of_both_laws():
    # After token 1 is rejected p is (28, 0, 11) / 39 and q (1/3, 0, 2/3): the second draft, 2, stays below 11/26.
    p, q = fractions(["1/2", "1/8", "3/8"]), fractions(["1/9", "2/3", "2/9"])
    rule = RecursiveRejection()
    kept = [rule.choose(p, q, [1, 2], at(2, [0.5, coin])).kept for coin in (0.0, 0.423, 0.4231)]
    assert 0.423 < 11 / 26 < 0.4231
    assert kept == [1, 1, None]
    assert rule.choose(p, q, [1, 2], at(2, [0.5, 0.9], final=JUST_BELOW_ONE)).token == 0


def test_without_replacement_no_token_is_drawn_twice_and_no_more_than_there_are():
    law = np.array([0.5, 0.0, 0.25, 0.25])
    for uniform in (0.0, 0.3, 0.6, JUST_BELOW_ONE):
        drawn = RecursiveRejection().children(law, at(4, draft=uniform))
        assert sorted(drawn) == [0, 2, 3]
    assert RecursiveRejection().children(np.array([0.0, 1.0]), at(3)) == [1]


def test_with_replacement_every_child_has_a_uniform_of_its_own():
    law, uniforms = np.array([0.5, 0.25, 0.25]), [0.6, 0.1, 0.6]
    for node in (RecursiveRejection(replacement=True), KSeq()):
        assert node.children(law, at(3, draft=uniforms)) == [1, 0, 1]


def test_the_greedy_draft_takes_the_most_probable_and_draws_one_of_the_rest():
    law = np.array([0.2, 0.4, 0.1, 0.3])
    rule = GreedyDraft()
    assert rule.children(law, at(1, draft=0.0)) == [0]
    assert rule.children(law, at(2, draft=0.0)) == [1, 0]
    assert rule.children(law, at(3, draft=[0.9, 0.9, 0.0])) == [1, 3, 0]
    assert rule.children(law, at(3, draft=[0.0, 0.0, 0.9])) == [1, 3, 2]
    assert rule.children(law, at(4, draft=0.5)) == [1, 3, 0, 2]
    assert rule.children(np.array([0.0, 0.6, 0.4]), at(4)) == [1, 2]


def test_the_residual_of_a_greedy_draft_may_be_one_of_its_certain_children():
    p, q = np.array([0.6, 0.1, 0.3]), np.array([0.5, 0.3, 0.2])
    rule = GreedyDraft()  # token 0 is certain; of the rest (0.6, 0.4) came token 1, kept below 1/6
    assert rule.choose(p, q, [0, 1], at(2, 0.16)) == (1, 1)
    assert rule.choose(p, q, [0, 1], at(2, 0.17, final=0.0)) == (0, 0)
    assert rule.choose(p, q, [0, 1], at(2, 0.17, final=JUST_BELOW_ONE)) == (0, 0)  # 0.3 < 0.4: nothing else is left


def test_equal_laws_keep_the_first_draft_whatever_the_uniforms():
    p = np.array([0.1, 0.2, 0.7])
    for node in (RecursiveRejection(), RecursiveRejection(replacement=True)):
        assert node.choose(p, p, [0, 2], at(2, JUST_BELOW_ONE)) == (0, 0)
    assert KSeq().choose(p, p, [0, 2], at(2, 1 - 1e-7)) == (0, 0)  # its rho is above 1 by the root of a rounding error


def test_laws_without_a_common_token_keep_nothing():
    p, q = np.array([0.0, 0.0, 0.4, 0.6]), np.array([0.5, 0.5, 0.0, 0.0])
    for node in NODES:
        choices = [node.choose(p, q, [0, 1], at(2, 0.0, final=final)) for final in (0.1, 0.5)]
        assert choices == [(None, 2), (None, 3)]


def test_most_probable_tokens_come_in_order_and_the_lowest_first_among_equals():
    assert most_probable(np.array([0.25, 0.3, 0.25, 0.2]), 3) == [1, 0, 2]
    assert most_probable(np.array([0.0, 1.0, 0.0]), 3) == [1]
    assert most_probable(fractions(["1/4", "1/4", "1/2"]), 2) == [2, 0]


def test_a_law_without_its_only_token_is_empty():
    assert without(np.array([0.0, 1.0]), 1).tolist() == [0.0, 0.0]
    assert without(fractions(["1/2", "1/3", "1/6"]), 0).tolist() == fractions(["0", "2/3", "1/3"]).tolist()
