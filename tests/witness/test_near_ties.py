"""Greedy tokens against plain decoding: classes given elsewhere, and the bet on flips."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from draftproof.witness.near_ties import Flips, Match, matched

CASES = json.loads((Path(__file__).parents[1] / "fixtures" / "witness_greedy.json").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['x']}-{case['expected'][0]}-{case['delta']}")
def test_a_token_is_of_its_class(case):
    together = None if case["block"] is None else np.array(case["block"])
    found = matched(case["x"], np.array(case["ref"]), case["delta"], together)
    assert found == (Match(case["expected"][0]), case["expected"][1])


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.3, 0.49])
def test_flips_at_the_rate_of_rounding_win_nothing_on_average(rate):
    mean = 0.0
    for flipped, chance in ((True, rate), (False, 1 - rate)):
        bet = Flips()
        bet.add(flipped=flipped, rate=rate)
        mean += chance * math.exp(bet.log_wealth)
    assert mean == pytest.approx(1, abs=1e-12)


def test_an_engine_that_keeps_every_near_tie_is_found_and_an_honest_one_is_not():
    numbers, lenient, honest = np.random.default_rng(3), Flips(), Flips()
    for _ in range(400):
        lenient.add(flipped=numbers.random() < 0.5, rate=0.02)
        honest.add(flipped=numbers.random() < 0.02, rate=0.02)
    assert lenient.log_wealth > math.log(1e6)
    assert honest.log_wealth < math.log(1e3)
