"""What is set on the page, as a value and as a link, and laws as a hand makes them."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.errors import UsageError
from draftproof.explorer.laws import (
    LARGEST,
    PRESETS,
    SMALLEST,
    checked,
    law_of,
    preset,
    random_pair,
    resized,
    typed,
    with_probability,
)
from draftproof.explorer.state import State, changed, query_of, state_of
from draftproof.redteam.tampers.catalogue import TAMPERS

SIZES = st.integers(SMALLEST, LARGEST)
WEIGHTS = SIZES.flatmap(
    lambda size: st.lists(st.floats(0, 1e6), min_size=size, max_size=size).filter(lambda found: sum(found) > 1e-6)
)


def parsed(query):
    from urllib.parse import parse_qsl

    return dict(parse_qsl(query, keep_blank_values=True))


@given(WEIGHTS, st.data())
def test_a_link_opens_the_same_page(p, data):
    q = data.draw(st.lists(st.floats(0.5, 9), min_size=len(p), max_size=len(p)))
    chosen = {
        "rule": data.draw(st.sampled_from(["token", "block", "match", "coupled"])),
        "seed": data.draw(st.integers(0, 2**64 - 1)),
        "p_temperature": data.draw(st.floats(0, 2)),
        "draft_cost": data.draw(st.floats(0, 2)),
        "tamper": data.draw(st.sampled_from(["", *TAMPERS])),
        "prompt": data.draw(st.text(max_size=30)),
        "draws": data.draw(st.integers(0, 1000)),
    }
    state = changed(State(), p=tuple(p), q=tuple(q), **chosen)
    assert state_of(parsed(query_of(state))) == (state, [])


def test_the_page_as_it_first_opens_needs_no_query():
    assert query_of(State()) == ""
    assert state_of({}) == (State(), [])


@given(st.dictionaries(st.sampled_from([*asdict(State()), "x"]), st.text(max_size=12), max_size=6))
def test_any_link_opens_and_says_what_it_left_out(query):
    state, refused = state_of(query)
    changed(state)  # it can be honoured
    plain = asdict(State())
    lost = [name for name in query if name == "x"]
    assert all(any(line.startswith(f"{name}:") for line in refused) for name in lost)
    assert all(getattr(state, name) == plain[name] for name in plain if name not in query)


@given(WEIGHTS, st.data())
def test_one_probability_is_set_and_the_others_keep_their_shares(weights, data):
    token = data.draw(st.integers(0, len(weights) - 1))
    wanted = data.draw(st.floats(0, 1))
    before = law_of(tuple(weights))
    try:
        after = law_of(with_probability(weights, token, wanted, "p"))
    except UsageError:
        assert before[token] == 1  # nobody is left to share the rest
        return
    assert np.isclose(after[token], wanted, rtol=1e-9, atol=1e-12)
    others = np.arange(len(weights)) != token
    rest = before[others].sum()
    if rest > 1e-6:  # below, shares of a rest that is nearly nothing are rounding
        assert np.allclose(after[others], before[others] / rest * (1 - wanted), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("probability", [-0.01, 1.01, math.nan, math.inf])
def test_what_is_no_probability_is_refused(probability):
    with pytest.raises(UsageError, match="from 0 to 1"):
        with_probability((1, 1), 0, probability, "p")


@pytest.mark.parametrize("weights", [[], [1], [0, 0], [1, -1], [math.nan, 1], [math.inf, 1], [1] * 13])
def test_weights_without_a_law_are_refused(weights):
    with pytest.raises(UsageError):
        checked(weights, "p")


def test_numbers_are_typed_as_decimals_or_fractions():
    assert typed("1/2, 0.25 ;1/4", "p") == (0.5, 0.25, 0.25)
    for text in ("", "a, b", "1/0, 1", "1,,", "1e999, 1"):
        with pytest.raises(UsageError):
            typed(text, "p")


@pytest.mark.parametrize("size", range(SMALLEST, LARGEST + 1))
@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_laws_of_every_size(name, size):
    p, q = (law_of(weights) for weights in preset(name, size))
    assert len(p) == len(q) == size
    assert (name == "equal") == np.array_equal(p, q)
    if size > 3:  # of fewer tokens some presets are the same
        assert (name == "disjoint") == (np.minimum(p, q).sum() == 0)
        assert (name == "one-hot") == (p.max() == 1)


def test_random_laws_depend_on_their_seed():
    assert random_pair(3, 6) == random_pair(3, 6) != random_pair(4, 6)


def test_a_vocabulary_that_shrinks_or_grows_keeps_a_law():
    assert resized((1, 2, 3), 5, "p") == (1, 2, 3, 0, 0)
    assert resized((0, 0, 3), 2, "p") == (1, 1)
    with pytest.raises(UsageError):
        resized((1, 2), 13, "p")
