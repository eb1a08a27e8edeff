"""Small cases from public reports: settings, penalties and masks applied to other rows, or at another time."""

import numpy as np
import pytest

from draftproof.types import Text
from draftproof.warpers.pipeline import sampling

EOS = 3


def block(committed, drafts, prompt_length=1):
    """The texts before the rows of a pass: committed, and with one draft more each."""
    return [Text([*committed, *drafts[:i]], prompt_length) for i in range(len(drafts) + 1)]


def greedy(pipeline, row, kind, drafts, count):
    """Speculative decoding at temperature 0 of a model that has the same row everywhere, from blocks of drafts."""
    text = [0]
    while len(text) <= count:
        laws = pipeline.laws(np.tile(row, (len(drafts) + 1, 1)), kind, block(text, drafts))
        best = np.argmax(laws, axis=-1).tolist()
        kept = next((i for i, token in enumerate(drafts) if token != best[i]), len(drafts))
        text += [*drafts[:kept], best[kept]]
    return text[1 : count + 1]


@pytest.mark.parametrize("draft", [[], [0], [0, 0, 0], [1, 0, 1], [2, 2, 2]], ids=str)
@pytest.mark.parametrize("kind", ["logits", "laws"])
def test_penalties_count_for_each_row_its_own_drafts(draft, kind):
    # The penalty world of reports.md, A30, A32 and A33.
    row = np.array([1.0, 0.6, 0.0])
    row = row if kind == "logits" else np.exp(row) / np.exp(row).sum()
    text = greedy(sampling(0, frequency_penalty=0.15), row, kind, draft, 12)
    assert text == [0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]
    assert greedy(sampling(0, frequency_penalty=-0.15), row, kind, draft, 12) == [0] * 12


def test_the_last_committed_token_counts_once():  # A34
    penalised = sampling(presence_penalty=0, frequency_penalty=1.0)
    law = penalised.laws(np.zeros((2, 2)), "logits", block([0, 0], [1]))
    assert law[:, 1] / law[:, 0] == pytest.approx([np.e, 1], rel=1e-15)


def test_a_banned_token_never_comes():  # A36, A38
    for banned in ({"bad_words": [[0]]}, {"allowed_tokens": [1, 2]}):
        law = sampling(**banned).laws(np.array([[9.0, 0, 0]] * 3), "logits", block([2], [0, 1]))
        assert law[:, 0].tolist() == [0, 0, 0]
    assert sampling(0, logit_bias={0: -100}).laws(np.array([[9.0, 0, 0]]), "logits").tolist() == [[0, 1, 0]]


def test_min_p_is_for_every_row():  # A37
    law = sampling(min_p=0.5).laws(np.array([[0.6, 0.35, 0.05]] * 3), "laws")
    assert np.allclose(law, [[0.6 / 0.95, 0.35 / 0.95, 0]], rtol=1e-15, atol=0)


@pytest.mark.parametrize("drafts", [[], [0, 0, 0], [EOS, EOS, EOS], [0, EOS, 0]], ids=str)
def test_min_tokens_frees_the_end_after_exactly_so_many_tokens(drafts):  # A32, A40
    row = np.array([1.0, 0.0, 0.0, 2.0])
    pipeline = sampling(0, min_tokens=5, stop_tokens={EOS})
    assert greedy(pipeline, row, "logits", drafts, 6) == [0, 0, 0, 0, 0, EOS]


def test_a_bad_word_is_seen_across_drafts():  # A41
    flat, banned = np.zeros((3, 8)), sampling(bad_words=[[4, 5]])
    laws = banned.laws(flat, "logits", block([0, 7], [4, 5]))
    assert (laws[:, 5] == 0).tolist() == [False, True, False]
    laws = banned.laws(flat[:2], "logits", block([0, 4], [4]))
    assert (laws[:, 5] == 0).tolist() == [True, True]
    assert np.count_nonzero(laws) == 2 * 8 - 2


def test_a_bad_word_may_begin_in_the_prompt():
    assert sampling(bad_words=[[4, 5]]).laws(np.zeros((1, 8)), "logits", [Text([4], 1)])[0, 5] == 0


def test_the_top_two_of_every_row_stay():  # A29
    p = np.array([[0.5, 0.3, 0.15, 0.05]] * 3)
    assert np.allclose(sampling(top_k=2).laws(p, "laws"), [[0.625, 0.375, 0, 0]], rtol=1e-15, atol=0)


@pytest.mark.parametrize("temperature", [0, 1e-8, 1e-6, 1e-5])
def test_a_tiny_temperature_is_greedy(temperature):  # A120
    rows = np.array([[1.0, -np.inf, 3.0], [-np.inf, 2.0, 0.0]])
    assert sampling(temperature).laws(rows, "logits").tolist() == [[0, 0, 1], [0, 1, 0]]
