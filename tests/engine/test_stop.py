"""Where a text ends, for every length of block and room."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.engine.stop import Stop
from draftproof.errors import UsageError


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.integers(1, 8), st.sets(st.integers(0, 3)))
def test_a_block_is_cut_as_if_its_tokens_had_come_one_by_one(block, room, stops):
    stop = Stop(100, tokens=frozenset(stops))
    kept, reason = [], None
    for token in block:
        one, reason = stop.cut([token], room - len(kept))
        kept += one
        if reason:
            break
    assert stop.cut(block, room) == (kept, reason)


@pytest.mark.parametrize(
    ("stop", "room"),
    [(Stop(10), 7), (Stop(10, 9), 1), (Stop(3), 0), (Stop(100, 8), 0)],
    ids=["max_tokens", "context", "spent", "context full"],
)
def test_the_room_is_the_smaller_of_the_two_limits(stop, room):
    assert stop.room(prompt_length=5, length=8) == room


def test_a_stop_token_in_the_middle_wins_over_the_length():
    # sglang issue 31599: ids 10 11 STOP 20 21, at most 5: the text ends at the stop token.
    assert Stop(5, tokens=frozenset({2})).cut([10, 11, 2, 20, 21], 5) == ([10, 11, 2], "stop")


LETTERS = "abcd"


def spelling():
    return lambda token: LETTERS[token]


def watched(block_sizes, tokens, stop):
    """Return what is left of `tokens` when they come in blocks of these sizes, why it ends, and what ended it."""
    ending, kept, reason = stop.begin(), [], None
    sizes = iter(block_sizes)
    while tokens and reason is None:
        size = next(sizes, 1)
        block, tokens = tokens[:size], tokens[size:]
        more, reason = ending.cut(block, stop.room(0, len(kept)))
        kept += more
    return kept, reason, ending.found


STRINGS = st.lists(st.text(LETTERS, min_size=1, max_size=3), min_size=1, max_size=3).map(tuple)


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=12),
    st.lists(st.integers(1, 5), max_size=6),
    STRINGS,
    st.sets(st.integers(0, 3), max_size=1),
    st.integers(0, 4),
)
def test_a_text_ends_at_the_same_token_whatever_the_blocks(tokens, sizes, strings, ends, fewest):
    stop = Stop(10, tokens=frozenset(ends), strings=strings, spelling=spelling, min_tokens=fewest)
    assert watched(sizes, tokens, stop) == watched([], tokens, stop)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), STRINGS, st.integers(0, 4))
def test_a_text_ends_with_the_token_that_first_completes_a_stop_string(tokens, strings, fewest):
    stop = Stop(20, strings=strings, spelling=spelling, min_tokens=fewest)
    text = "".join(LETTERS[token] for token in tokens)
    ends = [n for n in range(1, len(text) + 1) if n >= fewest and any(text[:n].endswith(s) for s in strings)]
    kept, reason, found = watched([], tokens, stop)
    assert len(kept) == (ends[0] if ends else len(tokens))
    assert (reason, found in strings) == (("stop", True) if ends else (None, False))


def test_a_string_may_begin_and_end_inside_a_token_and_span_several():
    pieces = ["x<|", "en", "d|>y", "z"]
    stop = Stop(9, strings=("<|end|>",), spelling=lambda: lambda token: pieces[token])
    assert watched([4], [0, 1, 2, 3], stop) == ([0, 1, 2], "stop", "<|end|>")


def test_a_character_of_several_tokens_ends_the_text_with_its_last_one():
    # A character that is complete only with its third token: nothing is written before.
    pieces = ["", "", "é", "z"]
    stop = Stop(9, strings=("é",), spelling=lambda: lambda token: pieces[token])
    assert watched([2, 2], [0, 1, 2, 3], stop) == ([0, 1, 2], "stop", "é")


def test_a_stop_string_at_the_limit_is_a_stop():
    stop = Stop(2, strings=("b",), spelling=spelling)
    assert watched([4], [0, 1, 2, 3], stop) == ([0, 1], "stop", "b")


def test_what_stood_in_the_prompt_ends_nothing():
    stop = Stop(9, strings=("ab",), spelling=spelling)
    assert watched([3], [1, 2, 3], stop) == ([1, 2, 3], None, None)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"strings": ("",), "spelling": spelling}, "stop: got an empty text"),
        ({"strings": ("a",)}, "stop: stop strings need"),
        ({"min_tokens": -1}, "min_tokens: got -1"),
        ({"min_tokens": 6}, "min_tokens: got 6; allowed are 0 to max_tokens, 5"),
    ],
)
def test_stops_that_cannot_be_are_refused(settings, message):
    with pytest.raises(UsageError, match=message):
        Stop(5, **settings)
