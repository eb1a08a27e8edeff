"""Slow models are measured in few passes, quick ones as carefully as ever; both measurements have the same form."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from draftproof import ModelDrafter, sampling
from draftproof.drafters.ngram import NgramDrafter
from draftproof.economics import calibrate as calibrating
from draftproof.economics import measure as measuring
from draftproof.economics.calibrate import calibrate
from draftproof.economics.machine import machine
from draftproof.economics.measure import measure
from draftproof.economics.pace import QUICK, Pace
from draftproof.economics.pair import LONGEST, Pair
from draftproof.economics.policy import Costs
from draftproof.economics.recall import recall
from draftproof.economics.rehearsal import STAGES, plain_seconds
from draftproof.economics.samples import Samples
from draftproof.economics.store import fingerprints, record, save, stale
from draftproof.economics.texts import written
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.rules.token import TokenRule
from samples_of_tests import samples

SLOW = Pace(0.3)
PROMPTS = ("In the beginning", "And the king said", "Blessed are", "The wise man")


def the_pair(pair, drafter, **changes):
    target, tokenizer = pair[0]
    prompts = {"prose": [tokenizer.encode(prompt) for prompt in PROMPTS]}
    return Pair(target, {"draft": drafter}, ("token",), sampling(1.0), prompts, 64, **changes)


def test_quick_passes_come_as_often_as_ever():
    for pace in (QUICK, Pace(0.001), Pace(0.012)):
        assert (pace.repeated, pace.settling, pace.hurried) == (24, 12, False)
        assert pace.lengths == tuple(range(LONGEST + 1))
        assert pace.plain(96) == 96
        assert len(pace.calibration(8, 3)) == 3 * 19


def test_slow_passes_come_three_times_and_the_first_does_not_count():
    assert (SLOW.repeated, SLOW.settling, SLOW.hurried) == (3, 1, True)
    assert SLOW.plain(96) == 12
    assert SLOW.calibration(8, 3) == [0, 0, 0, 1, 1, 2, 2, 4, 4, 8, 8]
    assert SLOW.calibration(3, 3) == [0, 0, 0, 1, 1, 2, 2, 3, 3]


def test_a_round_of_a_model_of_gigabytes_takes_half_a_minute():
    seconds, step = 0.25, 0.09
    passes = SLOW.schedule(SLOW.lengths, silent=False)
    assert sum(seconds * 1.2 + drafted * step for drafted in passes) + SLOW.plain(96) * seconds < 32


def test_passes_over_one_row_come_between_those_of_a_drafter_that_is_silent_at_times():
    assert QUICK.schedule([2, 1], silent=True) == [2, 0] * 12 + [1, 0] * 12
    assert QUICK.schedule([2, 1], silent=False) == [2] * 24 + [1] * 24
    assert SLOW.schedule([2, 1], silent=True) == [2] * 3 + [1] * 3


@pytest.fixture(scope="module")
def hurried(pair):
    patched = pytest.MonkeyPatch()
    patched.setattr(measuring, "_pace", lambda *_: SLOW)
    yield measure(the_pair(pair, NgramDrafter(pair[0].model.vocab_size, 1, 4)), 4, 1)
    patched.undo()


def test_a_measurement_in_a_hurry_has_every_length(hurried):
    seconds = hurried.passes["draft"]["token"].seconds
    assert seconds.shape == (4, LONGEST + 1, len(STAGES))
    assert (seconds[..., STAGES.index("target")] > 0).all()
    nine, eight, twelve = (seconds[:, length] for length in (9, 8, 12))
    assert np.allclose(nine, eight + (twelve - eight) / 4)  # it was not timed, and lies between its neighbours
    assert len(hurried.plain.seconds) == 4


def test_a_measurement_knows_where_a_drafter_was_silent(hurried):
    along = hurried.texts["prose"].along["draft"]
    assert 0 < along.proposed.mean() < 1
    again = Samples.from_json(json.loads(json.dumps(hurried.to_json())))
    assert (again.texts["prose"].along["draft"].reach == along.reach).all()


def test_texts_that_are_written_together_are_those_written_alone(pair):
    subject = the_pair(pair, ModelDrafter(pair[1].model))
    prompts = subject.prompts["prose"]
    together = [text for text, _ in written(subject, prompts, 7, SLOW)]
    assert together == [
        plain_seconds(subject.target, subject.pipeline, prompt, 64, 7 + i)[0] for i, prompt in enumerate(prompts)
    ]
    assert together == [text for text, _ in written(subject, prompts, 7, QUICK)]


@dataclass(frozen=True)
class Counted:
    """A model that counts its passes."""

    model: object
    passes: list

    def __getattr__(self, name):
        return getattr(self.model, name)

    def extend(self, *arguments, **named):
        self.passes.append(1)
        return self.model.extend(*arguments, **named)

    def fresh(self):
        return replace(self, model=self.model.fresh())


def engine(pair, passes):
    target = Counted(pair[0].model, passes)
    return Engine(target, NgramDrafter(target.vocab_size, 1, 4), TokenRule(), sampling(1.0), FixedLength(0))


@pytest.mark.parametrize("batch", [1, 2])
def test_costs_of_slow_passes_are_found_with_few_of_them(pair, monkeypatch, batch):
    monkeypatch.setattr(calibrating, "_pace", lambda *_: SLOW)
    passes = []
    costs = calibrate(engine(pair, passes), [3, 4, 5], most=8, batch=batch)
    assert len(costs.target) == 9
    assert len(passes) <= 12 * batch


def test_costs_that_are_known_are_taken_where_passes_are_slow_and_nowhere_else(pair, monkeypatch):
    known, passes = Costs(0.0, (1.0,)), []
    monkeypatch.setattr(calibrating, "_pace", lambda *_: QUICK)
    assert calibrate(engine(pair, passes), [3, 4, 5], most=2, known=lambda: known) is not known
    monkeypatch.setattr(calibrating, "_pace", lambda *_: SLOW)
    passes.clear()
    assert calibrate(engine(pair, passes), [3, 4, 5], known=lambda: known) is known
    assert not passes


SUBJECT = {
    "target": "tiny:target", "temperature": 1.0, "top_k": 0, "top_p": 1.0, "drafters": ["ngram"], "sizes": {},
    "fingerprints": fingerprints(["tiny:target", "ngram"]),
}  # fmt: skip


def test_a_measurement_that_holds_spares_the_calibration(tmp_path):
    assert recall(tmp_path, SUBJECT, "ngram", "token") is None
    save(record(samples(drafters=("ngram",), target=lambda k: 1e-3 * (k + 1)), SUBJECT), tmp_path)
    costs = recall(tmp_path, SUBJECT, "ngram", "token", most=3)
    assert costs.target == pytest.approx((1e-3, 2e-3, 3e-3, 4e-3))
    assert costs.draft == pytest.approx(1e-4)
    assert recall(tmp_path, SUBJECT, "ngram", "block") is None
    assert recall(tmp_path, SUBJECT | {"temperature": 0.5}, "ngram", "token") is None


def test_a_stale_measurement_spares_nothing(tmp_path):
    old = SUBJECT | {"fingerprints": SUBJECT["fingerprints"] | {"tiny:target": "another"}}
    save(record(samples(drafters=("ngram",)), old), tmp_path)
    assert recall(tmp_path, SUBJECT, "ngram", "token") is None


def test_libraries_and_threads_are_facts_of_the_models_that_run_in_them(monkeypatch):
    assert not {"torch", "llama-cpp-python", "threads"} & set(machine(["tiny:target", "ngram"]))
    assert set(machine()) < set(machine(["hf:somewhere"]))
    assert {"torch", "transformers", "threads", "accelerator"} <= set(machine(["hf:somewhere"]))
    assert "llama-cpp-python" in machine(["tiny:target", "chain:ngram,gguf:x.gguf?threads=2"])
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert machine(["hf:somewhere"])["threads"] == "3"


def test_another_number_of_threads_makes_a_measurement_stale(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    subject = SUBJECT | {"target": "hf:somewhere", "fingerprints": {}}
    found = record(samples(drafters=("ngram",)), subject)
    assert stale(found, {}) == []
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    assert stale(found, {}) == ["threads was '3', here it is '4'"]
