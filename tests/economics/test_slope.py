"""How passes grow with the text is found where it shows, is never noise, and never makes a pass cost nothing."""

import numpy as np
import pytest

from draftproof.economics.rehearsal import TimedPass
from draftproof.economics.slope import slope

LENGTHS = (0, 1, 2, 4, 8, 16)


def passes(seconds_of, rng, repeated=13, rounds=4, noise=0.0, busy=0.0):
    """Passes as `measure` times those of a slow model: each length in a row, along texts that grow.

    Of some `busy` share of all passes another program takes as much again.
    """
    found = []
    for _ in range(rounds):
        context = 100
        for drafted in LENGTHS:
            for _ in range(repeated):
                exact = seconds_of(drafted, context)
                taken = exact * (1 + noise * rng.standard_normal() + (rng.random() < busy))
                found.append(TimedPass(drafted, context, (taken,)))
                context = 100 if context > 164 else context + 1 + drafted // 4
    return found


def test_a_slope_is_found_in_spite_of_noise():
    rng = np.random.default_rng(1)
    some = passes(lambda k, context: 0.02 + 0.001 * k + (1e-4 + 1e-5 * k) * context, rng, noise=0.02)
    a, b = slope(some)
    assert a + 4 * b == pytest.approx(1.4e-4, rel=0.2)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("busy", [0.0, 0.05, 0.2])
def test_noise_is_no_slope_or_a_small_one(seed, busy):
    """Of twenty thousand measurements one may show a slope; where programs interfere its effect stays below a fifth."""
    some = passes(lambda k, _: 0.02 + 0.001 * k, np.random.default_rng(seed), noise=0.03, busy=busy)
    a, b = slope(some)
    if not busy:
        assert (a, b) == (0.0, 0.0)
    for drafted in LENGTHS:
        assert (a + b * drafted) * 60 < 0.2 * (0.02 + 0.001 * drafted)


@pytest.mark.parametrize("falls", [(-1e-4, 0.0), (1e-4, -1e-4), (-1e-4, 1e-6)])
def test_more_text_never_costs_less(falls):
    some = passes(lambda k, context: 0.1 + (falls[0] + falls[1] * k) * (context - 130), np.random.default_rng(0))
    assert min(slope(some)) >= 0


def test_drafts_may_grow_dearer_with_the_text_where_plain_passes_do_not():
    some = passes(lambda k, context: 0.1 + (1e-3 * k - 1e-5) * context, np.random.default_rng(0))
    a, b = slope(some)
    assert a == 0
    assert b == pytest.approx(1e-3, rel=0.1)


def test_a_pass_without_text_would_still_take_time():
    some = passes(lambda k, context: max(1e-3, (context - 99) * 1e-3 * (1 + k)), np.random.default_rng(0))
    a, b = slope(some)
    assert a + b > 0
    for drafted in LENGTHS:
        alike = [done for done in some if done.drafted == drafted]
        seconds, context = (np.mean([getattr(done, name) for done in alike]) for name in ("seconds", "context"))
        assert seconds - (a + b * drafted) * context >= -0.1 * seconds  # outliers are pulled in for the slope only
