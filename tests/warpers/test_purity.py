"""A row's law depends on its scores and its text, and on nothing else: not on company, order or earlier calls."""

import numpy as np
import pytest

from draftproof.errors import ContractError
from draftproof.types import Text
from draftproof.warpers.pipeline import CACHED, sampling

V, PROMPT = 30, 4
EVERYTHING = {
    "temperature": 0.9, "top_k": 12, "top_p": 0.95, "min_p": 0.01, "typical_p": 0.9, "repetition_penalty": 1.2,
    "presence_penalty": 0.5, "frequency_penalty": 0.3, "logit_bias": {2: 1.5}, "bad_words": [[5, 6], [7]],
    "min_tokens": 3, "stop_tokens": [0], "allowed_tokens": range(25),
}  # fmt: skip
ALONE = [{name: EVERYTHING[name]} for name in EVERYTHING if name not in {"stop_tokens", "min_tokens"}]
SETTINGS = [EVERYTHING, {"min_tokens": 3, "stop_tokens": [0]}, *ALONE]


def names(settings):
    return "everything" if settings is EVERYTHING else min(settings)


def texts(rng, count):
    return [Text(rng.integers(0, V, size=PROMPT + int(rng.integers(8))).tolist(), PROMPT) for _ in range(count)]


@pytest.mark.parametrize("settings", SETTINGS, ids=names)
@pytest.mark.parametrize("kind", ["logits", "laws"])
def test_a_row_in_company_is_the_row_alone_in_whatever_order(settings, kind):
    rng = np.random.default_rng(0)
    rows = rng.normal(scale=2, size=(8, V)) if kind == "logits" else rng.dirichlet(np.ones(V), size=8)
    before, pipeline = texts(rng, len(rows)), sampling(**settings)
    together = pipeline.laws(rows, kind, before)
    for i in rng.permutation(len(rows)):
        assert np.array_equal(pipeline.laws(rows[i : i + 1], kind, before[i : i + 1])[0], together[i])
    turned = sampling(**settings).laws(rows[::-1], kind, before[::-1])
    assert np.array_equal(turned[::-1], together)


@pytest.mark.parametrize("kind", ["logits", "laws"])
def test_nothing_that_is_handed_over_is_written_to(kind):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(4, V)) if kind == "logits" else rng.dirichlet(np.ones(V), size=4)
    before = texts(rng, 4)
    kept = rows.copy(), [(list(text), text.prompt_length) for text in before]
    for settings in SETTINGS:
        for step in sampling(**settings).steps:
            if not callable(step):
                step.warp(rows, kind, before)
        sampling(**settings).laws(rows, kind, before)
    assert np.array_equal(rows, kept[0])
    assert [(list(text), text.prompt_length) for text in before] == kept[1]


def test_many_long_rows_get_their_own_texts():
    rng, size = np.random.default_rng(2), CACHED // 2 + 1
    rows, before = rng.normal(size=(5, size)).astype(np.float32), texts(rng, 5)
    pipeline = sampling(**EVERYTHING | {"allowed_tokens": range(size - 1)})
    together = pipeline.laws(rows, "logits", before)
    for i, text in enumerate(before):
        assert np.array_equal(pipeline.laws(rows[i : i + 1], "logits", [text])[0], together[i])


@pytest.mark.parametrize("settings", [{"top_p": 0.8}, {"typical_p": 0.5}, {"top_k": 3, "logit_bias": {1: 2}}], ids=str)
def test_leading_axes_are_rows(settings):  # A49
    rows = np.random.default_rng(3).normal(size=(2, 3, V))
    pipeline = sampling(0.7, **settings)
    together = pipeline.laws(rows, "logits")
    for i, j in np.ndindex(2, 3):
        assert np.array_equal(pipeline.laws(rows[i, j][None], "logits")[0], together[i, j])


def test_texts_that_are_missing_are_a_broken_contract():
    for given in (None, [[1]], [[1]] * 3):
        with pytest.raises(ContractError, match="text before each of the 2 rows"):
            sampling(presence_penalty=1).laws(np.zeros((2, V)), "logits", given)


@pytest.mark.parametrize("size", [V, CACHED])
@pytest.mark.parametrize("kind", ["logits", "laws"])
def test_a_row_of_which_masks_leave_nothing_is_refused_by_its_number(size, kind):
    rows = np.ones((3, size))
    before = [Text([1], 1), Text([1, 2, 2], 1), Text([1], 1)]
    with pytest.raises(ContractError, match="row 0 "):
        sampling(allowed_tokens=[0], min_tokens=2, stop_tokens=[0]).laws(rows, kind, before)
    with pytest.raises(ContractError, match="row 1 "):
        sampling(allowed_tokens=[4], bad_words=[[2, 4]]).laws(rows, kind, before)
