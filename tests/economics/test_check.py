"""Predicted against measured: every text is generated once with every setting, and both numbers stand side by side."""

import pytest

from draftproof import ModelDrafter, sampling
from draftproof.economics.check import Generation
from draftproof.economics.forecast import Forecaster, Setting
from draftproof.economics.pair import Pair
from samples_of_tests import samples

PROMPTS = ("In the beginning", "And the king said", "Blessed are", "The wise man", "Hear the word")


@pytest.fixture
def small(pair):
    (target, tokenizer), (draft, _) = pair
    pipeline = sampling(1.0)
    prompts = {"prose": [tokenizer.encode(prompt) for prompt in PROMPTS]}
    return Pair(target, {"draft": ModelDrafter(draft, pipeline)}, ("token", "coupled"), pipeline, prompts, 12)


@pytest.mark.parametrize("rounds", [2, 4, 7])
def test_every_prompt_is_generated_from_once_however_many_rounds_there_are(small, rounds):
    told = []
    generation = Generation(small, (1, 3), rounds, 5, told.append)
    for i in range(rounds):
        generation.round(i)
    assert len(told) == generation.steps == len(PROMPTS)
    assert {len(pairs) for pairs in generation._spent.values()} == {len(PROMPTS)}


def test_a_cell_has_the_forecast_and_what_was_seen(small):
    generation = Generation(small, (1, 3), 1, 5, lambda _: None)
    generation.round(0)
    some = samples(rules=("token", "coupled"))
    cells = generation.cells(some)
    assert [cell.setting for cell in cells] == [
        Setting("draft", rule, length) for rule in ("coupled", "token") for length in (1, 3)
    ]
    for cell in cells:
        said = Forecaster(some).forecast(cell.setting, ["prose"])
        assert (cell.predicted, cell.interval, cell.naive) == (said.speedup, said.interval, said.naive)
        assert cell.measured > 0
        assert cell.error == pytest.approx(cell.predicted / cell.measured - 1)
        assert cell.covered == (cell.interval[0] <= cell.measured <= cell.interval[1])


def test_a_measured_speed_up_is_of_the_seconds_of_both(small):
    generation = Generation(small, (1,), 1, 5, lambda _: None)
    setting = Setting("draft", "token", 1)
    generation._spent = {("prose", setting): [(3.0, 1.0), (1.0, 1.0)]}
    assert generation.cells(samples())[0].measured == 2.0
