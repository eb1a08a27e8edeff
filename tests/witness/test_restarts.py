"""A late fault: found by the copies that began late, at the price that their share of the wealth is."""

import json
import math

import numpy as np
import pytest

from draftproof.witness.emitted import Emitted
from draftproof.witness.eprocess import EProcess
from draftproof.witness.restarts import Restarts

SIZE = 6


def tokens(seed, count, fault):
    """Drawn from the target's law, or the draft's."""
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(SIZE), (2, count))
    law = q if fault else p
    reached = law.cumsum(axis=-1)
    return Emitted((rng.random((count, 1)) * reached[:, -1:] > reached).sum(axis=-1), p, q)


def fed(state, emitted, size):
    for first in range(0, len(emitted), size):
        state.add(emitted[first : first + size])
    return state


@pytest.mark.parametrize("size", [1, 5, 100])
def test_each_copy_is_what_a_state_that_began_there_would_be(size):
    """But for the histograms: those of the one state have counts from before, of which a copy makes use."""
    found, emitted = fed(Restarts(), tokens(1, 20, fault=True), size), tokens(1, 20, fault=True)
    assert len(found.starts) == 5  # before the tokens 1, 2, 4, 8, 16
    for j, start in enumerate(found.starts):
        fresh = EProcess()
        fresh.add(emitted[2**j - 1 :])
        for name in ("leg", "lag") if j == 0 else ("leg",):
            assert getattr(found.state, name) - start[name] == pytest.approx(getattr(fresh, name), abs=1e-12)
    shares = [1 / ((j + 1) * (j + 2)) for j in range(5)]
    assert sum(shares) + 1 / 6 == pytest.approx(1, abs=1e-15)


def test_no_wealth_is_made_of_nothing():
    """After the same beginning every next token is tried; over the target's law the wealth stays what it is."""
    beginning = tokens(2, 7, fault=True)
    p, q = np.random.default_rng(3).dirichlet(np.ones(SIZE), (2, 1))
    before = fed(Restarts(), beginning, 3)
    saved, mean = json.dumps(before.to_json()), 0.0
    for x in range(SIZE):
        state = Restarts.from_json(json.loads(saved))
        mean += p[0, x] * math.exp(state.add(Emitted(np.array([x]), p, q)))
    assert math.log(mean) <= before.log_wealth + 1e-12
    assert math.log(mean) == pytest.approx(before.log_wealth, abs=0.02)  # experts without mass everywhere give some up


def test_a_late_fault_is_found_sooner():
    right, wrong = tokens(4, 4095, fault=False), tokens(5, 100, fault=True)
    plain, restarted = (fed(state, right, 1000) for state in (EProcess(), Restarts()))
    assert restarted.highest < math.log(1e3)  # once in a thousand times a correct engine does not pass this
    plain.add(wrong)
    restarted.add(wrong)
    assert plain.log_wealth + 5 < restarted.log_wealth
    assert restarted.highest > math.log(1e6)


def test_a_state_is_saved_and_gone_on_with_and_an_impossible_token_ends_it():
    emitted = tokens(6, 60, fault=True)
    whole = fed(Restarts(), emitted, 60)
    half = fed(Restarts(), emitted[:30], 30)
    half = Restarts.from_json(json.loads(json.dumps(half.to_json())))
    assert half.add(emitted[30:]) == pytest.approx(whole.log_wealth, abs=1e-9)  # sums in another order
    impossible = Emitted(np.array([1, 0]), np.array([[1.0, 0.0], [1.0, 0.0]]))
    state = Restarts()
    assert state.add(impossible) == math.inf
    assert state.state.violation == 1
