"""What the page shows follows from its state alone: the pure parts, compared with the rooms they ask."""

from fractions import Fraction

import numpy as np
import pytest

from draftproof.engine.stop import Stop
from draftproof.explorer.ancestry import DRAWN, blocks_of, retried, same_draws
from draftproof.explorer.counting import count_of, counted, narrowing
from draftproof.explorer.decision import decision_of
from draftproof.explorer.exactly import exact_laws, exactly
from draftproof.explorer.results import laws_of, numbers_of, subject_of, verdict_of
from draftproof.explorer.state import State, changed
from draftproof.noise import PhiloxNoise
from draftproof.records import Conclusion
from draftproof.redteam.campaign import judge_named
from draftproof.redteam.tampers.catalogue import TAMPERS
from draftproof.rules.catalogue import CHAIN_RULES
from draftproof.witness.flat import PROMPT, flat

TAMPERED = changed(State(), tamper="residual-is-the-target")


@pytest.mark.parametrize("rule", CHAIN_RULES)
def test_a_shipped_rule_is_lossless_on_the_page(rule):
    state = changed(State(), rule=rule)
    numbers = numbers_of(state)
    assert verdict_of(state, numbers, None).verdict is Conclusion.LOSSLESS
    assert np.allclose(numbers.emitted, numbers.p, rtol=0, atol=1e-12)  # the witness' own bound


def test_a_tamper_that_is_seen_nowhere_near_waits_for_all_witnesses():
    name = next(name for name, tamper in TAMPERS.items() if tamper.family == "cache" and not tamper.harmless)
    state = changed(State(), tamper=name)
    numbers = numbers_of(state)
    assert verdict_of(state, numbers, None).verdict is Conclusion.UNDECIDED
    assert verdict_of(state, numbers, judge_named(name)).verdict is Conclusion.LOSSY


def test_a_control_is_lossless_once_all_witnesses_have_spoken():
    name = next(name for name, tamper in TAMPERS.items() if tamper.harmless)
    state = changed(State(), tamper=name)
    assert verdict_of(state, numbers_of(state), judge_named(name)).verdict is Conclusion.LOSSLESS


def test_fractions_are_those_that_are_written():
    p, q = exact_laws(changed(State(), p=(0.1, 0.2, 0.7), q=(1.0, 2.0, 1.0), q_temperature=0.5, p_top_k=2))
    assert p.tolist() == [0, Fraction(2, 9), Fraction(7, 9)]
    assert q.tolist() == [Fraction(1, 6), Fraction(2, 3), Fraction(1, 6)]
    p, _ = exact_laws(changed(State(), p_temperature=0.7))
    assert sum(p) == 1


def test_fractions_prove_the_rule_and_convict_the_tamper():
    assert exactly(State()).finding.verdict is Conclusion.LOSSLESS
    assert exactly(State()).emitted == exactly(State()).p.tolist()
    assert exactly(TAMPERED).finding.verdict is Conclusion.LOSSY


@pytest.mark.parametrize("rule", CHAIN_RULES)
def test_a_decision_is_the_pass_of_the_shipped_engine(rule):
    state = changed(State(), rule=rule, num_speculative_tokens=3, seed=11, draw=5)
    p, q = laws_of(state)
    done = next(flat(CHAIN_RULES[rule], p, q, 3).decode(PROMPT, Stop(4), PhiloxNoise(11, 5)))
    found = decision_of(state)
    assert found.done.emitted == done.emitted
    assert found.difference is None
    assert found.steps[-1].token == done.emitted[-1]


def test_a_tampered_decision_is_told_apart_from_the_rule():
    found = [decision_of(changed(TAMPERED, draw=draw)).difference for draw in range(40)]
    assert any("emits token" in difference for difference in found if difference)
    assert None in found


def test_every_tamper_can_be_stepped_through():
    for name in TAMPERS:
        found = decision_of(changed(State(), tamper=name, num_speculative_tokens=2))
        assert found.done is not None or found.broke, name


def test_counts_go_on_where_they_ended_and_leave_the_band_when_tampered():
    whole = counted(State(), 0, 300)
    assert whole.tolist() == [*counted(State(), 0, 100).tolist(), *counted(State(), 100, 200).tolist()]
    assert count_of(State(), whole).outside == []  # a fixed seed: it either always holds or never
    assert count_of(TAMPERED, counted(TAMPERED, 0, 3000)).outside
    narrow = narrowing(State(), whole)
    assert narrow.draws == [10, 20, 50, 100, 200, 300]
    assert narrow.high == sorted(narrow.high, reverse=True)


def test_an_engine_that_breaks_down_while_counted_says_so(monkeypatch):
    def broken(*arguments):
        raise ZeroDivisionError("no")

    monkeypatch.setattr("draftproof.explorer.counting.first_tokens", broken)
    assert counted(State(), 0, 10) == "ZeroDivisionError: no"


def test_both_samplers_get_the_draws_of_window_4():
    found = same_draws(State())
    for draw in range(DRAWN):
        decision = decision_of(changed(State(), draw=draw))
        assert found.proposals[draw] == decision.done.drafted[0]
        assert found.emitted[draw] == decision.done.emitted[0]
        assert found.kept[draw] == bool(decision.done.path)
    assert not (found.classic & ~found.kept).any()  # 1 / M is at most 1: what it keeps is kept


def test_disjoint_laws_retry_for_ever():
    assert retried(changed(State(), p=(1, 0), q=(0, 1))) is None


def test_a_block_keeps_as_many_as_its_tokens_alone_or_more():
    assert all(
        block >= token - 1e-9 for _, token, block in blocks_of(State())
    )  # the block rule's table is interpolated


def test_the_subject_is_the_tampered_engine():
    assert subject_of(TAMPERED) == TAMPERS["residual-is-the-target"].subject
