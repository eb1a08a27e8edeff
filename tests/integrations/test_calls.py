"""Whatever else a `generate` call has: batches, padding, streamers, criteria, what it returns."""

import pytest
import torch
from transformers import LogitsProcessor, LogitsProcessorList, StoppingCriteria, StoppingCriteriaList
from transformers.generation.streamers import BaseStreamer

from draftproof.errors import ContractError
from draftproof.integrations.transformers import speculative

BATCH = {
    "input_ids": torch.tensor([[0, 0, 0, 5, 9, 17], [9, 5, 9, 17, 5, 9], [0, 0, 7, 8, 7, 8]]),
    "attention_mask": torch.tensor([[0, 0, 0, 1, 1, 1], [1] * 6, [0, 0, 1, 1, 1, 1]]),
}


def both(model, spec, **settings):
    settings = {"max_new_tokens": 16, "do_sample": False} | settings
    return model.generate(**settings), model.generate(custom_generate=spec, **settings)


class Listener(BaseStreamer):
    def __init__(self):
        self.heard, self.ended = [], 0

    def put(self, value):
        self.heard.append(value.clone())

    def end(self):
        self.ended += 1


class StopsAt(StoppingCriteria):
    """Stops at so many tokens in all; notes what it was asked."""

    def __init__(self, length):
        self.length, self.lengths = length, []

    def __call__(self, input_ids, scores, **kwargs):
        self.lengths.append(input_ids.shape[1])
        return torch.full((input_ids.shape[0],), input_ids.shape[1] >= self.length)


@pytest.mark.parametrize(
    "settings", [{}, {"repetition_penalty": 1.5}, {"min_new_tokens": 5}, {"eos_token_id": [2, 3, 31]}], ids=str
)
def test_padded_texts_of_a_batch_are_what_transformers_writes(settings, target, draft):
    plain, fast = both(target, speculative(draft), **BATCH, **settings)
    assert torch.equal(plain, fast)


def test_allowed_tokens_may_depend_on_the_row(target, draft):
    def allowed(batch, text):
        return range(10 * batch + 3, 10 * batch + 20)

    plain, fast = both(target, speculative(draft), **BATCH, prefix_allowed_tokens_fn=allowed)
    assert torch.equal(plain, fast)


def test_padding_that_nobody_masked_is_seen_by_transformers_and_here(target, draft):
    plain, fast = both(target, speculative(draft), input_ids=BATCH["input_ids"])
    assert torch.equal(plain, fast)


def test_each_sample_of_a_prompt_is_another_text(target, draft):
    torch.manual_seed(0)
    found = target.generate(
        **BATCH, custom_generate=speculative(draft), do_sample=True, num_return_sequences=4, max_new_tokens=12,
        eos_token_id=None, pad_token_id=0,
    )  # fmt: skip
    assert torch.equal(found[:, :6], BATCH["input_ids"].repeat_interleave(4, dim=0))
    assert len({tuple(row) for row in found[:, 6:].tolist()}) == 12


def test_there_is_a_trace_for_each_row(target, draft):
    spec = speculative(draft)
    both(target, spec, **BATCH)
    assert [trace.prompt for trace in spec.last] == [(5, 9, 17), (9, 5, 9, 17, 5, 9), (7, 8, 7, 8)]
    assert all(trace.num_draft_tokens > 0 for trace in spec.last)


def test_a_streamer_hears_what_it_hears_in_transformers(target, draft, ids):
    listeners = Listener(), Listener()
    target.generate(ids, do_sample=False, max_new_tokens=12, streamer=listeners[0])
    target.generate(ids, do_sample=False, max_new_tokens=12, streamer=listeners[1], custom_generate=speculative(draft))
    assert [value.tolist() for value in listeners[0].heard] == [value.tolist() for value in listeners[1].heard]
    assert [listener.ended for listener in listeners] == [1, 1]


def test_a_criterion_is_asked_after_each_token_and_never_about_a_draft(target, draft, ids):
    criteria = StopsAt(14), StopsAt(14)
    settings = {"do_sample": False, "max_new_tokens": 20, "eos_token_id": None, "pad_token_id": 0}
    plain = target.generate(ids, stopping_criteria=StoppingCriteriaList([criteria[0]]), **settings)
    fast = target.generate(
        ids, stopping_criteria=StoppingCriteriaList([criteria[1]]), custom_generate=speculative(draft), **settings
    )
    assert torch.equal(plain, fast)
    assert criteria[0].lengths == criteria[1].lengths == list(range(8, 15))


def test_rows_end_one_by_one_and_are_filled_with_padding(target, draft):
    class AfterAnOdd(StoppingCriteria):
        def __call__(self, input_ids, scores, **kwargs):
            return input_ids[:, -1] % 8 == 7

    settings = {"stopping_criteria": StoppingCriteriaList([AfterAnOdd()]), "eos_token_id": [2], "max_new_tokens": 40}
    plain, fast = both(target, speculative(draft), **BATCH, **settings)
    assert torch.equal(plain, fast)
    assert (fast[:, -1] == 0).any()


def test_a_time_limit_ends_a_text(target, draft, ids):
    fast = target.generate(
        ids, custom_generate=speculative(draft), max_time=0.0, max_new_tokens=50, eos_token_id=None, pad_token_id=0
    )
    assert fast.shape[1] == ids.shape[1] + 1


def test_scores_and_logits_are_handed_back(target, draft, ids):
    settings = {"return_dict_in_generate": True, "output_scores": True, "output_logits": True, "temperature": 0.7}
    settings |= {"repetition_penalty": 1.3, "max_new_tokens": 8}
    plain, fast = both(target, speculative(draft), input_ids=ids, **settings)
    assert torch.equal(plain.sequences, fast.sequences)
    for name in ("scores", "logits"):
        assert len(plain[name]) == len(fast[name]) == plain.sequences.shape[1] - ids.shape[1]
        for one, other in zip(plain[name], fast[name], strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=1e-4)  # float32 rows of other sizes


def test_a_row_that_has_ended_has_no_scores(target, draft):
    settings = {"return_dict_in_generate": True, "output_scores": True, "eos_token_id": [2, 31]}
    plain, fast = both(target, speculative(draft), **BATCH, **settings)
    assert torch.equal(plain.sequences, fast.sequences)
    ended = torch.stack(fast.scores).isnan().all(-1)
    assert ended.any()
    assert torch.equal(ended.T, fast.sequences[:, 6:] == 0)


def test_a_processor_that_counts_its_calls_is_found_out(target, draft, ids):
    class Counts(LogitsProcessor):
        calls = 0

        def __call__(self, input_ids, scores):
            self.calls += 1
            return scores + self.calls * torch.arange(scores.shape[-1])

    processors = LogitsProcessorList([Counts()])
    with pytest.raises(ContractError, match="Counts one is not a pure function"):
        target.generate(ids, logits_processor=processors, custom_generate=speculative(draft), max_new_tokens=4)
