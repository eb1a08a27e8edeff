"""What speculation adds: an engine that is off in both arms is let go, and one that is off in one is not."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.witness.average_tube import AverageTube, margins
from draftproof.witness.drift import drifts
from draftproof.witness.emitted import Emitted
from draftproof.witness.eprocess import EProcess
from draftproof.witness.examined import examined
from draftproof.witness.experts import EVENTS

ALARM = math.log(1e6)
POOL, SIZE = 200, 32


def draw(rng, laws):
    reached = laws.cumsum(axis=-1)
    return (rng.random((len(laws), 1)) * reached[:, -1:] > reached).sum(axis=-1)


def colder(laws, power):
    raised = laws**power
    return raised / raised.sum(axis=-1, keepdims=True)


def replaced_by_target(p, q):
    shared = np.minimum(p, q)
    return shared + (1 - shared.sum(axis=-1, keepdims=True)) * p


def worlds(seed, count, engine):
    """Tokens of an engine whose numbers are those of laws a little colder than ours."""
    rng = np.random.default_rng(seed)
    p = np.random.default_rng(1).dirichlet(np.full(SIZE, 0.3), POOL).clip(1e-9)
    q = p * np.exp(np.random.default_rng(2).normal(size=p.shape))
    p, q = (law / law.sum(axis=-1, keepdims=True) for law in (p, q))
    places = rng.integers(0, POOL, count)
    p, q = p[places], q[places]
    return Emitted(draw(rng, engine(colder(p, 1.15), q)), p, q)


def control_of(seed, count=20_000):
    state = EProcess()
    state.add(worlds(seed, count, lambda p, q: p))
    return state


def test_an_engine_that_is_off_in_both_arms_is_let_go_and_what_speculation_adds_is_found():
    """Four runs: by 1e-6 + 1e-3 each, any that adds nothing would alarm with probability 0.004 at most."""
    for run in range(4):
        control = control_of(10 + run)
        assert control.highest > ALARM  # against our law alone it would be convicted, with nothing speculated
        told = margins(control, 1e-3)
        same, worse = AverageTube(told), AverageTube(told)
        same.add(worlds(30 + run, 5000, lambda p, q: p))
        worse.add(worlds(50 + run, 5000, replaced_by_target))
        assert same.highest < ALARM < worse.highest
        assert next(iter(worse.suspects())) in {"resid_p|all", "draft_leak|all", "resid_q|all", "over_corr|all"}


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 6), steps=st.sampled_from([1, 2]))
@settings(max_examples=60)
def test_no_bet_wins_on_average_against_an_engine_within_its_margins(seed, size, steps):
    """Every text of one token or two is listed; of two, one may be off by twice the margin if the other is not."""
    rng = np.random.default_rng(seed)
    p, q, other = rng.dirichlet(np.ones(size), 3)
    target = np.repeat(p[None], size, axis=0)
    whole = Emitted(np.arange(size), target, np.repeat(q[None], size, axis=0))
    found = examined(whole, None)[0]
    drift = other @ (found.hits - found.masses) / steps
    told = {f"{event}|all": (max(d, 0.0), max(-d, 0.0)) for event, d in zip(EVENTS, drift, strict=True)}
    one = [AverageTube(told) for _ in range(size)]
    for x in range(size):
        one[x].add(whole[x : x + 1])
    mean = np.tensordot(other, np.exp([bet.logs for bet in one]), axes=1)
    if steps == 2:
        mean *= np.tensordot(p, np.exp([bet.logs for bet in one]), axes=1)
    assert mean.max() <= 1 + 1e-12


def test_a_slot_class_without_a_control_is_not_bet_on_and_one_with_it_is():
    tokens = worlds(3, 400, replaced_by_target)
    bonus = np.arange(400) % 5 == 0
    tokens = Emitted(tokens.tokens, tokens.target, tokens.draft, bonus)
    told = margins(control_of(4, 2000), 1e-3)
    assert {name.partition("|")[2] for name in told} == {"all"}
    state = AverageTube(told)
    state.add(tokens)
    assert not state.logs[1:].any()
    both = AverageTube(told | {"resid_p|bonus": (0.1, 0.1)})
    both.add(tokens)
    assert both.logs[1, EVENTS.index("resid_p")].any()


def test_margins_are_the_control_arms_bounds():
    control = control_of(5, 3000)
    found = drifts(control, 1e-3)
    for name, (more, less) in margins(control, 1e-3).items():
        assert (more, less) == (max(found[name].upper, 0), max(-found[name].lower, 0))
    assert AverageTube({}).log_wealth == 0


def test_states_merge_and_are_saved_and_gone_on_with():
    tokens, told = worlds(6, 900, replaced_by_target), margins(control_of(7, 3000), 1e-3)
    whole, first, second = (AverageTube(told) for _ in range(3))
    trace = whole.add(tokens)
    first.add(tokens[:300])
    second.add(tokens[300:])
    assert first.merged(second).log_wealth == pytest.approx(whole.log_wealth, abs=1e-9)  # sums in another order
    saved = AverageTube.from_json(json.loads(json.dumps(first.to_json())))
    rest = saved.add(tokens[300:])
    assert rest == pytest.approx(trace[300:], abs=1e-9)
    assert (saved.tokens, saved.highest) == (900, pytest.approx(trace.max(), abs=1e-9))
    assert len(saved.add(tokens[:0])) == 0
