"""Tallies of first tokens: reproducible, within their bands as often as promised, and out of them under a tamper."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from draftproof.errors import ContractError, UsageError
from draftproof.redteam.tampers.catalogue import TAMPERS
from draftproof.rules.catalogue import RULES
from draftproof.witness.base import Subject
from draftproof.witness.tally import MOST_DRAWS, band, first_tokens, frequencies

P, Q = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.2, 0.25, 0.45, 0.1])
TALLIES, DRAWS, FALSE_ALARM = 20, 200, 0.01
SYNTHETIC = 20_000


def subject(name):
    return Subject(name, RULES[name], (2,) if RULES[name].branches else ())


def strays(seen, law, draws, false_alarm=FALSE_ALARM):
    low, high = band(law, draws, false_alarm)
    return (seen < low) | (seen > high)


def chance(draws, mass, counts):
    """The exact probability that a binomial count is among `counts`."""
    return sum((comb(draws, k) * mass**k * (1 - mass) ** (draws - k) for k in counts), Fraction(0))


@pytest.mark.parametrize("draws", [1, 2, 7, 30, 101])
@pytest.mark.parametrize("false_alarm", ["1/100", "1/20", "2/3"])
@pytest.mark.parametrize("masses", [["1/2", "1/2"], ["7/10", "1/5", "1/10"], ["1/1000", "999/1000"]])
def test_a_band_is_the_narrowest_whose_sides_are_within_the_budget(masses, false_alarm, draws):
    low, high = band(np.array([Fraction(mass) for mass in masses], dtype=object), draws, float(Fraction(false_alarm)))
    each = Fraction(false_alarm) / (2 * len(masses))
    for mass, fewest, most in zip(map(Fraction, masses), np.rint(low * draws), np.rint(high * draws), strict=True):
        assert chance(draws, mass, range(int(fewest))) <= each < chance(draws, mass, range(int(fewest) + 1))
        assert chance(draws, mass, range(int(most) + 1, draws + 1)) <= each
        assert each < chance(draws, mass, range(int(most), draws + 1))


def test_all_tokens_together_stray_no_more_often_than_the_budget_by_exact_sums():
    law, draws, budget = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)], 12, Fraction(1, 20)
    low, high = (np.rint(side * draws) for side in band(np.array(law, dtype=object), draws, float(budget)))
    outside = Fraction(0)
    for i in range(draws + 1):
        for j in range(draws + 1 - i):
            counts = (i, j, draws - i - j)
            if any(not low[x] <= counts[x] <= high[x] for x in range(3)):
                ways = comb(draws, i) * comb(draws - i, j)
                outside += ways * law[0] ** counts[0] * law[1] ** counts[1] * law[2] ** counts[2]
    assert 0 < outside <= budget


def test_tokens_without_a_choice_have_none_in_the_band():
    low, high = band(np.array([0.0, 1.0, 0.0]), 100)
    assert low.tolist() == high.tolist() == [0, 1, 0]
    low, high = band(P, 100)
    assert (low[3], high[3]) == (0, 0)


def test_the_widest_tally_has_a_band_of_the_width_of_the_normal_law():
    low, high = band(np.array([0.5, 0.5]), MOST_DRAWS, 0.01)
    assert np.allclose(low + high, 1, rtol=0, atol=1e-15)  # two roundings to 53 bits
    assert 2.80 < (high[0] - 0.5) / (0.5 / MOST_DRAWS**0.5) < 2.82  # 2.8070 is the normal quantile of 1 - 0.01 / 4


@pytest.mark.parametrize("settings", [(P, 0), (P, MOST_DRAWS + 1), (P, 10, 0.0), (P, 10, 1.0)])
def test_a_number_out_of_range_is_refused(settings):
    with pytest.raises(UsageError, match="allowed"):
        band(*settings)


def test_what_is_no_law_has_no_band():
    with pytest.raises(ContractError, match="is no law"):
        band(np.array([0.5, 0.6]), 10)


def test_frequencies_are_those_of_the_first_draws():
    tokens = np.array([0, 2, 2, 1, 0, 0])
    seen = frequencies(tokens, 4, [1, 3, 6])
    assert seen.tolist() == [[1, 0, 0, 0], [1 / 3, 0, 2 / 3, 0], [1 / 2, 1 / 6, 1 / 3, 0]]
    assert frequencies(tokens, 4, []).shape == (0, 4)
    for at in ([0], [7]):
        with pytest.raises(UsageError, match="1 to the 6"):
            frequencies(tokens, 4, at)
    with pytest.raises(ContractError, match="token 2"):
        frequencies(tokens, 2, [6])


@pytest.mark.parametrize("name", RULES)
def test_a_tally_is_the_same_again_and_goes_on_where_it_ended(name):
    whole = first_tokens(subject(name), P, Q, 2, 5, 0, 300)
    assert first_tokens(subject(name), P, Q, 2, 5, 0, 100).tolist() == whole[:100].tolist()
    assert first_tokens(subject(name), P, Q, 2, 5, 100, 200).tolist() == whole[100:].tolist()
    assert first_tokens(subject(name), P, Q, 2, 6, 0, 300).tolist() != whole.tolist()
    assert first_tokens(subject(name), P, Q, 2, 5, 0, 0).tolist() == []
    assert not strays(
        frequencies(whole, 4, [300])[0], P, 300, 1e-3
    ).any()  # 12 rules: 1 in 83 if the seed were not fixed


def test_counts_of_the_law_itself_leave_the_band_within_the_budget():
    # Of 20,000 tallies, each straying with chance at most 0.01, more than 260 do with chance 2e-5 (the seed is fixed).
    counts = np.random.Generator(np.random.Philox(0)).multinomial(DRAWS, P, size=SYNTHETIC)
    low, high = band(P, DRAWS, FALSE_ALARM)
    strayed = ((counts / DRAWS < low) | (counts / DRAWS > high)).any(axis=1).sum()
    assert 40 < strayed <= 260  # and it is no band that nothing leaves


@pytest.mark.parametrize("name", ["token", "block", "match", "coupled"])
def test_an_honest_engine_leaves_the_band_within_the_budget(name):
    # Of 20 tallies, each straying with chance at most 0.01, more than 2 do with chance 1e-3 (the seed is fixed).
    tokens = first_tokens(subject(name), P, Q, 1, 11, 0, TALLIES * DRAWS).reshape(TALLIES, DRAWS)
    strayed = [strays(frequencies(tally, 4, [DRAWS])[0], P, DRAWS).any() for tally in tokens]
    assert sum(strayed) <= 2


def test_a_tampered_engine_leaves_the_band():
    tampered = TAMPERS["residual-is-the-target"].subject
    tokens = first_tokens(tampered, P, Q, 1, 3, 0, 10_000)
    assert strays(frequencies(tokens, 4, [10_000])[0], P, 10_000, 1e-9).any()


@dataclass(frozen=True)
class Silent:
    engine: object

    def decode(self, prompt, stop, noise):
        for done in self.engine.decode(prompt, stop, noise):
            yield replace(done, emitted=())


def test_a_tally_without_drafts_is_refused():
    with pytest.raises(UsageError, match="length: got 0"):
        first_tokens(subject("token"), P, Q, 0, 0, 0, 1)


def test_an_engine_that_emits_nothing_is_named():
    with pytest.raises(ContractError, match="sequence 4 emitted nothing"):
        first_tokens(Subject("silent", RULES["token"], (), Silent), P, Q, 1, 0, 4, 2)
