"""The adaptive draft length: never far behind the best fixed length in hindsight, and never much slower than plain.

Texts are simulated from known acceptances and costs with constant seeds, so the bounds hold on every run or on none:
there is no false alarm to allow for. Reached: 4 % behind at most and 1.1 % on average over steady texts of 400 and 2000
tokens, ahead of every fixed length where the text changes; over 128 tokens 7.8 % at most and 2.3 % on average, of which
a part is the end of the text, where passes are shorter than those of the endless text that is compared with.
"""

import random
from itertools import pairwise, product
from statistics import fmean

import pytest

from draftproof.drafters.none import NoDrafter
from draftproof.economics.calibrate import calibrate
from draftproof.economics.policy import Adaptive, Costs
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.errors import UsageError
from draftproof.models.table import TableModel
from draftproof.rules.token import TokenRule
from draftproof.warpers.pipeline import Pipeline

MOST, DRAWS = 8, random.Random
JAGGED = (1.0, 1.22, 1.28, 1.25, 1.38, 1.45, 1.55, 1.6, 1.7)
"""Passes of the embedded target over 1 to 9 rows, measured between other passes."""
COSTS = {
    "the embedded pair": Costs(0.1, JAGGED, (0.0, *[0.08] * MOST)),
    "its target, and a draft from the text": Costs(0.0, JAGGED, (0.0, *[0.02] * MOST)),
    "many rows cost nothing more": Costs(0.05, (1.0,) * (MOST + 1), (0.0, *[0.03] * MOST)),
    "rows and drafts are dear": Costs(0.2, tuple(1 + 0.25 * more for more in range(MOST + 1))),
    "a draft of half the target": Costs(0.6, (1.0, *[1.25] * MOST)),
    "a large batch": Costs(0.0, tuple(1 + 0.8 * more for more in range(MOST + 1))),
    "all is nearly free": Costs(0.01, (1.0,) * (MOST + 1)),
}


def always(chance):
    return [chance] * MOST


LATER_SURER = [0.4, 0.6, 0.8, *[0.95] * (MOST - 3)]
# Parts of a text: its share, the chance of each position given that the ones before were kept, the chance that the
# drafter has a first token, and each further one.
STEADY = {
    **{f"{chance} everywhere": [(1, always(chance), 1, 1)] for chance in (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0)},
    "falling": [(1, [0.95 * 0.8**i for i in range(MOST)], 1, 1)],
    "falling slowly": [(1, [0.9 * 0.95**i for i in range(MOST)], 1, 1)],
    "rising": [(1, LATER_SURER, 1, 1)],
    "a cliff after three": [(1, [*[0.9] * 3, *[0.0] * (MOST - 3)], 1, 1)],
    "often silent and always wrong": [(1, always(0.0), 0.3, 0.9)],
    "often silent and good": [(1, [*LATER_SURER[1:], 0.95], 0.3, 0.9)],
    "hardly ever speaking": [(1, always(0.5), 0.1, 0.7)],
}
CHANGING = {
    "bad, then good": [(0.5, always(0.0), 1, 1), (0.5, always(0.9), 1, 1)],
    "good, then bad": [(0.5, always(0.9), 1, 1), (0.5, always(0.0), 1, 1)],
    "four moods": [(0.25, always(chance), 1, 1) for chance in (0.9, 0.3, 0.7, 0.0)],
}
EVERY = {**STEADY, **CHANGING}


def fixed(costs, text, length):
    """Seconds a token of a fixed length, exactly, in a text without an end."""
    total = 0.0
    for share, chances, first, further in text:
        tokens, seconds, kept, drafted = 1.0, costs.of_pass(0), 1.0, 1.0
        for i in range(length):
            speaks = further if i else first
            drafted, kept = drafted * speaks, kept * speaks * chances[i]
            tokens, seconds = tokens + kept, seconds + drafted * (costs.of_pass(i + 1) - costs.of_pass(i))
        total += share * seconds / tokens
    return total


def simulated(length, costs, text, tokens, seed):
    """Seconds a token of one text; `length` is asked as by the engine."""
    draws, lengths, emitted, seconds = DRAWS(seed), length.begin(), 0, 0.0
    while emitted < tokens:
        part, end = 0, text[0][0]
        while emitted >= end * tokens and part + 1 < len(text):
            part += 1
            end += text[part][0]
        _, chances, first, further = text[part]
        wanted = min(lengths.next(emitted), tokens - emitted - 1)
        drafted = accepted = 0
        while drafted < wanted and draws.random() < (further if drafted else first):
            drafted += 1
        while accepted < drafted and draws.random() < chances[accepted]:
            accepted += 1
        lengths.learn(drafted, accepted)
        seconds, emitted = seconds + costs.of_pass(drafted), emitted + accepted + 1
    return seconds / emitted


def behind(costs, text, tokens, seeds):
    """How much longer a token takes on average than with the best fixed length in hindsight."""
    best = min(fixed(costs, text, length) for length in range(MOST + 1))
    return fmean(simulated(Adaptive(costs, MOST), costs, text, tokens, seed) for seed in range(seeds)) / best - 1


@pytest.mark.parametrize("costs", COSTS)
def test_it_falls_at_most_5_percent_behind_the_best_fixed_length_in_400_and_2000_tokens(costs):
    found = {name: behind(COSTS[costs], text, 400, 12) for name, text in EVERY.items()}
    found |= {f"{name}, long": behind(COSTS[costs], text, 2000, 2) for name, text in EVERY.items()}
    assert max(found.values()) <= 0.05, found
    assert fmean(found.values()) <= 0.02, found


def test_in_128_tokens_it_falls_at_most_8_percent_behind_and_3_on_average():
    found = {(c, name): behind(COSTS[c], text, 128, 20) for c, (name, text) in product(COSTS, STEADY.items())}
    assert max(found.values()) <= 0.08, found
    assert fmean(found.values()) <= 0.03, found


@pytest.mark.parametrize("text", ["0.0 everywhere", "often silent and always wrong"])
@pytest.mark.parametrize("costs", COSTS)
def test_where_nothing_is_kept_128_tokens_take_at_most_5_percent_longer_than_plain(costs, text):
    assert behind(COSTS[costs], STEADY[text], 128, 20) <= 0.05


def test_where_a_text_changes_it_is_faster_than_every_fixed_length():
    pair = COSTS["the embedded pair"]
    assert all(behind(pair, text, 400, 20) < 0 for text in CHANGING.values())


def test_the_simulation_finds_the_exact_seconds_of_fixed_lengths():
    # Without this the bounds above could come from a mistake that favours whatever is simulated. 3 %: three standard
    # errors of the 3,300 passes, of one to nine tokens each, that 20,000 tokens take at the most varied setting.
    costs = COSTS["the embedded pair"]
    for text, length in product(STEADY.values(), (0, 1, 3, MOST)):
        assert simulated(FixedLength(length), costs, text, 20_000, 1) == pytest.approx(fixed(costs, text, length), 0.03)


def test_a_policy_that_never_adapts_fails_these_bounds():
    costs = COSTS["the embedded pair"]
    best = {name: min(fixed(costs, text, k) for k in range(MOST + 1)) for name, text in EVERY.items()}
    for length in range(MOST + 1):
        assert max(fixed(costs, text, length) / best[name] - 1 for name, text in EVERY.items()) > 0.05


def test_where_not_even_a_perfect_draft_pays_nothing_is_ever_drafted():
    lengths = Adaptive(Costs(1.0, (1.0,) * 9)).begin()
    drafted = []
    for emitted in range(500):
        drafted.append(lengths.next(emitted))
        lengths.learn(drafted[-1], drafted[-1])
    assert set(drafted) == {0}


def plain_passes_between(drafted):
    """How many zeros there are between the others."""
    words = "".join("0" if length == 0 else " " for length in drafted).split()
    return [len(word) for word in words]


def test_after_each_failed_try_it_rests_twice_as_long_up_to_64_passes():
    lengths = Adaptive(COSTS["its target, and a draft from the text"]).begin()
    drafted = []
    for emitted in range(400):
        drafted.append(lengths.next(emitted))
        lengths.learn(drafted[-1], 0)
    first = plain_passes_between(drafted)[0]
    assert first >= 4
    rests = plain_passes_between(drafted)[:-1]
    assert all(later >= earlier for earlier, later in pairwise(rests))
    assert max(rests) == 64


def test_plain_decoding_is_left_again_when_drafts_become_good():
    lengths = Adaptive(COSTS["the embedded pair"]).begin()
    for emitted in range(300):
        lengths.learn(lengths.next(emitted), 0)
    chosen = []
    for emitted in range(100):
        chosen.append(lengths.next(emitted))
        lengths.learn(chosen[-1], chosen[-1])
    assert chosen[-1] == MOST


def test_a_silent_drafter_is_asked_in_every_pass_because_silence_costs_nothing():
    lengths = Adaptive(COSTS["its target, and a draft from the text"]).begin()
    for emitted in range(200):
        assert lengths.next(emitted) > 0
        lengths.learn(0, 0)


def test_every_change_is_explained_and_nothing_else():
    draws, lengths, before = DRAWS(3), Adaptive(COSTS["the embedded pair"]).begin(), None
    seen = set()
    for emitted in range(600):
        length = lengths.next(emitted)
        changed = before is not None and length != before
        assert (lengths.why is not None) == (changed or before is None)
        if before is None:
            assert lengths.why.startswith(f"{length} to begin with: ")
        if changed:
            assert lengths.why.startswith(f"{before} -> {length}: ")
            seen.add(lengths.why.split(": ")[1].split()[0])
        accepted = 0
        while accepted < length and draws.random() < (0.9 if emitted < 200 or emitted > 500 else 0.1):
            accepted += 1
        lengths.learn(length, accepted)
        before = length
    assert seen == {"positions", "a"}  # by what was kept; "a try", and the rest after it


def test_the_same_past_leads_to_the_same_choices():
    length = Adaptive(COSTS["the embedded pair"])
    one, other = length.begin(), length.begin()
    draws = DRAWS(0)
    for emitted in range(200):
        chosen = one.next(emitted)
        assert other.next(emitted) == chosen
        accepted = draws.randint(0, chosen)
        one.learn(chosen, accepted)
        other.learn(chosen, accepted)
        assert one.why == other.why


def test_a_text_of_a_batch_bears_its_part_of_the_rows():
    costs = Costs(0.5, (8.0, 8.0, 8.0, 8.0, 9.0, 10.0), (0.25, 1.0), batch=2)
    assert costs.of_pass(0) == 8.0 / 2 + 0.25  # two rows
    assert costs.of_pass(2) == 1.0 + 10.0 / 2 + 1.0  # six rows
    assert costs.of_pass(5) == 2.5 + 20.0 / 2 + 1.0  # twelve: twice as many as were measured


@pytest.mark.parametrize(
    ("arguments", "setting"),
    [
        ((-1.0, (1.0,)), "draft"),
        ((0.0, ()), "target"),
        ((0.0, (1.0, 0.0)), "target"),
        ((0.0, (1.0,), ()), "own"),
        ((0.0, (1.0,), (float("nan"),)), "own"),
        ((0.0, (1.0,), (0.0,), 0), "batch"),
    ],
)
def test_costs_that_cannot_be_are_refused_by_name(arguments, setting):
    with pytest.raises(UsageError) as caught:
        Costs(*arguments)
    assert caught.value.setting == setting


def test_a_block_of_nothing_is_refused():
    with pytest.raises(UsageError, match="allowed are whole numbers from 1 up"):
        Adaptive(Costs(0.1, (1.0,)), most=0)


def silent_engine(limit):
    target = TableModel(lambda context: [0.5, 0.5], 2, limit)
    return Engine(target, NoDrafter(), TokenRule(), Pipeline(), FixedLength(0))


@pytest.mark.parametrize("batch", [1, 3])
def test_passes_of_every_length_are_timed_even_if_the_drafter_is_silent(batch):
    costs = calibrate(silent_engine(500), [0, 1], most=4, batch=batch)
    assert len(costs.target) == 5
    assert all(costs.of_pass(drafted) > 0 for drafted in range(5))


def test_a_context_without_room_for_a_block_is_refused():
    with pytest.raises(UsageError, match="allowed are whole numbers from 1 to 4"):
        calibrate(silent_engine(8), [0], most=5)
