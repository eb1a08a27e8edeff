"""Forecasts from samples whose truth is known, and their intervals, which must hold as often as they say."""

from dataclasses import replace

import numpy as np
import pytest

from draftproof.economics.along import Along
from draftproof.economics.forecast import Forecaster, Setting
from draftproof.economics.pair import LONGEST
from draftproof.economics.samples import Rounds, Samples
from draftproof.economics.survival import iid_survival, tokens_per_pass
from samples_of_tests import samples


def forecast(some, rule="token", length=3, workloads=()):
    return Forecaster(some).forecast(Setting("draft", rule, length), workloads)


@pytest.mark.parametrize("length", [1, 3, 8])
def test_where_acceptance_is_independent_the_formula_comes_out(length):
    found = forecast(samples(tokens=3000, rule=2e-4), length=length)
    tokens = tokens_per_pass(iid_survival(0.7, length))
    known = tokens / (1 + 0.1 * length + 0.2)
    # Of 3000 tokens the last pass alone is shorter than the others.
    assert found.tokens_per_pass == pytest.approx(tokens, rel=2e-3)
    assert found.speedup == pytest.approx(known, rel=3e-3)
    assert found.naive == pytest.approx(known, rel=1e-9)
    assert found.survival == pytest.approx(iid_survival(0.7, length), rel=1e-9)
    assert found.acceptance == pytest.approx(0.7)


def test_where_acceptance_comes_in_runs_the_formula_is_wrong_and_the_forecast_is_not():
    some = samples(tokens=2000)
    along = some.texts["prose"].along["draft"]
    easy = np.arange(2000) % 20 < 10
    runs = Along(along.target, np.where(easy, along.target, 0.0)[[0] * 4], along.coupled, along.reach)
    some.texts["prose"].along["draft"] = runs
    found = forecast(some, length=4)
    # By hand: of 20 tokens ten are kept in two blocks of 4 with their bonus, ten each take a pass.
    assert found.tokens_per_pass == pytest.approx(20 / 12, rel=0.01)
    assert found.naive == pytest.approx(tokens_per_pass(iid_survival(0.5, 4)) / 1.4, rel=1e-6)
    assert found.speedup < found.naive


def test_a_longer_context_costs_more_where_it_was_seen_to():
    flat, some = samples(), samples()
    steep = some.passes["draft"]["token"]
    some.passes["draft"]["token"] = replace(steep, slope=(1e-6, 1e-7))
    text = some.texts["prose"]
    some.texts["prose"] = replace(text, prompts=text.prompts + 500)
    assert forecast(some).speedup < 0.8 * forecast(flat).speedup


def test_the_prompt_that_the_draft_reads_counts():
    some = samples()
    text = some.texts["prose"]
    some.texts["prose"] = replace(text, draft_first={"draft": np.full(4, 0.03)})
    slower, faster = forecast(some), forecast(samples())
    spent = 64e-3 / faster.speedup
    assert slower.speedup == pytest.approx(64e-3 / (spent + 0.03 - 1e-4), rel=1e-6)


def test_rules_that_share_stages_are_measured_together_and_coupled_apart():
    some = samples(rules=("token", "block", "coupled"))
    slow = some.passes["draft"]["coupled"]
    some.passes["draft"]["coupled"] = replace(slow, seconds=slow.seconds * 3)
    other = some.passes["draft"]["block"]
    some.passes["draft"]["block"] = replace(other, seconds=other.seconds * 1.2)
    assert forecast(some).speedup == pytest.approx(forecast(samples()).speedup / 1.1, rel=0.01)
    assert forecast(some, "coupled").speedup < 0.4 * forecast(samples()).speedup


def test_the_interval_grows_with_the_noise_and_holds_the_forecast():
    quiet, loud = forecast(samples((0.7,) * 24, noise=0.001)), forecast(samples((0.7,) * 24, noise=0.1))
    widths = [one.interval[1] - one.interval[0] for one in (quiet, loud)]
    assert widths[0] < widths[1]
    for one in (quiet, loud):
        assert one.interval[0] < one.speedup < one.interval[1]


@pytest.mark.parametrize("acceptance", [0.0, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("length", [1, 7, 16])
def test_where_little_is_left_to_luck_there_is_still_an_interval(acceptance, length):
    found = forecast(samples((acceptance,) * 5, noise=0.01), length=length)
    assert 0 < found.interval[0] < found.speedup < found.interval[1] < 20


def test_different_texts_widen_the_interval():
    even, uneven = forecast(samples((0.7,) * 6)), forecast(samples((0.2, 0.95) * 3))
    assert uneven.interval[1] - uneven.interval[0] > 1.5 * (even.interval[1] - even.interval[0])


def world(rng, texts=10, rounds=10):
    """A measurement drawn from a world with noisy rounds and texts of different acceptance, and its log speed-up."""
    some = samples(rng.uniform(0.5, 0.9, texts), rules=("token",), count=rounds)
    drift = 1 + 0.05 * rng.standard_normal(rounds)
    base = some.passes["draft"]["token"]
    some.passes["draft"]["token"] = replace(base, seconds=base.seconds * drift[:, None, None])
    return Samples(some.tokens, Rounds(some.plain.seconds, some.plain.contexts, (0.0, 0.0)), some.passes, some.texts)


def run_of(some, rng, length=3):
    """The speed-up of a run: its own rounds and texts, and the passes that happened to be."""
    found = Forecaster(some)
    passes, _ = found._passes(Setting("draft", "token", length), "prose")
    counts = passes.by_length.sum(axis=1) + rng.standard_normal(len(passes.by_length)) * passes.variance**0.5
    costs = some.passes["draft"]["token"].seconds[:, length].sum(axis=-1).mean()
    return some.tokens * len(counts) * 1e-3 / (counts.sum() * costs)


def test_the_interval_of_another_run_holds_nine_times_in_ten():
    rng = np.random.default_rng(7)
    held = []
    for _ in range(200):
        low, high = forecast(world(rng)).interval
        held.append(low <= run_of(world(rng), rng) <= high)
    # Of 200 at 90 % the standard deviation is 4.2; the bootstrap of ten texts is known to be a little narrow.
    assert 166 <= sum(held) <= 196


def test_half_the_interval_would_not_hold():
    rng = np.random.default_rng(7)
    held = []
    for _ in range(200):
        found = forecast(world(rng))
        low, high = ((found.speedup + end) / 2 for end in found.interval)
        held.append(low <= run_of(world(rng), rng) <= high)
    assert sum(held) < 150


def test_every_measured_length_has_a_forecast():
    assert forecast(samples(), length=LONGEST).speedup < forecast(samples(), length=4).speedup


def test_steady_rows_read_a_prompt_at_their_own_speed():
    some = samples(rules=("token", "coupled"))
    text = some.texts["prose"]
    some.texts["prose"] = replace(text, steady_first=np.full(4, 0.03))
    assert forecast(some, "token").speedup == pytest.approx(forecast(samples()).speedup)
    assert forecast(some, "coupled").speedup < 0.7 * forecast(samples()).speedup
