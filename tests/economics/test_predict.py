"""Speed-ups in closed form: the theory columns of the first paper, and small cases from public reports."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.economics.predict import (
    Costs,
    best_length,
    break_even_acceptance,
    break_even_cost_ratio,
    break_even_frontier,
    speedup,
    speedup_of_text,
)
from draftproof.economics.survival import iid_survival, tokens_per_pass
from draftproof.errors import UsageError

# Leviathan et al. 2023: (acceptance, K, draft cost, predicted speed-up), rounded there to one digit.
THEORY = [
    (0.75, 7, 0.02, 3.2), (0.80, 7, 0.04, 3.3), (0.82, 7, 0.11, 2.5),
    (0.62, 7, 0.02, 2.3), (0.68, 5, 0.04, 2.4), (0.71, 3, 0.11, 2.0),
    (0.65, 5, 0.02, 2.4), (0.73, 5, 0.04, 2.6), (0.74, 3, 0.11, 2.0),
    (0.53, 5, 0.02, 1.9), (0.55, 3, 0.04, 1.8), (0.56, 3, 0.11, 1.6),
]  # fmt: skip
# The same for a draft that costs nothing: (acceptance, K, speed-up).
FREE = [(0.6, 2, 1.96), (0.7, 3, 2.53), (0.8, 2, 2.44), (0.8, 5, 3.69), (0.9, 2, 2.71), (0.9, 10, 6.86)]


def iid(acceptance):
    return lambda length: iid_survival(acceptance, length)


@pytest.mark.parametrize(("acceptance", "length", "cost", "known"), THEORY)
def test_the_theory_column_of_the_paper_comes_out(acceptance, length, cost, known):
    # Acceptance and costs are printed with two digits, which moves the speed-up by up to 0.1.
    assert speedup(iid_survival(acceptance, length), Costs(cost)) == pytest.approx(known, abs=0.1)


@pytest.mark.parametrize(("acceptance", "length", "known"), FREE)
def test_so_does_its_table_of_free_drafts(acceptance, length, known):
    assert speedup(iid_survival(acceptance, length), Costs(0)) == pytest.approx(known, abs=0.005)


@given(st.floats(0, 0.99), st.floats(0.001, 0.99))
def test_the_best_length_maximises_the_formula_of_the_paper(acceptance, cost):
    def formula(length):
        return (1 - acceptance ** (length + 1)) / ((1 - acceptance) * (length * cost + 1))

    best, speed = best_length(iid(acceptance), Costs(cost))
    assert speed == pytest.approx(max(formula(length) for length in range(257)), rel=1e-9)
    assert speed == pytest.approx(formula(best), rel=1e-9)


@given(st.floats(0, 1), st.floats(0, 2))
def test_some_length_pays_exactly_if_acceptance_exceeds_the_draft_cost(acceptance, cost):
    if abs(acceptance - cost) < 1e-6:
        return
    assert (best_length(iid(acceptance), Costs(cost), shortest=1)[1] > 1) == (acceptance > cost)


def test_break_even_acceptances_are_those_that_a_user_computed():
    costs = Costs(0.596)
    found = [round(break_even_acceptance(length, costs), 3) for length in range(1, 6)]
    assert found == [0.596, 0.701, 0.763, 0.803, 0.832]
    assert best_length(iid(0.813), costs) == (1, pytest.approx(1.136, abs=5e-4))
    assert speedup(iid_survival(0.813, 5), costs) == pytest.approx(0.956, abs=5e-4)


@pytest.mark.parametrize("cost", [1.0, 1.5])
def test_a_draft_as_dear_as_the_target_never_pays(cost):
    assert best_length(iid(0.99), Costs(cost))[0] == 0
    assert all(break_even_acceptance(length, Costs(cost)) is None for length in (1, 2, 5))


@pytest.mark.parametrize(
    ("acceptance", "length", "costs", "known"),
    [
        pytest.param(0.8, 1, Costs(0.05, overhead=1.0), 0.878, id="data shuffled around a tiny draft"),
        pytest.param(0.3, 3, Costs(0, (1, 1.2, 1.3, 1.4)), 1.01, id="a low hit rate limits everything"),
        pytest.param(0.86, 1, Costs(0, (1, 2.2)), 0.845, id="experts hardly overlap"),
        pytest.param(1.0, 1, Costs(0, (1, 5.2)), 2 / 5.2, id="everything accepted at a long context"),
        pytest.param(0.7, 3, Costs(0.53), 2.533 / 2.59, id="a mixture of experts with a large draft"),
    ],
)
def test_losses_from_public_reports_are_foreseen(acceptance, length, costs, known):
    assert speedup(iid_survival(acceptance, length), costs) == pytest.approx(known, abs=6e-3)


def test_a_batch_that_fills_the_machine_leaves_no_gain():
    knee = (1.0,) * 16 + tuple(1 + (n - 16) / 16 for n in range(17, 200))
    alone, crowd = Costs(0.02, knee, batch=1), Costs(0.02, knee, batch=16)
    assert best_length(iid(0.7), alone)[0] > 0
    assert best_length(iid(0.7), crowd)[0] == 0
    crossing = next(b for b in range(1, 17) if best_length(iid(0.7), Costs(0.02, knee, batch=b))[0] == 0)
    assert 8 < crossing <= 16


def test_reading_accepted_tokens_again_after_a_rejection_can_eat_the_gain():
    gain, loss = Costs(0.3, overhead=0.2), Costs(0.3, overhead=0.2, replay=1.0)
    assert best_length(iid(0.7), gain)[0] > 0
    assert best_length(iid(0.7), loss)[0] == 0
    # Nothing is read again where nothing is rejected.
    assert speedup(iid_survival(1.0, 3), gain) == speedup(iid_survival(1.0, 3), loss)


def test_replay_is_expected_over_passes_with_a_rejection():
    a, costs = 0.6, Costs(0.0, replay=0.5)
    rounds = [(a, 2, 0.0), (1 - a, 1, 0.5)]
    assert costs.of_pass(iid_survival(a, 1)) == pytest.approx(
        1 + sum(p * tokens * again for p, tokens, again in rounds)
    )


@pytest.mark.parametrize("cost", [0.05, 0.3])
def test_at_the_break_even_cost_the_speed_is_that_of_plain_decoding(cost):
    kept, curve = iid_survival(0.7, 3), (1.0, 1.1, 1.2, 1.3)
    ratio = break_even_cost_ratio(kept, Costs(cost, curve, overhead=0.1))
    assert speedup(kept, Costs(ratio, curve, overhead=0.1)) == pytest.approx(1, abs=1e-12)


def test_the_frontier_of_a_flat_curve_is_the_draft_cost():
    ratios = [0.0, 0.1, 0.35, 0.8, 1.2]
    found = break_even_frontier(ratios, Costs(0))
    assert found[:4] == pytest.approx(ratios[:4], abs=1e-9)
    assert found[4] is None


def test_the_frontier_of_a_curve_lies_above_it():
    assert break_even_frontier([0.1], Costs(0, (1, 1.3, 1.6)))[0] > 0.3


def test_reading_the_prompt_twice_costs_a_short_text_more():
    short, long = (speedup_of_text(tokens, 2.0, 10.0, 3.0) for tokens in (10, 1000))
    assert short == pytest.approx(20 / 18)
    assert 1.9 < long < 2
    assert speedup_of_text(10, 2.0, 0.0, 0.0) == 2.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"draft": -0.1}, "cost_ratio: got -0.1"),
        ({"draft": float("inf")}, "cost_ratio: got inf"),
        ({"draft": 0.1, "overhead": -1.0}, "overhead: got -1.0"),
        ({"draft": 0.1, "replay": float("nan")}, "replay: got nan"),
        ({"draft": 0.1, "curve": (1.2, 1.3)}, "target_pass_curve: starts with 1.2"),
        ({"draft": 0.1, "curve": (1.0,)}, "target_pass_curve: got 1 entries"),
        ({"draft": 0.1, "curve": (1.0, 0.0)}, "target_pass_curve: got 1,0"),
        ({"draft": 0.1, "curve": (1.0, 1.1, 1.2), "batch": 2}, "target_pass_curve: got 3 entries"),
        ({"draft": 0.1, "batch": 0}, "batch_size: got 0"),
    ],
)
def test_costs_that_cannot_be_are_refused_by_name(arguments, words):
    with pytest.raises(UsageError, match=words):
        Costs(**arguments)


def test_a_length_that_the_curve_does_not_reach_is_refused():
    costs = Costs(0.1, (1.0, 1.1, 1.2))
    assert costs.longest == 2
    assert best_length(iid(0.99), costs)[0] == 2
    with pytest.raises(UsageError, match="4 rows are needed"):
        costs.of_pass(iid_survival(0.5, 3))


def test_plain_decoding_is_the_unit():
    assert speedup([], Costs(0.3, (1.0, 1.5), overhead=9)) == 1
    assert tokens_per_pass([]) == 1
