"""Each control alone does, row by row, what transformers does, or what vLLM defines, on logits and on laws."""

from collections import Counter

import numpy as np
import pytest

from conftest import needs
from draftproof.types import Text
from draftproof.warpers.pipeline import sampling

V, PROMPT = 60, 7
LOGITS = np.random.default_rng(0).normal(scale=3, size=(5, V))
TEXTS = [
    Text(np.random.default_rng(10 + i).integers(0, V, size=PROMPT + 9 * i).tolist(), PROMPT) for i in range(len(LOGITS))
]
LAST = TEXTS[3][-1]
BIAS = {3: 2.5, 17: -100.0, 40: 100.0, 41: -1.0}
WORDS = [[5], [TEXTS[2][-1], 6], [*TEXTS[4][-3:], 8], [9, LAST, 10], [1] * 200]
ALLOWED = [2, 3, 5, 8, 13, 21, 34, 55]
STOPS = [0, 11]


def theirs(name, *arguments):
    """A processor of transformers, called with one row and the text before it."""
    library, torch = needs("transformers"), needs("torch")

    def law(text, row):
        tokens = torch.tensor([list(text)])
        return getattr(library, name)(*arguments)(tokens, torch.tensor(row[None])).softmax(-1)[0].numpy()

    return law


CONTROLS = {
    "temperature": ({"temperature": 0.7}, "TemperatureLogitsWarper", 0.7),
    "top-k": ({"top_k": 7}, "TopKLogitsWarper", 7),
    "top-k of more than there are": ({"top_k": 500}, "TopKLogitsWarper", 500),
    "top-p": ({"top_p": 0.9}, "TopPLogitsWarper", 0.9),
    "min-p": ({"min_p": 0.1}, "MinPLogitsWarper", 0.1),
    "min-p 1": ({"min_p": 1}, "MinPLogitsWarper", 1.0),
    "typical-p": ({"typical_p": 0.6}, "TypicalLogitsWarper", 0.6),
    "typical-p, nearly all": ({"typical_p": 0.999}, "TypicalLogitsWarper", 0.999),
    "typical-p, one token": ({"typical_p": 1e-9}, "TypicalLogitsWarper", 1e-9),
    "repetition penalised": ({"repetition_penalty": 1.3}, "RepetitionPenaltyLogitsProcessor", 1.3),
    "repetition rewarded": ({"repetition_penalty": 0.6}, "RepetitionPenaltyLogitsProcessor", 0.6),
    "bad words": ({"bad_words": WORDS}, "NoBadWordsLogitsProcessor", WORDS),
    "logit bias": ({"logit_bias": BIAS}, "SequenceBiasLogitsProcessor", [[[t], b] for t, b in BIAS.items()]),
    "min tokens": (
        {"min_tokens": 10, "stop_tokens": STOPS}, "MinNewTokensLengthLogitsProcessor", PROMPT, 10, STOPS,
    ),
    "allowed tokens": ({"allowed_tokens": ALLOWED}, "PrefixConstrainedLogitsProcessor", lambda i, ids: ALLOWED, 1),
    "tokens not allowed": (
        {"allowed_tokens": ALLOWED}, "SuppressTokensLogitsProcessor", [t for t in range(V) if t not in ALLOWED],
    ),
}  # fmt: skip


@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("kind", ["logits", "laws"])
def test_every_row_equals_transformers(control, kind):
    settings, name, *arguments = CONTROLS[control]
    rows = LOGITS if kind == "logits" else sampling().laws(LOGITS, "logits")
    scores = LOGITS if kind == "logits" else np.log(rows)
    law = sampling(**settings).laws(rows, kind, TEXTS)
    expected = np.stack([theirs(name, *arguments)(*pair) for pair in zip(TEXTS, scores, strict=True)])
    assert np.array_equal(law > 0, expected > 0)
    assert np.allclose(law, expected, rtol=1e-13, atol=0)  # float64 on both sides; a bias of 100 costs 1e-14 of itself


@pytest.mark.parametrize("kind", ["logits", "laws"])
@pytest.mark.parametrize(("presence", "frequency"), [(0.6, 0), (0, 0.4), (-1.5, 0), (0, -2), (2, 2), (0.3, -0.2)])
def test_presence_and_frequency_are_subtracted_from_the_scores_of_the_output(kind, presence, frequency):
    rows = LOGITS if kind == "logits" else sampling().laws(LOGITS, "logits")
    law = sampling(presence_penalty=presence, frequency_penalty=frequency).laws(rows, kind, TEXTS)
    for got, text, row in zip(law, TEXTS, LOGITS, strict=True):
        scores = row.copy()
        for token, count in Counter(text[PROMPT:]).items():  # as vLLM has it: logits -= frequency * counts + presence
            scores[token] -= frequency * count + presence * (count > 0)
        expected = np.exp(scores - scores.max())
        assert np.allclose(got, expected / expected.sum(), rtol=1e-13, atol=0)  # exp and log of the factor round


def test_a_text_that_names_no_prompt_is_all_output():
    rows = np.zeros((2, 3))
    penalised = sampling(frequency_penalty=1.0)
    whole, marked = penalised.laws(rows, "logits", [[0, 0], Text([0, 0], 1)])
    assert whole[1] / whole[0] == pytest.approx(np.e**2, rel=1e-15)
    assert marked[1] / marked[0] == pytest.approx(np.e, rel=1e-15)


@pytest.mark.parametrize("penalty", [-2, 2])
@pytest.mark.parametrize("kind", ["logits", "laws"])
def test_a_token_that_came_ten_thousand_times_has_a_law_still(penalty, kind):
    law = sampling(frequency_penalty=penalty).laws(np.ones((1, 2)), kind, [[1] * 10_000])
    assert law.tolist() == [[1, 0] if penalty > 0 else [0, 1]]


def test_a_token_of_the_text_that_the_rows_do_not_have_is_passed_over():
    rows = np.zeros((1, 3))
    for setting in ("repetition_penalty", "presence_penalty", "frequency_penalty"):
        law = sampling(**{setting: 1.5}).laws(rows + 1, "logits", [[2, 3, 900]])
        assert law[0, 0] == law[0, 1] > law[0, 2] > 0


def test_a_bias_of_minus_100_forbids_in_effect_and_stays_a_number():
    law = sampling(logit_bias={1: -100}).laws(np.array([[0.0, 9.0, 0.0]]), "logits")
    assert 0 < law[0, 1] < 1e-39
    assert sampling(logit_bias={1: -100}).laws(np.array([[-np.inf, 9.0, -np.inf]]), "logits").tolist() == [[0, 1, 0]]


def test_numpy_and_torch_agree_on_every_control():
    torch = needs("torch")
    for settings, *_ in CONTROLS.values():
        expected = sampling(**settings).laws(LOGITS, "logits", TEXTS)
        got = sampling(**settings).laws(torch.from_numpy(LOGITS), "logits", TEXTS).numpy()
        assert np.allclose(got, expected, rtol=1e-13, atol=0)  # the two libraries compute exp in ways of their own
