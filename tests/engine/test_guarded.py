import logging

import numpy as np
import pytest

from draftproof.drafters.none import NoDrafter
from draftproof.engine.guarded import Guarded
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.engine.trace import follow
from draftproof.models.table import TableModel
from draftproof.noise import PhiloxNoise
from draftproof.rules.catalogue import CHAIN_RULES, RULES
from draftproof.warpers.pipeline import Pipeline

TARGET = TableModel(lambda _: [0.5, 0.25, 0.25], 3)


class Scripted:
    """A drafter that does what `act` does, given the context."""

    def __init__(self, act, rewind=lambda: None):
        self.act, self.undo, self.begun = act, rewind, 0

    def law(self, context):
        return self.act(context)

    def rewind(self, length):
        self.undo()

    def fresh(self):
        self.begun += 1
        return self


def fail(*_):
    raise RuntimeError("out of paper")


def run(drafter, rule="token"):
    engine = Engine(TARGET, drafter, RULES[rule], Pipeline(), FixedLength(3))
    return follow(engine.decode([0], Stop(12), PhiloxNoise(3)), [0])


@pytest.mark.parametrize(
    "law",
    [
        [float("nan"), 0.5, 0.5], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.5, -0.5, 0.0], [float("inf"), 0.0, 0.0],
        [0.5, 0.5], [0.25, 0.25, 0.25, 0.25], [[0.5, 0.25, 0.25]], [1, 1, 1],
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("rule", CHAIN_RULES)
def test_what_is_no_law_of_the_vocabulary_is_not_drafted_from(law, rule):
    trace = run(Scripted(lambda context: np.array(law)), rule)
    assert [record.drafted for record in trace.passes] == [()] * 12
    assert trace.num_drafter_faults == 11  # the last pass has no room to draft, and asks nobody
    assert len(trace.token_ids) == 12


@pytest.mark.parametrize("rule", CHAIN_RULES)
def test_a_drafter_that_raises_costs_its_drafts_and_nothing_else(rule):
    trace = run(Scripted(fail), rule)
    assert trace.num_draft_tokens == 0
    assert trace.passes[0].fault == "RuntimeError: out of paper"
    assert trace.token_ids == run(NoDrafter(), rule).token_ids


def test_what_was_drawn_before_the_failure_stays_drafted():
    trace = run(Scripted(lambda context: np.array([1, 0, 0]) if len(context) % 2 else fail()))
    assert {len(record.drafted) for record in trace.passes} == {0, 1}
    for record in trace.passes[:-1]:
        assert record.fault == "RuntimeError: out of paper"


def test_there_is_one_warning_however_often_it_fails(caplog):
    with caplog.at_level(logging.WARNING):
        run(Scripted(fail))
    assert [record.getMessage().count("out of paper") for record in caplog.records] == [1]


def test_a_drafter_that_raised_is_begun_anew():
    drafter = Scripted(fail)
    guarded = Guarded(drafter, 3)
    assert guarded.law([0]) is None
    assert drafter.begun == 1
    assert (guarded.take_fault(), guarded.take_fault(), guarded.faults) == ("RuntimeError: out of paper", None, 1)


def test_a_drafter_that_cannot_rewind_or_begin_anew_stops_nothing():
    stubborn = Scripted(lambda context: np.array([1, 0, 0]), rewind=fail)
    stubborn.fresh = fail
    guarded = Guarded(stubborn, 3)
    guarded.rewind(0)
    assert guarded.take_fault() == "RuntimeError: out of paper, and it cannot be begun anew"
    assert guarded.law([0]).tolist() == [1, 0, 0]


def test_an_interruption_is_no_failure():
    def interrupt(context):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Guarded(Scripted(interrupt), 3).law([0])
