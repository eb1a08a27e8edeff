"""What a control cannot be is refused in one line that names it: out of range, no number, a foreign token id."""

from fractions import Fraction

import numpy as np
import pytest

from draftproof.errors import UsageError
from draftproof.warpers.bias import LogitBias
from draftproof.warpers.penalties import FrequencyPenalty, PresencePenalty
from draftproof.warpers.pipeline import sampling

NAN, INF = float("nan"), float("inf")
REFUSED = {
    "temperature": [-0.1, NAN, INF, -INF, "1", None],
    "top_k": [-1, 2.5, NAN, INF, "3", None],
    "top_p": [0, -0.1, 1.01, NAN, INF, "1", None],
    "min_p": [-0.1, 1.01, NAN, INF, "0", None],
    "typical_p": [0, -1, 1.01, NAN, INF, "1", None],
    "repetition_penalty": [0, -1, NAN, INF, "1", None],
    "presence_penalty": [-2.01, 2.01, NAN, INF, "0", None],
    "frequency_penalty": [-2.01, 2.01, NAN, INF, "0", None],
    "logit_bias": [{1: 101}, {1: -100.5}, {1: NAN}, {1: INF}, {1: "1"}, {-1: 1}, {1.5: 1}, {"a": 1}],
    "bad_words": [[[]], [[1], []], [[-1]], [[1, 2.5]], ["word"]],
    "min_tokens": [-1, 1.5, NAN, INF, "1", None],
    "allowed_tokens": [[], [-1], [1.5], ["a"]],
    "processors": [[3]],
}


@pytest.mark.parametrize(("setting", "value"), [(name, value) for name in REFUSED for value in REFUSED[name]])
def test_a_value_out_of_range_is_refused_by_name(setting, value):
    with pytest.raises(UsageError) as refusal:
        sampling(**{setting: value})
    assert refusal.value.setting == setting
    assert "\n" not in str(refusal.value)


FOREIGN = {"logit_bias": {8: 1}, "bad_words": [[1, 8], [8, 2]], "allowed_tokens": [1, 8]}


@pytest.mark.parametrize("setting", FOREIGN)
def test_a_token_that_the_vocabulary_has_not_is_refused_as_soon_as_that_is_known(setting):
    pipeline = sampling(**{setting: FOREIGN[setting]})
    pipeline.check(9)
    pipeline.laws(np.zeros((1, 9)), "logits", [[0]])
    for ask in (lambda: pipeline.check(8), lambda: pipeline.laws(np.zeros((1, 8)), "logits", [[0]])):
        with pytest.raises(UsageError, match="token id 8; this vocabulary has the ids 0 to 7") as refusal:
            ask()
        assert refusal.value.setting == setting


def test_values_at_the_ends_of_their_ranges_are_taken():
    for temperature, top_k, top_p, min_p, typical_p, penalty in (
        (0, 1, 5e-324, 1, 5e-324, -2),
        (1e300, 2**40, 1, 0, 1, 2),
    ):
        law = sampling(
            temperature, top_k, top_p, min_p=min_p, typical_p=typical_p, presence_penalty=penalty,
            frequency_penalty=penalty, logit_bias={0: 50 * penalty},
        ).laws(np.array([[1.0, 2.0]]), "logits", [[0, 1, 1]])  # fmt: skip
        assert law.sum() == pytest.approx(1, rel=1e-15)


@pytest.mark.parametrize("factor", [0, -1, NAN, INF, "1", None, Fraction(0)])
def test_factors_that_are_none_are_refused(factor):
    for make in (FrequencyPenalty, PresencePenalty, lambda factor: LogitBias(((0, factor),))):
        with pytest.raises(UsageError, match="factor"):
            make(factor)
