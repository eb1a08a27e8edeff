"""Prompt lookup against its definition, written out; and nothing of what was taken back remains."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.drafters.ngram import NgramDrafter

STEPS = st.lists(st.tuples(st.integers(0, 30), st.lists(st.integers(0, 2), max_size=8)), max_size=8)


def by_definition(context, shortest, longest):
    """The token that followed the latest earlier occurrence of the longest ending that has one."""
    for n in range(min(longest, len(context)), shortest - 1, -1):
        for place in range(len(context) - 1, n - 1, -1):
            if context[place - n : place] == context[len(context) - n :]:
                return context[place]
    return None


def proposed(drafter, context):
    law = drafter.law(context)
    return None if law is None else law.tolist().index(1)


@given(steps=STEPS, shortest=st.integers(1, 3), more=st.integers(0, 2))
@settings(max_examples=300)
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
        ([5, 1, 2, 9, 6, 1, 2, 8, 5, 1, 2], 1, 2, 8),
        ([7, 7], 1, 4, 7),  # it may overlap itself
        ([7], 1, 4, None),
        ([1, 2, 3, 1], 2, 4, None),
        ([1, 2, 3, 1], 1, 4, 2),
        ([], 1, 4, None),
    ],
)
def test_cases_worked_out_by_hand(context, shortest, longest, token):
    assert proposed(NgramDrafter(10, shortest, longest), context) == token


def test_a_token_that_the_target_lacks_is_not_proposed():
    assert NgramDrafter(5, 1, 2).law([1, 5, 1]) is None


def test_what_is_taken_back_leaves_nothing_behind():
    drafter = NgramDrafter(3, 1, 3)
    drafter.law([0, 1, 0, 1, 2])
    kept = (list(drafter.read), dict(drafter.latest), list(drafter.before))
    drafter.law([0, 1, 0, 1, 2, 0, 1, 0, 0, 2, 1, 2, 0])
    drafter.rewind(5)
    assert (list(drafter.read), dict(drafter.latest), list(drafter.before)) == kept
    drafter.rewind(0)
    assert not drafter.read
    assert not drafter.latest
    assert not drafter.before


@given(text=st.lists(st.integers(0, 2), max_size=60))
def test_memory_for_a_token_is_bounded(text):
    drafter = NgramDrafter(3, 2, 4)
    drafter.law(text)
    assert len(drafter.latest) <= len(drafter.before) <= 3 * len(text)
