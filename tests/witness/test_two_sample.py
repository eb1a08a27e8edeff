"""Two arms that show nothing but tokens: fair whatever was seen before, quiet where they are alike, loud where not.

The fixture was made by other code whose bins are not on record, so its two logarithms cannot be had again; that of
their mean can, and its completions are told apart by our bins too.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from draftproof.witness.mixture import evenly
from draftproof.witness.two_sample import TwoSample, counted

FIXTURE = json.loads((Path(__file__).parents[1] / "fixtures" / "witness_two_sample.json").read_text())
PAIRS = [*zip(FIXTURE["on"], FIXTURE["off"], FIXTURE["start"], strict=True)]


def fed(pairs, state=None):
    state = state or TwoSample()
    for on, off, start in pairs:
        state.add(on, off, [start])
    return state


def test_wealth_is_the_mean_of_that_of_the_bets():
    expected = FIXTURE["expected"]
    assert evenly(np.array([*expected["final_log_wealth"].values()])) == pytest.approx(expected["mixture"], abs=1e-9)
    state = fed(PAIRS[:60])
    assert math.exp(state.log_wealth) == pytest.approx(np.mean([math.exp(bet.log) for bet in state.bets]), rel=1e-12)


def test_a_faulty_arm_is_told_from_a_plain_one():
    """300 pairs of 12 tokens, of an engine that draws residuals from the draft."""
    assert fed(PAIRS).highest > math.log(1e6)


@pytest.mark.parametrize("seen", [0, 1, 2, 40])
def test_a_pair_and_its_reverse_win_nothing_together(seen):
    """Under the null both come equally often, whatever came before."""
    saved, (on, off, start) = json.dumps(fed(PAIRS[:seen]).to_json()), PAIRS[seen]
    before, *after = (TwoSample.from_json(json.loads(saved)) for _ in range(3))
    turns = zip(((on, off, start), (off, on, start)), after, strict=True)
    both = [[bet.log for bet in fed([pair], state).bets] for pair, state in turns]
    means = np.exp(both).mean(axis=0)
    assert means == pytest.approx(np.exp([bet.log for bet in before.bets]), rel=1e-12)
    assert seen < 40 or not np.allclose(both[0], both[1], atol=1e-3)  # something was at stake


def test_arms_that_are_alike_are_let_be():
    """Of 40 runs with pairs turned at random, 1 in 20 may ever reach 20 : 1: more than 7 come once in 1,000 times."""
    rng = np.random.default_rng(2)
    reached = 0
    for _ in range(40):
        turned = [(off, on, start) if rng.random() < 0.5 else (on, off, start) for on, off, start in PAIRS]
        reached += fed(turned).highest >= math.log(20)
    assert reached <= 7


def test_runs_of_tokens_are_counted():
    assert counted([3, 3, 5], 1, 16).sum() == 3
    assert counted([3, 3, 5], 1, 16).max() >= 2
    assert counted([3, 3, 5], 2, 64).sum() == 2
    assert counted([3], 2, 64).sum() == counted([], 1, 16).sum() == 0
    assert (counted([1, 2], 2, 1024) != counted([2, 1], 2, 1024)).any()
    spread = counted(range(50_000), 1, 256)
    assert spread.max() < 2 * 50_000 / 256  # ids in order do not share bins
    pairs = counted([*range(40)] * 40, 2, 1024)
    assert np.count_nonzero(pairs) > 35  # 40 pairs, few of which meet


def test_a_state_is_saved_and_gone_on_with():
    whole, half = fed(PAIRS[:50]), fed(PAIRS[:20])
    saved = TwoSample.from_json(json.loads(json.dumps(half.to_json())))
    assert fed(PAIRS[20:50], saved).log_wealth == whole.log_wealth
    assert saved.highest == whole.highest
