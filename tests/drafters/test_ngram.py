"""Prompt lookup against its definition, written out; and nothing of what was taken back remains."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.drafters.ngram import NgramDrafter

STEPS = st.lists(st.tuples(st.integers(0, 30), st.lists(st.integers(0, 2), max_size=8)), max_size=8)


def looked_up(context, shortest, longest):
    """Where the token stands that followed the latest earlier occurrence of the longest ending that has one."""
    for n in range(min(longest, len(context)), shortest - 1, -1):
        for place in range(len(context) - 1, n - 1, -1):
            if context[place - n : place] == context[len(context) - n :]:
                return place
    return None


def by_definition(context, shortest, longest):
    """The token at the place that is followed after the context, found by going through it once."""
    place, right, left, surprises = None, 0, None, 0
    for end in range(1, len(context) + 1):
        token = context[end - 1]
        if place is not None and context[place] == token:
            place, right = place + 1, right + 1
            continue
        if right >= 2:
            left, surprises = place, 0
        near = [] if left is None or surprises >= 8 else context[left : min(left + 4, end - 1)]
        if token in near:
            place, right, left, surprises = left + near.index(token) + 1, 1, None, 0
        else:
            place, right, surprises = looked_up(context[:end], shortest, longest), 0, surprises + 1
    return None if place is None else context[place]


def proposed(drafter, context):
    law = drafter.law(context)
    return None if law is None else law.tolist().index(1)


@given(steps=STEPS, shortest=st.integers(1, 3), more=st.integers(0, 2))
@settings(max_examples=500)
def test_it_proposes_what_the_definition_says_through_growth_and_rewinds(steps, shortest, more):
    drafter, text = NgramDrafter(3, shortest, shortest + more), []
    for back, tokens in steps:
        del text[max(0, len(text) - back) :]
        drafter.rewind(len(text))
        text += tokens
        assert proposed(drafter, text) == by_definition(text, shortest, shortest + more)


@pytest.mark.parametrize(
    ("context", "shortest", "longest", "token"),
    [
        ([1, 2, 3, 1, 2, 4, 1, 2], 1, 4, 4),  # the latest occurrence, not the first (B30)
        ([5, 1, 2, 9, 6, 1, 2, 8, 5, 1, 2], 1, 3, 9),  # the longest, not the latest
        ([5, 1, 2, 9, 6, 1, 2, 8, 5, 1, 2], 1, 2, 9),  # a match goes on beyond the longest that is looked up
        ([5, 1, 2, 9, 6, 1, 2, 8, 1, 2], 1, 2, 8),
        ([7, 7], 1, 4, 7),  # it may overlap itself
        ([7], 1, 4, None),
        ([1, 2, 3, 1], 2, 4, None),
        ([1, 2, 3, 1], 1, 4, 2),
        ([], 1, 4, None),
        ([1, 2, 3, 4, 1, 9, 9, 3, 1, 2, 3], 1, 1, 4),  # a place that goes on being right is followed
        ([1, 2, 3, 4, 5, 6, 1, 2, 3, 9, 4], 1, 2, 5),  # a token was put in
        ([1, 2, 3, 4, 5, 6, 1, 2, 3, 9, 5], 1, 2, 6),  # one was replaced
        ([1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 6], 1, 2, 7),  # two were left out
        ([1, 2, 3, 4, 5, 0, 4, 8, 1, 2, 3, 9, 9, 4], 1, 2, 5),  # where the change came counts, not the latest place
        ([1, 2, 3, 4, 5, 0, 4, 8, 1, 3, 9, 4], 1, 2, 8),  # a place that was not right twice is not returned to
    ],
)
def test_cases_worked_out_by_hand(context, shortest, longest, token):
    assert proposed(NgramDrafter(10, shortest, longest), context) == token


def test_a_token_that_the_target_lacks_is_not_proposed():
    assert NgramDrafter(5, 1, 2).law([1, 5, 1]) is None


def test_what_is_taken_back_leaves_nothing_behind():
    drafter = NgramDrafter(3, 1, 3)
    drafter.law([0, 1, 0, 1, 2])
    kept = (list(drafter.read), list(drafter.followed), dict(drafter.latest), list(drafter.before))
    drafter.law([0, 1, 0, 1, 2, 0, 1, 0, 0, 2, 1, 2, 0])
    drafter.rewind(5)
    assert (list(drafter.read), list(drafter.followed), dict(drafter.latest), list(drafter.before)) == kept
    drafter.rewind(0)
    assert not drafter.read
    assert not drafter.followed
    assert not drafter.latest
    assert not drafter.before


@given(text=st.lists(st.integers(0, 2), max_size=60))
def test_memory_for_a_token_is_bounded(text):
    drafter = NgramDrafter(3, 2, 4)
    drafter.law(text)
    assert len(drafter.latest) <= len(drafter.before) <= 3 * len(text)
