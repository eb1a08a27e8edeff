"""What every drafter promises: laws that depend on the context alone, whatever was read and forgotten before."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drafters_of_tests import DRAFTERS
from draftproof.drafters.model import ModelDrafter
from draftproof.models.table import TableModel
from draftproof.rules.contract import check_laws
from draftproof.types import Text

PROMPT = (0, 1)
STEPS = st.lists(st.tuples(st.integers(0, 20), st.lists(st.integers(0, 2), max_size=5)), max_size=8)
"""How far to go back, from where the text is, and what to read then."""


def same(one, other):
    if one is None or other is None:
        return one is other
    return one.dtype == other.dtype and one.tolist() == other.tolist()


def histories(steps):
    """The texts of a history, each with how much of the one before it is left."""
    text = list(PROMPT)
    for back, more in steps:
        kept = max(0, len(text) - back)
        text = [*text[:kept], *more]
        yield kept, text


@pytest.mark.parametrize("kind", DRAFTERS)
@given(steps=STEPS)
@settings(max_examples=60)
def test_the_law_depends_on_the_context_alone_whatever_was_read_and_forgotten(kind, steps):
    drafter = DRAFTERS[kind]()
    for kept, text in histories(steps):
        drafter.rewind(kept)
        assert same(
            drafter.law(Text(text, min(len(PROMPT), len(text)))),
            DRAFTERS[kind]().law(Text(text, min(len(PROMPT), len(text)))),
        )


@pytest.mark.parametrize("kind", DRAFTERS)
@given(text=st.lists(st.integers(0, 2), max_size=12))
@settings(max_examples=40)
def test_what_is_proposed_is_an_exact_law(kind, text):
    law = DRAFTERS[kind]().law(text)
    if law is not None:
        assert law.shape == (3,)
        assert law.sum() == 1
        assert all(isinstance(entry, (int, Fraction)) and entry >= 0 for entry in law.tolist())
        check_laws(law[None], "draft")


@pytest.mark.parametrize("kind", DRAFTERS)
def test_asking_twice_changes_nothing(kind):
    drafter, text = DRAFTERS[kind](), [0, 1, 0, 1, 0]
    assert same(drafter.law(text), drafter.law(text))
    assert same(drafter.law([*text, 2, 0]), DRAFTERS[kind]().law([*text, 2, 0]))


@pytest.mark.parametrize("kind", DRAFTERS)
def test_a_fresh_drafter_has_read_nothing_and_shares_nothing_it_writes_to(kind):
    drafter = DRAFTERS[kind]()
    drafter.law([0, 1, 2, 0, 1])
    other = drafter.fresh()
    assert same(other.law([1, 1, 1]), DRAFTERS[kind]().law([1, 1, 1]))
    assert same(drafter.law([0, 1, 2, 0, 1, 2]), DRAFTERS[kind]().law([0, 1, 2, 0, 1, 2]))


@pytest.mark.parametrize("kind", DRAFTERS)
def test_the_text_that_was_shown_may_change_afterwards(kind):
    drafter, text = DRAFTERS[kind](), [0, 1, 2, 0, 1]
    drafter.law(text)
    text[:] = [2, 2, 2, 2, 2]
    assert same(drafter.law([0, 1, 2, 0, 1, 2]), DRAFTERS[kind]().law([0, 1, 2, 0, 1, 2]))


@pytest.mark.parametrize("kind", DRAFTERS)
def test_a_rewind_past_what_was_read_forgets_nothing(kind):
    drafter = DRAFTERS[kind]()
    drafter.rewind(5)
    drafter.law([0, 1])
    drafter.rewind(7)
    assert same(drafter.law([0, 1, 0]), DRAFTERS[kind]().law([0, 1, 0]))


class Watched(list):
    """A text that counts how many of its tokens are looked at."""

    looked_at = 0

    def __getitem__(self, index):
        found = super().__getitem__(index)
        self.looked_at += len(found) if isinstance(index, slice) else 1
        return found

    def __iter__(self):
        raise AssertionError("the whole text was read")


@pytest.mark.parametrize("kind", [kind for kind in DRAFTERS if kind != "model" and "chain" not in kind])
def test_only_what_is_new_is_read_of_a_long_text(kind):
    drafter, text = DRAFTERS[kind](), [0, 1, 2, 2, 1] * 10
    drafter.law(text)
    for back, more in ((0, [1]), (3, [2, 0]), (1, []), (0, [0, 0, 0])):
        text = Watched(list.__getitem__(text, slice(len(text) - back)) + more)
        drafter.rewind(len(text) - len(more))
        drafter.law(text)
        assert text.looked_at <= len(more)


def test_a_model_drafter_reads_only_what_is_new_of_a_long_text():
    drafter, text = ModelDrafter(TableModel(lambda context: [1.0, 0.0], 2)), Watched([0, 1, 0])
    drafter.law(text)
    grown = Watched([0, 1, 0, 1, 1])
    drafter.law(grown)
    assert grown.looked_at == 2


@pytest.mark.parametrize("kind", ["ngram", "suffix", "suffix with a corpus"])
def test_what_looks_things_up_is_certain_in_whole_numbers(kind):
    law = DRAFTERS[kind]().law([0, 1, 0])
    assert law.dtype == np.int64
    assert law.tolist() == [0, 1, 0]
    assert (Fraction(1, 3) - law[0]).denominator == 3  # whole numbers leave Fractions what they are
