"""Decisions: to speculate and how, or not to, with the reason and what would have to change."""

import pytest

from draftproof.economics.picture import picture_by_hand, picture_measured
from draftproof.economics.plan import ALL, plan_by_hand, plans_measured
from draftproof.economics.predict import Costs, speedup
from draftproof.economics.survival import iid_survival
from draftproof.errors import UsageError
from samples_of_tests import samples, text


def test_by_hand_the_answer_is_that_of_the_paper():
    plan = plan_by_hand([(0.8, Costs(0.1))], "token")
    assert (plan.decision, plan.num_speculative_tokens, plan.rule) == ("speculate", 6, "token")
    assert plan.speedup == pytest.approx((1 - 0.8**7) / (0.2 * 1.6))
    assert plan.interval == (plan.speedup, plan.speedup)


def test_the_better_of_two_drafts_may_be_the_one_that_guesses_worse():
    good_and_dear, poor_and_cheap = (0.85, Costs(0.5)), (0.7, Costs(0.02))
    plan = plan_by_hand([good_and_dear, poor_and_cheap], "token")
    assert plan.drafter == "draft 2"
    assert [one.drafter for one in plan.candidates] == ["draft 2", "draft 1"]


@pytest.mark.parametrize(
    ("acceptance", "costs", "words"),
    [
        (0.3, Costs(0.4), "a draft step below 0.300 plain passes (now 0.400) or an acceptance above 0.400 (now 0.300)"),
        (0.9, Costs(1.2), "a draft step below 0.900 plain passes (now 1.200)"),
        (0.3, Costs(0.1, (1.0, 1.5, 2.0)), "a cheaper draft would not help; an acceptance above"),
        (0.9, Costs(0.1, (1.0, 3.0)), "not even a draft that costs nothing"),
    ],
)
def test_a_refusal_says_what_would_have_to_change(acceptance, costs, words):
    plan = plan_by_hand([(acceptance, costs)], "token")
    assert (plan.decision, plan.num_speculative_tokens, plan.rule) == ("do not speculate", 0, None)
    assert (plan.speedup, plan.interval) == (1.0, (1.0, 1.0))
    assert words in plan.reason
    assert plan.candidates[0].speedup <= 1


@pytest.mark.parametrize(("acceptance", "cost"), [(0.3, 0.4), (0.62, 0.7)])
def test_what_would_have_to_change_is_enough(acceptance, cost):
    best = plan_by_hand([(acceptance, Costs(cost))], "token").candidates[0]
    assert plan_by_hand([(best.break_even_acceptance + 1e-6, Costs(cost))], "token").decision == "speculate"
    assert plan_by_hand([(acceptance, Costs(best.break_even_cost_ratio - 1e-6))], "token").decision == "speculate"
    assert plan_by_hand([(best.break_even_acceptance - 1e-6, Costs(cost))], "token").decision == "do not speculate"


def test_of_the_block_rule_an_acceptance_tells_the_least():
    plan = plan_by_hand([(0.8, Costs(0.1))], "block")
    assert plan.speedup == plan.interval[0] == plan_by_hand([(0.8, Costs(0.1))], "token").speedup
    assert plan.interval[1] > plan.speedup
    assert "at least" in plan.reason


def test_a_best_length_at_the_end_of_the_curve_is_said_to_be():
    plan = plan_by_hand([(0.95, Costs(0.01, (1.0, 1.0, 1.0)))], "token")
    assert plan.num_speculative_tokens == 2
    assert "2 is the longest considered" in plan.reason


def test_a_measured_plan_finds_the_length_that_is_fastest():
    plan = plans_measured(samples(tokens=300))[0]
    known = max(range(1, 17), key=lambda k: speedup(iid_survival(0.7, k), Costs(0.1)))
    assert (plan.decision, plan.drafter, plan.num_speculative_tokens) == ("speculate", "draft", known)
    assert plan.speedup == pytest.approx(speedup(iid_survival(0.7, known), Costs(0.1)), rel=0.01)
    assert plan.candidates[0].cost_ratio == pytest.approx(0.1)
    assert plan.candidates[0].break_even_acceptance == pytest.approx(0.1, abs=1e-6)


def test_each_workload_has_a_plan_of_its_own_and_all_have_one():
    some = samples(workloads=("copy", "noise"), tokens=64)
    some.texts["copy"] = text((0.95,) * 20, 64)
    some.texts["noise"] = text((0.05,) * 20, 64)
    plans = {plan.workload: plan for plan in plans_measured(some)}
    assert list(plans) == [ALL, "copy", "noise"]
    assert plans["copy"].num_speculative_tokens > plans[ALL].num_speculative_tokens > 0
    assert plans["noise"].decision == "do not speculate"
    assert plans["copy"].speedup > plans[ALL].speedup


def test_a_gain_within_the_noise_is_no_reason_to_speculate():
    some = samples((0.2,) * 6, noise=0.05)
    plan = plans_measured(some)[0]
    assert plan.candidates[0].speedup > 1 > plan.candidates[0].interval[0]
    assert plan.decision == "do not speculate"
    assert "interval begins at" in plan.reason


def test_the_measured_break_even_cost_is_where_the_gain_ends():
    best = plans_measured(samples(tokens=600))[0].candidates[0]
    there = plans_measured(samples(tokens=600, draft=best.break_even_cost_ratio * 1e-3))[0]
    same = next(one for one in there.candidates if one.rule == "token")
    assert best.num_speculative_tokens >= same.num_speculative_tokens
    assert same.cost_ratio == pytest.approx(best.break_even_cost_ratio)


def test_only_one_rule_can_be_asked_for():
    some = samples(rules=("token", "block"))
    assert {one.rule for one in plans_measured(some, "block")[0].candidates} == {"block"}
    with pytest.raises(UsageError, match="rule: got 'match'; measured were token, block"):
        plans_measured(some, "match")


def test_a_picture_has_what_the_plan_rests_on():
    some = samples(workloads=("copy", "noise"))
    plans = plans_measured(some)
    picture = picture_measured(plans, some, [])
    assert [len(chart.points) for chart in picture.speed] == [16, 16, 16]
    assert [chart.best for chart in picture.speed] == [plan.candidates[0].num_speculative_tokens for plan in plans]
    assert len(picture.curve.points) == 17
    assert {name for name, _, _ in picture.here} == {"copy", "noise"}
    best = picture.speed[0].points[picture.speed[0].best - 1]
    assert best.value == plans[0].speedup


def test_a_picture_by_hand_shows_the_drafts_in_the_order_given():
    costs = [Costs(0.5), Costs(0.02)]
    plan = plan_by_hand([(0.85, costs[0]), (0.7, costs[1])], "token")
    picture = picture_by_hand(plan, costs)
    assert [chart.subject for chart in picture.speed] == ["draft 1, token", "draft 2, token"]
    assert picture.here == (("draft 1", 0.5, 0.85), ("draft 2", 0.02, 0.7))
    assert picture.speed[0].points[0].value == pytest.approx(1.85 / 1.5)
