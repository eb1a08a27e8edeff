"""Economics on the page: what is shown is what the rooms say, digit for digit, and what is stored is found again."""

import json
from dataclasses import replace

import numpy as np
import pytest

from draftproof.economics.costs import pass_seconds, plain_seconds, usual_context
from draftproof.economics.predict import (
    Costs,
    best_length,
    break_even_acceptance,
    break_even_cost_ratio,
    break_even_frontier,
    largest_paying_cost,
    speedup,
    straight_curve,
)
from draftproof.economics.store import record, save
from draftproof.economics.survival import acceptance, survival, tokens_per_pass
from draftproof.errors import UsageError
from draftproof.explorer.demonstrations import (
    ALIKE_BUT_SLOW,
    DRAFT_AGAIN,
    TARGET_AGAIN,
    UNLIKE,
    UNLIKE_BUT_CHEAP,
    shows,
    situation,
)
from draftproof.explorer.laws import PRESETS, preset
from draftproof.explorer.prospect import LONGEST, costs_by_hand, frontier, prospect
from draftproof.explorer.results import laws_of, numbers_of
from draftproof.explorer.shelf import Shelf, measured_costs
from draftproof.explorer.state import State, changed, query_of, state_of
from draftproof.rules.catalogue import CHAIN_RULES
from draftproof.rules.token import expected_acceptance
from draftproof.witness.identity import TOLERANCE
from samples_of_tests import samples

STATES = [
    State(p=p, q=q, draft_cost=cost, row_cost=row, overhead=overhead)
    for p, q in (preset(name, 5) for name in PRESETS)
    for cost, row, overhead in [(0.1, 0.05, 0.05), (0.0, 0.0, 0.0), (0.7, 0.0, 0.3), (2.0, 1.0, 1.0)]
]
SPEC = "tiny:draft"


def seen(state):
    return prospect(state.rule, *laws_of(state), costs_by_hand(state))


@pytest.mark.parametrize("rule", CHAIN_RULES)
@pytest.mark.parametrize("state", STATES)
def test_every_number_is_that_of_the_rooms(rule, state):
    (p, q), found = laws_of(state), seen(replace(state, rule=rule))
    costs = Costs(state.draft_cost, tuple(1.0 + state.row_cost * n for n in range(LONGEST + 1)), state.overhead)
    kept = {length: survival(rule, p, q, length) for length in range(LONGEST + 1)}
    best, fastest = best_length(kept.__getitem__, costs)
    assert found.costs == costs
    assert found.overlap == expected_acceptance(p, q)
    assert found.acceptance == acceptance(rule, p, q)
    assert list(found.speeds) == [speedup(kept[length], costs) for length in range(LONGEST + 1)]
    assert (found.length, found.speedup) == (best, fastest)
    assert found.tokens == tokens_per_pass(kept[best])
    assert found.judged == (best or 1)
    assert found.break_even_cost == break_even_cost_ratio(kept[found.judged], costs)
    assert found.break_even_acceptance == break_even_acceptance(found.judged, costs)
    assert found.paying_cost == largest_paying_cost(kept.__getitem__, costs)
    assert found.paying_acceptance == break_even_frontier([costs.draft], costs)[0]


@pytest.mark.parametrize("rule", CHAIN_RULES)
@pytest.mark.parametrize("state", STATES)
def test_some_length_pays_exactly_if_the_draft_costs_less_than_what_is_said_to_pay(rule, state):
    found = seen(replace(state, rule=rule))
    if abs(found.paying_cost - found.costs.draft) > 1e-12:  # at the border itself a rounding decides
        assert bool(found.length) == (found.costs.draft < found.paying_cost)


def test_the_frontier_is_that_of_the_room_read_the_other_way_round():
    curve = straight_curve(0.05, LONGEST + 1)
    costs, acceptances = zip(*frontier(curve, 0.05)[:-1], strict=True)
    # Bisection halves down to the last bit of an acceptance, which moves the cost by a few last bits.
    assert break_even_frontier(costs, Costs(0.0, curve, 0.05)) == pytest.approx(acceptances, abs=1e-12)


def test_there_is_no_frontier_where_passes_cost_too_much():
    assert frontier(straight_curve(1.0, LONGEST + 1), 1.0) == ()


def test_numbers_on_the_page_are_plain_floats():
    found = seen(State())
    plain = (found.overlap, found.acceptance, *found.speeds, found.tokens, found.break_even_cost, found.paying_cost)
    assert {type(value) for value in plain} == {float}


def test_the_draft_that_agrees_more_loses_to_the_cheaper_one():
    worse, better = seen(situation(UNLIKE_BUT_CHEAP)), seen(situation(ALIKE_BUT_SLOW))
    assert better.overlap > worse.overlap
    assert 1 < better.speedup < worse.speedup


@pytest.mark.parametrize("changes", [UNLIKE, DRAFT_AGAIN, TARGET_AGAIN, UNLIKE_BUT_CHEAP, ALIKE_BUT_SLOW])
def test_a_demonstration_is_a_state_of_the_page_and_has_a_link(changes):
    state = changed(State(p=(1.0, 2.0), q=(2.0, 1.0), rule="match", q_top_k=1), **changes)
    assert shows(state, changes)
    assert state_of(dict(pair.split("=") for pair in query_of(state).split("&") if pair)) == (state, [])
    assert not shows(replace(state, p=(1.0, 2.0), q=(2.0, 1.0), tamper="bonus-from-the-draft"), changes)


def test_the_unlike_draft_loses_nothing_and_both_ways_of_drawing_again_do():
    honest = numbers_of(situation(UNLIKE))
    assert honest.emission.finding.max_deviation <= TOLERANCE
    assert honest.terms.rejected[0] == pytest.approx(0.4)
    for changes in (DRAFT_AGAIN, TARGET_AGAIN):
        assert numbers_of(situation(changes)).emission.finding.max_deviation > 0.1


@pytest.fixture
def stored(tmp_path):
    found = samples(drafters=(SPEC, "gone"), rules=("token", "block"), target=lambda k: 1e-3 * (1 + 0.1 * k), rule=2e-4)
    subject = {
        "target": "tiny:target", "temperature": 0.7, "top_k": 0, "top_p": 1.0, "drafters": [SPEC, "gone"],
        "fingerprints": {SPEC: "another"}, "sizes": {},
    }  # fmt: skip
    measurement = record(found, subject)
    save(measurement, tmp_path)
    return tmp_path, measurement, found


def test_each_pass_costs_on_the_page_what_it_was_measured_to_cost(stored):
    _, measurement, found = stored
    costs, context = measured_costs(measurement, found, SPEC, "token"), usual_context(found, list(found.texts))
    passes = pass_seconds(found, SPEC, "token", context).mean(axis=0) / plain_seconds(found, context).mean()
    mine = [costs.of_pass(np.ones(length)) for length in range(1, LONGEST + 1)]
    assert mine == pytest.approx(list(passes[1:]), rel=1e-12)  # subtracted and added again
    assert costs.draft == measurement.values[f"{SPEC}: draft step / plain token"]


def test_what_is_stored_is_found_with_what_may_no_longer_hold(stored):
    folder, measurement, found = stored
    shelf = Shelf(folder)
    assert set(shelf.stored) == {SPEC, "gone"}
    assert shelf.stored[SPEC].about == "tiny:target at temperature 0.7"
    assert any("other weights" in reason for reason in shelf.stored[SPEC].stale)
    state = changed(State(), measured=SPEC, rule="block")
    assert shelf.costs_of(state).draft == pytest.approx(measured_costs(measurement, found, SPEC, "block").draft)
    assert shelf.costs_of(state) == shelf.stored[SPEC].costs["block"]


def test_a_rule_that_was_not_measured_has_the_costs_of_one_that_was(stored):
    shelf = Shelf(stored[0])
    assert shelf.costs_of(State(measured=SPEC, rule="match")) == shelf.stored[SPEC].costs["token"]


def test_without_a_measurement_the_costs_are_those_set_by_hand(tmp_path):
    (tmp_path / "broken.json").write_text(json.dumps({"schema": 0}))
    for folder in (tmp_path, tmp_path / "none"):
        shelf = Shelf(folder)
        assert not shelf.stored
        assert shelf.costs_of(State(measured="tiny:nowhere")) == costs_by_hand(State())


def test_a_measurement_made_later_is_found_once_it_is_asked_for(tmp_path, stored):
    folder, measurement, _ = stored
    shelf = Shelf(tmp_path / "later")
    save(measurement, tmp_path / "later")
    assert not shelf.stored
    assert shelf.costs_of(State(measured=SPEC)) == Shelf(folder).stored[SPEC].costs["token"]


def test_what_is_measured_is_a_word():
    with pytest.raises(UsageError, match="measured: got 3"):
        changed(State(), measured=3)
