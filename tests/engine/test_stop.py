"""Where a text ends, for every length of block and room."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.engine.stop import Stop


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
