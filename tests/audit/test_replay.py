"""A few contexts again and again: what has no name is seen, what is right is bounded.

False alarms: each audit of a right engine alarms with probability 1e-6 at most. Everything is seeded.
"""

import math

import numpy as np
import pytest

from draftproof.audit.kinds import evidence_for
from draftproof.audit.options import NEUTRAL, Options
from draftproof.audit.outcome import Cause
from draftproof.audit.replayed import Replayed
from draftproof.audit.runner import Audit
from draftproof.errors import UsageError
from draftproof.witness.verdict import Limits, Verdict

WIDE = {"batch_size": 128, "max_tokens_total": 40_000, "num_speculative_tokens": 1}


def test_a_drift_in_a_secret_direction_is_seen_where_bets_on_known_faults_see_nothing(audit):
    found, _ = audit("secretly_twisted", replay=(2, 4000), **WIDE)
    assert (found.verdict, found.cause) == (Verdict.DRIFT, Cause.LAW)
    assert "farthest off is token" in found.reason
    assert found.control["log_evidence"] < math.log(1e3)
    missed, _ = audit("secretly_twisted", max_tokens_total=6000)
    assert missed.verdict is Verdict.INCONCLUSIVE


@pytest.mark.slow
def test_a_right_engine_is_bounded_in_any_direction_at_these_contexts(audit):
    found, running = audit("right", replay=(1, 4000), eps=0.25, **WIDE)
    assert (found.verdict, found.status) == (Verdict.LOSSLESS, 0)
    assert found.drift_bound <= 0.25
    assert "4 contexts" in found.reason
    assert running.options.max_tokens == running.options.num_speculative_tokens + 2


def test_it_ends_when_every_prompt_was_asked_so_often_and_its_state_survives_a_file(audit):
    found, running = audit("right", replay=(2, 64), **WIDE)
    assert (found.verdict, found.cause) == (Verdict.INCONCLUSIVE, Cause.MORE)
    assert running.judgement.speculative.completions == 128
    state = running.judgement.speculative.evidence
    assert state.visits.counts.sum() == found.tokens
    again = Replayed.from_json(state.to_json())
    assert again.to_json() == state.to_json()
    assert again.places == state.places


def test_contexts_are_chosen_by_the_law_and_those_at_an_edge_left_out():
    def contexts(**settings):
        running = Audit(Options("draftproof", replay=(4, 10), settings=NEUTRAL | settings))
        return evidence_for(running.options, running.reference, running.requests), running

    plain, running = contexts()
    prompts = [running.requests.prompt(number) for number in range(4)]
    assert set(map(tuple, prompts)) <= set(plain.places)
    assert len(plain.places) == 16
    cut, _ = contexts(top_p=0.9)
    assert (cut.visits.numbers == -1).any()  # tokens that cannot come there
    assert 0 < len(cut.places) <= 16


def test_a_token_that_cannot_come_is_a_proof():
    running = Audit(Options("draftproof", replay=(1, 10), settings=NEUTRAL | {"top_k": 5}))
    evidence = evidence_for(running.options, running.reference, running.requests)
    prompt = running.requests.prompt(0)
    number = evidence.places[tuple(prompt)]
    impossible = int(np.flatnonzero(evidence.visits.numbers[number] == -1)[0])
    evidence.add([running.reference.scored(prompt, [impossible, impossible], None)], running.reference)
    assert evidence.opinion(Limits()).verdict is Verdict.DRIFT
    assert evidence.log_evidence == math.inf


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"replay": (0, 10)}, "got 0"),
        ({"replay": (2, 10**7)}, "1,000,000"),
        ({"replay": (2, 10), "settings": NEUTRAL | {"temperature": 0}}, "temperature 0"),
        ({"replay": (2, 10), "black_box": True}, "choose one"),
        ({"replay": (2, 10), "eta": 1.0, "settings": NEUTRAL | {"top_p": 0.9}}, "rounding may decide"),
        ({"black_box": True, "settings": NEUTRAL | {"temperature": 0}}, "temperature 0"),
    ],
)
def test_what_cannot_be_replayed_is_refused(asked, told):
    with pytest.raises(UsageError, match=told):
        Audit(Options("draftproof", **asked))
