"""Drafts of another vocabulary: what is shared is moved by its string, exactly; what cannot be is refused by name."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import fractions, needs
from drafters_of_tests import Written, table, translated, words
from draftproof.models.words import Words, first_difference, translation
from draftproof.rules.token import TokenRule
from draftproof.types import Text
from draftproof.warpers.masks import AllowedTokens
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.top_k import TopK

ABC = words("a", "b", "c")


class Heard:
    """A drafter that notes what it reads, and proposes one law."""

    def __init__(self, law):
        self.proposed, self.contexts, self.rewinds = law, [], []

    def law(self, context):
        self.contexts.append((list(context), context.prompt_length))
        return self.proposed

    def rewind(self, length):
        self.rewinds.append(length)

    def fresh(self):
        return Heard(self.proposed)


def read(draft, target, tokens):
    """What the draft reads of a text of the target."""
    heard = Heard(fractions(["1", *["0"] * (draft.size - 1)]))
    translated(draft, target, heard).law(tokens)
    return heard.contexts[0][0]


def moved(draft, target, *law):
    found = translation(draft, target).law(fractions(law))
    return None if found is None else found.tolist()


def test_the_same_vocabulary_needs_no_translation():
    assert translation(ABC, words("a", "b", "c")) is None


def test_what_only_one_side_names_is_no_difference_in_rows_of_one_length():
    padded = words("a", "b", "c", "[PAD3]", size=6)
    for draft, target in ((words("a", "b", "c", size=6), padded), (padded, words("a", "b", "c", size=6))):
        assert translation(draft, target) is None


@pytest.mark.parametrize("draft", [("a", "c", "b"), ("a", "b", "x"), ("a", "b", "d", "c")], ids=str)
def test_a_string_with_two_ids_or_an_id_with_two_strings_is_a_difference(draft):
    assert translation(words(*draft, size=6), words("a", "b", "c", size=6)) is not None


@pytest.mark.parametrize(("draft_size", "target_size"), [(5, 4), (4, 6), (3, 4), (5, 3)])
def test_agreeing_ids_of_longer_rows_are_cut_and_of_shorter_ones_filled_exactly(draft_size, target_size):
    draft, target = words("a", "b", "c", size=draft_size), words("a", "b", "c", "[PAD3]", size=target_size)
    found = translation(draft, target)
    assert found.common == (slice(0, 3), slice(0, 3))  # no 150,000 ids are looked up
    law = fractions(["1/2", "1/8", "1/4", "1/8", "0"][:draft_size])
    if draft_size < 5:
        law[:draft_size] = law[:draft_size] / law.sum()
    whole = sum(law[:3])
    assert found.law(law).tolist() == [*(law[:3] / whole), *[0] * (target_size - 3)]
    assert found.law(fractions(["0", "0", "0", "1", "0"][:draft_size])) is None


def test_agreeing_ids_are_read_as_they_are_and_the_others_as_what_they_stand_for():
    draft, target = words("a", "b", "c", size=3), words("a", "b", "c", "cab", size=9)
    assert read(draft, target, [2, 1, 0, 3, 7]) == [2, 1, 0, 2, 0, 1]


def test_the_same_strings_under_other_ids_are_moved():  # A121
    draft = words("b", "a", "c")
    assert first_difference(draft, ABC) is None
    assert moved(draft, ABC, "1/2", "1/3", "1/6") == [Fraction(1, 3), Fraction(1, 2), Fraction(1, 6)]
    assert read(draft, ABC, [0, 1, 2, 0]) == [1, 0, 2, 1]


def test_what_the_target_lacks_is_left_out_and_the_rest_is_normalised():
    assert moved(words("a", "x", "c"), ABC, "1/2", "1/4", "1/4") == [Fraction(2, 3), 0, Fraction(1, 3)]


def test_without_mass_on_common_tokens_nothing_is_proposed():
    assert moved(words("a", "x", "c"), ABC, "0", "1", "0") is None
    assert translated(words("a", "x", "c"), ABC, Heard(fractions(["0", "1", "0"]))).law([0]) is None


def test_a_silent_draft_stays_silent():
    assert translated(words("a", "x", "c"), ABC, Heard(None)).law([0]) is None


def test_a_shorter_row_is_filled_with_zeros_and_the_target_keeps_its_law():  # A124
    target = words("a", "b", "c", "d", "e")
    p, q = (
        fractions(["2/5", "1/5", "1/10", "1/5", "1/10"]),
        translation(ABC, target).law(fractions(["1/2", "3/10", "1/5"])),
    )
    assert q.tolist() == [*fractions(["1/2", "3/10", "1/5"]), 0, 0]
    assert TokenRule().emitted_law(p, q).tolist() == p.tolist()


@pytest.mark.parametrize(
    ("draft_size", "target_size"), [(5, 3), (3, 5), (5, 4), (151_936, 152_064), (152_064, 151_936)]
)
def test_rows_longer_than_the_vocabulary_are_cut_or_filled(draft_size, target_size):
    law = np.zeros(draft_size)
    law[:3], law[3:4] = 0.125, 0.625  # sums of these are exact
    found = translation(words("a", "b", "c", size=draft_size), words("a", "b", "c", size=target_size)).law(law)
    assert found.shape == (target_size,)
    assert np.array_equal(found[:3], np.full(3, 1 / 3))
    assert not found[3:].any()


@pytest.mark.parametrize("token", [2, 3, 4, 5, 11, 12, 151_936])
def test_a_context_token_that_the_draft_lacks_never_crashes(token):  # A125
    draft, target = words("a", "b"), words("a", "b", "abba", "x", "bx", size=20)
    drafter = translated(draft, target)
    law = drafter.law([0, token, 1])
    assert law.shape == (20,)
    assert law.sum() == 1


def test_a_token_that_the_draft_lacks_is_read_as_the_longest_pieces_that_spell_it():
    draft, target = words("a", "b", "ab", "abc"), words("abab", "abcb", "xa", "x", "a")
    assert read(draft, target, [0]) == [2, 2]
    assert read(draft, target, [1]) == [3, 1]
    assert read(draft, target, [2, 3, 4]) == [0, 0]  # what nothing spells is left out


def test_a_text_that_grows_keeps_what_was_read_of_it():  # A125: "ab", then "abc"
    draft, target = words("ab", "a", "c", "abc"), words("a", "b", "c")
    heard = Heard(fractions(["0", "1", "0", "0"]))
    drafter = translated(draft, target, heard)
    drafter.law([0, 1])
    drafter.law([0, 1, 2])
    assert heard.contexts == [([1], 0), ([1, 2], 0)]
    assert heard.rewinds == []


def test_the_beginning_of_a_text_is_read_as_the_drafts_own_and_only_once():  # A125
    draft, target = words("<begin>", "a", "b", bos=0), words("a", "b", "<s>", bos=2)
    assert read(draft, target, [2, 0, 1]) == [0, 1, 2]


def test_a_rewind_is_passed_on_in_the_drafts_own_lengths():
    draft, target = words("a", "b"), words("a", "ab", "aa", "b")
    heard = Heard(fractions(["1", "0"]))
    drafter = translated(draft, target, heard)
    drafter.law(Text([1, 2, 0, 1], 2))
    drafter.rewind(2)
    drafter.law(Text([1, 2, 3], 2))
    drafter.rewind(7)
    assert heard.contexts == [([0, 1, 0, 0, 0, 0, 1], 4), ([0, 1, 0, 0, 1], 4)]
    assert heard.rewinds == [4]


def test_the_prompt_is_known_in_the_drafts_own_length():
    heard = Heard(fractions(["1", "0"]))
    translated(words("a", "b"), words("a", "ab"), heard).law(Text([1, 1, 0], 2))
    assert heard.contexts == [([0, 1, 0, 1, 0], 4)]


def test_warpers_speak_of_the_targets_tokens():
    drafter = translated(words("c", "a", "b"), ABC, pipeline=Pipeline((AllowedTokens(frozenset({1})),)))
    assert drafter.law([0]).tolist() == [0, 1, 0]


def test_warpers_come_after_the_translation():
    heard = Heard(fractions(["1/2", "1/4", "1/8", "1/8"]))  # the likeliest token is none of the target's
    assert translated(words("x", "a", "b", "c"), ABC, heard, pipeline=Pipeline((TopK(1),))).law([0]).tolist() == [
        1,
        0,
        0,
    ]


def test_where_the_warpers_leave_nothing_nothing_is_proposed():
    pipeline = Pipeline((AllowedTokens(frozenset({1})),))
    assert translated(words("a", "x"), ABC, Heard(fractions(["1/2", "1/2"])), pipeline=pipeline).law([0]) is None


@given(
    weights=st.lists(st.fractions(0, 1, max_denominator=9), min_size=6, max_size=6).filter(any),
    order=st.permutations(range(6)),
    shared=st.integers(1, 6),
)
def test_common_tokens_keep_their_odds_exactly(weights, order, shared):
    strings = [f"t{token}" if token < shared else f"only here {token}" for token in order]
    target = words(*(f"t{i}" for i in range(6)))
    law = np.array([weight / sum(weights) for weight in weights], dtype=object)
    found = translation(words(*strings), target).law(law)
    common = {token: law[place] for place, token in enumerate(order) if token < shared}
    if not any(common.values()):
        assert found is None
    else:
        assert found.sum() == 1
        assert found.tolist() == [common.get(token, 0) / sum(common.values()) for token in range(6)]


def test_rows_of_torch_stay_rows_of_torch():
    torch = needs("torch")
    found = translation(words("c", "a", "x"), ABC).law(torch.tensor([0.25, 0.25, 0.5], dtype=torch.float64))
    assert found.dtype == torch.float64
    assert found.tolist() == [0.5, 0.0, 0.5]


def test_without_a_common_string_the_first_difference_and_both_sizes_are_named():  # A122
    draft, target = words(*"ABCDEFGHI"), words(*"abcdefghijk")
    message = first_difference(draft, target)
    assert "token 0 is 'A' there and 'a' in the target" in message
    assert "it has 9 tokens, the target 11" in message


def test_strings_that_mean_another_text_are_refused():  # byte-level against sentencepiece
    draft, target = words("a", "é", texts={"é": "\ufffd"}), words("b", "é", "a")
    message = first_difference(draft, target)
    assert message == (
        "'é' (its token 1, the target's 1) stands for '\ufffd' there and for 'é' in the target; "
        "it has 2 tokens, the target 3"
    )


def test_strings_that_mean_another_text_are_found_wherever_they_stand():
    plain = [f"t{i}" for i in range(500)]
    for special, meaning in (("\u0120x", " x"), ("<0x0A>", "\n")):
        strings = [*plain[:250], "<", ">", special, *plain[250:]]
        message = first_difference(words(*strings, texts={special: meaning}), words("other", *strings))
        assert message.startswith(f"{special!r} (its token 252, the target's 253) stands for {meaning!r} there")


class Counted(Written):
    """A tokenizer that counts what it is asked to decode."""

    asked = 0

    def decode(self, ids):
        Counted.asked += 1
        return super().decode(ids)


def test_of_150_000_strings_few_are_decoded_and_none_is_spelled_before_it_is_read():
    strings = [f"\u0120word{i}" for i in range(150_000)]
    draft, target = Words(Counted((*strings, "x")), 150_016), Words(Counted(("y", *strings)), 151_936)
    assert first_difference(draft, target) is None
    assert 0 < Counted.asked <= 4  # two strings tell all: one with the space and letters, and what is left
    found = translation(draft, target)
    assert len(found.common[0]) == 150_000
    assert len(found.reading) == 0
    assert found.reading[1] == (0,)
    assert found.reading[0] == ()


def test_a_special_token_that_means_nothing_on_one_side_is_no_difference():
    assert first_difference(words("a", "<s>", texts={"<s>": ""}), words("<s>", "a")) is None


def test_a_string_beyond_the_rows_is_no_token():
    draft = words("a", "b", "c", size=2)
    assert moved(draft, ABC, "1/2", "1/2") == [Fraction(1, 2), Fraction(1, 2), 0]
    assert read(draft, ABC, [2, 0]) == [0]


def test_a_text_of_which_the_draft_can_read_nothing_gets_no_proposal():
    assert translated(words("a", "b"), words("x", "a")).law([0]) is None


def test_the_law_is_that_of_the_translated_text():
    drafter = translated(words("c", "a", "b"), ABC)
    law = table().law_of([1, 2, 0])
    assert drafter.law([0, 1, 2]).tolist() == [law[1], law[2], law[0]]
