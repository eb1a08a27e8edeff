"""The statistical witness beside a generation: as it comes and afterwards the same, and deaf to the engine's cache.

False alarms: an honest engine would be convicted here with probability 1e-6 at most, each.
"""

from dataclasses import replace

import numpy as np
import pytest

from draftproof.drafters.none import NoDrafter
from draftproof.engine.batch import Request, decode
from draftproof.engine.options import Options
from draftproof.engine.setup import prepare
from draftproof.engine.stop import Stop
from draftproof.noise import PhiloxNoise
from draftproof.redteam.bettable import SETTINGS
from draftproof.redteam.tampers.catalogue import TAMPERS
from draftproof.rules.catalogue import RULES, TREE_RULES
from draftproof.rules.token import TokenRule
from draftproof.witness import stream as streams
from draftproof.witness.case import Case
from draftproof.witness.eprocess import EProcess
from draftproof.witness.stream import Telling, Told, stream
from draftproof.witness.verdict import Limits, Verdict
from draftproof.witness.watch import Watch

PLAIN, CONTROLLED, GREEDY, GRAMMAR = SETTINGS
ROUNDING = 1e-3
"""Float32 laws read in other pieces differ by 1e-6 of each probability; some 50 logarithms of them add up."""


def watched(setting, assemble=lambda engine: engine, texts=2):
    """A watch over some texts of an assembled engine, and how many tokens it was shown."""
    honest = setting.engine(TokenRule())
    watch, count = Watch(honest, setting.prompts[0]), 0
    for number in range(texts):
        for done in assemble(honest).decode(setting.prompts[0], setting.stop, PhiloxNoise(number)):
            watch.add(done, number)
            count += len(done.emitted)
    return watch, count


@pytest.mark.parametrize("rule", ["block", "traversal", "coupled"])
def test_live_and_finished_agree_with_the_finished_text_scored_alone(rule):
    run = prepare(Options("And the king said", rule=rule, tree="2,2" if rule in TREE_RULES else "", max_tokens=48))
    watch = Watch(run.engine, run.prompt)
    passes = list(run.engine.decode(run.prompt, run.stop, run.noise))
    for done in passes:
        watch.add(done)
    alone = EProcess()
    alone.add(stream(run.engine, run.prompt, passes))
    finished, live = watch.finished().state, watch.live.state
    assert finished.tokens == live.tokens == alone.tokens == 48
    assert finished.log_wealth == alone.log_wealth
    assert live.log_wealth == pytest.approx(alone.log_wealth, abs=ROUNDING)
    assert np.abs(live.lr - alone.lr).max() < ROUNDING
    assert np.array_equal(live.slot_tokens, alone.slot_tokens)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_an_honest_engine_is_not_convicted_in_any_setting(setting):
    watch, count = watched(setting)
    assert watch.live.opinion().verdict is not Verdict.DRIFT
    assert watch.finished().opinion().verdict is not Verdict.DRIFT
    assert watch.finished().tokens == watch.live.tokens == count > 0


@pytest.mark.parametrize("name", ["everything-upside-down", "rejected-draft-stays", "one-entry-too-many-trimmed"])
def test_a_wrong_engine_is_convicted_live_and_afterwards_a_wrong_cache_too(name):
    watch, _ = watched(PLAIN, TAMPERS[name].apply, texts=1)
    for found in (watch.live, watch.finished()):
        assert found.opinion().verdict is Verdict.DRIFT
        assert found.to_json()["verdict"] == "DRIFT"


def test_a_text_is_scored_in_parts_as_it_is_at_once(monkeypatch):
    honest, prompt = PLAIN.engine(TokenRule()), PLAIN.prompts[1]
    telling, whole, parts = Telling(), Case(), Case()
    for done in honest.decode(prompt, PLAIN.stop, PhiloxNoise(5)):
        telling.add(done)
    whole.add(honest, prompt, telling.told)
    monkeypatch.setattr(streams, "TOGETHER", 7 * honest.target.vocab_size)
    parts.add(honest, prompt, telling.told)
    assert parts.tokens == whole.tokens == 128
    assert parts.state.log_wealth == pytest.approx(whole.state.log_wealth, abs=1e-9)  # float64, added in other pieces


def test_texts_without_passes_can_be_witnessed_too_and_only_slots_are_unknown():
    honest, prompt = PLAIN.engine(TokenRule()), PLAIN.prompts[0]
    tokens = [token for done in honest.decode(prompt, PLAIN.stop, PhiloxNoise(0)) for token in done.emitted]
    found = Case()
    found.add(honest, prompt, Told(tokens))
    assert list(found.to_json()["slots"]) == ["all"]
    assert found.tokens == 128


def test_several_samples_are_judged_one_after_another(pair):
    run = prepare(Options("And the king said", max_tokens=16, n=3))
    watch, passes = Watch(run.engine, run.prompt), {}
    for _, sample, what in decode([Request(run.engine, run.prompt, run.stop, run.noises)], 3):
        if what is not None:
            watch.add(what, sample)
            passes.setdefault(sample, []).append(what)
    alone = EProcess()
    for sample in range(3):
        alone.add(stream(run.engine, run.prompt, passes[sample]))
    assert watch.live.tokens == 48
    assert watch.finished().state.log_wealth == alone.log_wealth


def test_at_temperature_0_the_verdict_rests_on_every_token_being_the_best():
    watch, count = watched(GREEDY, texts=8)
    found = watch.finished()
    said = found.opinion(Limits(fewest=count, target=0.05))
    assert said.verdict is Verdict.LOSSLESS
    assert "bets are void" in said.reason
    assert said.bound == pytest.approx(np.log(1000) / count)
    assert found.opinion(Limits(fewest=count + 1)).verdict is Verdict.INCONCLUSIVE
    assert found.to_json()["slots"]["all"]["event"] == "not the best"


@pytest.mark.parametrize("setting", [GREEDY, CONTROLLED], ids=lambda setting: setting.name)
def test_a_token_that_could_not_be_is_drift_at_once(setting):
    honest, prompt = setting.engine(TokenRule()), setting.prompts[0]
    found = Case()
    found.add(honest, prompt, Told([0, 1]))  # not the best token; not an allowed one
    said = found.opinion()
    assert said.verdict is Verdict.DRIFT
    assert "token 1 has probability 0" in said.reason
    assert found.to_json()["log_evidence"] == "Infinity"


def test_few_tokens_are_inconclusive_and_how_many_a_bound_takes_is_said():
    watch, _ = watched(PLAIN, texts=1)
    said = watch.finished().opinion()
    assert said.verdict is Verdict.INCONCLUSIVE
    assert said.reason == "128 tokens are too few; 2,000 is the least, and a bound of 2% takes some 19,000"
    nothing = Watch(PLAIN.engine(TokenRule()), PLAIN.prompts[0]).finished()
    assert (nothing.opinion().verdict, nothing.tokens, nothing.opinion().bound) == (Verdict.INCONCLUSIVE, 0, None)


def test_a_drafter_that_fails_costs_bets_and_nothing_else():
    class Failing:
        def law(self, context):
            raise ValueError("no law today")

        def rewind(self, length):
            pass

        def fresh(self):
            return self

    honest, told = PLAIN.engine(TokenRule()), Told([5, 6, 7, 8])
    found = [Case(), Case()]
    for case, drafter in zip(found, (Failing(), NoDrafter()), strict=True):
        case.add(replace(honest, drafter=drafter), PLAIN.prompts[0], told)
    assert found[0].tokens == 4
    assert found[0].state.log_wealth == found[1].state.log_wealth


def test_a_draft_model_whose_context_is_shorter_proposes_nothing_beyond_it():
    honest = PLAIN.engine(TokenRule())
    short = replace(honest, drafter=replace(honest.drafter, model=replace(honest.drafter.model, context_limit=8)))
    found = Case()
    tokens = [token for done in short.decode((3, 1), Stop(32), PhiloxNoise(1)) for token in done.emitted]
    found.add(short, (3, 1), Told(tokens))
    assert found.tokens == 32


def test_every_rule_is_watched_without_an_objection():
    for name, rule in RULES.items():
        honest = replace(PLAIN.engine(rule, (2,) if name in TREE_RULES else ()))
        watch = Watch(honest, (4,))
        for done in honest.decode((4,), Stop(40), PhiloxNoise(9)):
            watch.add(done)
        assert watch.finished().opinion().verdict is Verdict.INCONCLUSIVE, name
