"""The steps come in the order of transformers, or in the one that is asked for; a step that changes nothing is none."""

from itertools import pairwise

import numpy as np
import pytest

from conftest import needs
from draftproof.errors import UsageError
from draftproof.types import Text
from draftproof.warpers.pipeline import ORDER, Pipeline, sampling
from draftproof.warpers.temperature import Temperature
from draftproof.warpers.top_k import TopK

SETTINGS = {
    "logit_bias": {4: 3.0, 9: -2.0}, "repetition_penalty": 1.4, "bad_words": [[7], [3, 2]], "min_tokens": 4,
    "temperature": 0.8, "top_k": 25, "top_p": 0.9, "min_p": 0.02, "typical_p": 0.85,
}  # fmt: skip
OURS = {
    "SequenceBias": "logit_bias", "RepetitionPenalty": "repetition_penalty", "NoBadWords": "bad_words",
    "MinNewTokensLength": "min_tokens", "PrefixConstrained": "allowed_tokens", "Processor": "processors",
    "Temperature": "temperature", "TopK": "top_k", "TopP": "top_p", "MinP": "min_p", "Typical": "typical_p",
}  # fmt: skip
V, PROMPT, EOS = 50, 3, 1
TEXT = Text([5, 9, 9, 4, 3], PROMPT)


class Processor:
    """What a caller of transformers adds."""

    def __call__(self, input_ids, scores):
        return scores


@pytest.fixture(scope="module")
def processors():
    """The processors that transformers itself makes of these settings, in its order."""
    library = needs("transformers")
    configuration = library.GenerationConfig(
        do_sample=True, num_beams=1, num_return_sequences=1,
        temperature=0.8, top_k=25, top_p=0.9, min_p=0.02, typical_p=0.85, repetition_penalty=1.4,
        min_new_tokens=4, bad_words_ids=SETTINGS["bad_words"], eos_token_id=EOS,
        sequence_bias=[[[token], bias] for token, bias in SETTINGS["logit_bias"].items()],
    )  # fmt: skip
    model = library.LlamaForCausalLM(
        library.LlamaConfig(vocab_size=V, hidden_size=8, intermediate_size=8, num_hidden_layers=1,
                            num_attention_heads=1)
    )  # fmt: skip
    model._prepare_special_tokens(configuration)
    return model._get_logits_processor(
        configuration, input_ids_seq_length=PROMPT, prefix_allowed_tokens_fn=lambda i, ids: list(range(V)),
        logits_processor=library.LogitsProcessorList([Processor()]), device="cpu", model_kwargs={},
    )  # fmt: skip


def test_the_order_is_that_of_transformers(processors):
    names = [type(each).__name__.removesuffix("LogitsProcessor").removesuffix("LogitsWarper") for each in processors]
    assert len(names) == len(OURS)
    places = [ORDER.index(OURS[name]) for name in names]
    assert all(first < second for first, second in pairwise(places))


def test_all_controls_together_equal_transformers(processors):
    torch = needs("torch")
    logits = np.random.default_rng(0).normal(scale=2, size=(40, V))
    tokens = torch.tensor([list(TEXT)])
    expected = np.concatenate([processors(tokens, torch.tensor(row[None])).softmax(-1).numpy() for row in logits])
    law = sampling(**SETTINGS, stop_tokens=[EOS]).laws(logits, "logits", [TEXT] * len(logits))
    assert np.array_equal(law > 0, expected > 0)
    assert np.allclose(law, expected, rtol=1e-13, atol=0)  # float64 on both sides; sums are taken in another order


def test_another_order_can_be_asked_for():
    order = [*ORDER[:9], "top_p", "top_k", "min_p", "typical_p", "temperature"]
    law = np.array([[0.4, 0.3, 0.2, 0.1]])
    assert sampling(0.5, top_k=2, order=order) == Pipeline((TopK(2), Temperature(0.5)))
    assert np.count_nonzero(sampling(0.5, top_p=0.8).laws(law, "laws")) == 2
    assert np.count_nonzero(sampling(0.5, top_p=0.8, order=order).laws(law, "laws")) == 3


@pytest.mark.parametrize("order", [(), ORDER[:-1], (*ORDER, "top_k"), (*ORDER[:-1], "top_z"), (*ORDER[:-1], 1)])
def test_an_order_that_leaves_out_or_repeats_a_name_is_refused(order):
    with pytest.raises(UsageError, match="order"):
        sampling(order=order)


def test_neutral_values_add_no_step():
    neutral = sampling(
        1.0, 0, 1.0, min_p=0.0, typical_p=1.0, repetition_penalty=1.0, presence_penalty=0.0, frequency_penalty=0.0,
        logit_bias={}, bad_words=[], min_tokens=0, stop_tokens=[1],
    )  # fmt: skip
    assert neutral == sampling() == Pipeline()
    assert not neutral.reads_text


def test_only_what_reads_the_text_asks_for_it():
    assert not sampling(0.5, 3, 0.5, min_p=0.1, typical_p=0.5, logit_bias={1: 1}, allowed_tokens=[1]).reads_text
    for setting in ({"bad_words": [[1]]}, {"min_tokens": 1}, {"repetition_penalty": 2}, {"presence_penalty": 1}):
        assert sampling(**setting).reads_text
