"""A logits processor of Hugging Face as a step: it sees each row alone, and one that remembers is found out."""

import sys
from fractions import Fraction

import numpy as np
import pytest

from conftest import fractions, needs
from draftproof.errors import ContractError, MissingExtraError
from draftproof.types import Text
from draftproof.warpers.pipeline import Pipeline, sampling
from draftproof.warpers.processor import Processor

torch = needs("torch")
V = 40
LOGITS = np.random.default_rng(0).normal(scale=2, size=(5, V))
TEXTS = [Text(np.random.default_rng(i).integers(0, V, size=3 + 2 * i).tolist(), 3) for i in range(5)]


@pytest.mark.parametrize("name", ["NoRepeatNGramLogitsProcessor", "RepetitionPenaltyLogitsProcessor"])
@pytest.mark.parametrize("kind", ["logits", "laws"])
def test_rows_are_what_the_processor_makes_of_them_one_by_one(name, kind):
    argument = 1 if name.startswith("No") else 1.5
    process = getattr(needs("transformers"), name)(argument)
    rows = LOGITS if kind == "logits" else sampling().laws(LOGITS, "logits")
    law = sampling(0.8, processors=[process]).laws(rows, kind, TEXTS)
    for got, row, text in zip(law, LOGITS if kind == "logits" else np.log(rows), TEXTS, strict=True):
        expected = (process(torch.tensor([list(text)]), torch.tensor(row[None])) / 0.8).softmax(-1)[0].numpy()
        assert np.array_equal(got > 0, expected > 0)
        assert np.allclose(got, expected, rtol=1e-13, atol=0)  # float64 on both sides


def test_it_gets_the_whole_text_before_the_row_and_may_spoil_what_it_gets():
    seen = []

    def process(input_ids, scores):
        seen.append((input_ids.dtype, input_ids.tolist(), scores.dtype, tuple(scores.shape)))
        answer = scores.clone()
        input_ids.zero_()
        scores.zero_()
        return answer

    rows, texts = LOGITS.copy(), [Text(text, 3) for text in TEXTS]
    law = Pipeline((Processor(process, check=False),)).laws(rows, "logits", texts)
    assert seen == [(torch.int64, [list(text)], torch.float64, (1, V)) for text in TEXTS]
    assert np.array_equal(law, sampling().laws(LOGITS, "logits"))
    assert np.array_equal(rows, LOGITS)
    assert texts == TEXTS


class Counting:
    """Forbids token 0 from its third call on; the 16th row is asked for in the calls 24 to 26."""

    def __init__(self):
        self.calls = 0

    def __call__(self, input_ids, scores):
        self.calls += 1
        if self.calls > 2:
            scores[:, 0] = -torch.inf
        return scores


class Following:
    """Forbids the token that ended the text of the call before."""

    last = 0

    def __call__(self, input_ids, scores):
        scores[:, self.last], self.last = -torch.inf, int(input_ids[0, -1])
        return scores


@pytest.mark.parametrize("process", [Counting, Following, lambda: lambda ids, scores: scores + torch.rand(1, V)])
def test_one_that_is_no_function_of_the_text_is_refused(process):  # A48
    with pytest.raises(ContractError, match="not a pure function of the prefix"):
        sampling(processors=[process()]).laws(LOGITS, "logits", TEXTS)


def test_one_that_changes_later_is_found_later():
    counting = Counting()
    counting.calls = -23
    pipeline = sampling(processors=[counting])
    for _ in range(3):
        pipeline.laws(LOGITS, "logits", TEXTS)
    with pytest.raises(ContractError, match="Counting is not a pure function"):
        pipeline.laws(LOGITS, "logits", TEXTS)


def test_rows_are_asked_for_twice_more_and_more_rarely():
    calls = []
    pipeline = sampling(processors=[lambda ids, scores: (calls.append(0), scores)[1]])
    for _ in range(20):
        pipeline.laws(LOGITS, "logits", TEXTS)
    assert len(calls) == 100 + 2 * 7  # the rows 1, 2, 4, .. 64


@pytest.mark.parametrize(
    "answer", [lambda scores: scores[0], lambda scores: scores[:, :-1], lambda scores: scores.sum()]
)
def test_an_answer_of_another_shape_is_refused(answer):
    with pytest.raises(ContractError, match=r"of \(1, 40\) scores"):
        sampling(processors=[lambda ids, scores: answer(scores)]).laws(LOGITS, "logits", TEXTS)


def test_a_row_that_it_empties_is_refused_by_its_number():
    pipeline = sampling(processors=[lambda ids, scores: scores - (torch.inf if ids.shape[1] > 7 else 0)])
    for kind, rows in (("logits", LOGITS), ("laws", sampling().laws(LOGITS, "logits"))):
        with pytest.raises(ContractError, match="row 3 "):
            pipeline.laws(rows, kind, TEXTS)


def test_fractions_and_torch_rows_are_taken():
    law = fractions(["1/2", "1/4", "1/4", "0"])[None]
    halved = Processor(lambda ids, scores: scores - torch.log(torch.tensor([[2.0, 1, 1, 1]]).double()))
    assert np.allclose(Pipeline((halved,)).laws(law, "laws", [[0]]), [[1 / 3, 1 / 3, 1 / 3, 0]], rtol=1e-15, atol=0)
    assert law.tolist() == [[Fraction(1, 2), Fraction(1, 4), Fraction(1, 4), 0]]
    double = sampling(processors=[lambda ids, scores: 2 * scores])
    got = double.laws(torch.from_numpy(LOGITS), "logits", TEXTS)
    assert np.allclose(got.numpy(), double.laws(LOGITS, "logits", TEXTS), rtol=1e-13, atol=0)


def test_without_torch_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match="torch"):
        sampling(processors=[lambda ids, scores: scores]).laws(LOGITS, "logits", TEXTS)
