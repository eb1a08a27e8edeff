"""Greedy texts are transformers' own, token for token, whoever drafts and whatever the settings."""

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, LogitsProcessor, LogitsProcessorList

from draftproof.drafters.ngram import NgramDrafter
from draftproof.economics.policy import Adaptive
from draftproof.integrations import drafting
from draftproof.integrations.transformers import speculative
from draftproof.rules.catalogue import RULES

SETTINGS = {
    "two ends": {"eos_token_id": [2, 14, 31]},
    "repetition": {"repetition_penalty": 1.5},
    "n-grams": {"no_repeat_ngram_size": 1},
    "bad words": {"bad_words_ids": [[14], [7, 9]]},
    "at least": {"min_new_tokens": 12, "eos_token_id": [51, 14]},
    "suppressed": {"suppress_tokens": [3, 4, 5], "begin_suppress_tokens": [14]},
    "biased": {"sequence_bias": [[[9], 3.0], [[9, 17], -4.0]]},
    "ends anyway": {"forced_eos_token_id": 2, "max_new_tokens": 9},
    "decays": {"exponential_decay_length_penalty": (4, 1.4)},
    "of the prompt": {"encoder_repetition_penalty": 4.0, "encoder_no_repeat_ngram_size": 2},
    "watermarked": {"watermarking_config": {"bias": 2.5, "seeding_scheme": "selfhash"}},
}


def texts(model, ids, spec, **settings):
    settings = {"max_new_tokens": 24, "do_sample": False} | settings
    return model.generate(ids, **settings), model.generate(ids, custom_generate=spec, **settings)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_writes_the_same_text(rule, target, draft, ids):
    spec = speculative(draft, rule=rule, num_speculative_tokens=3)
    plain, fast = texts(target, ids, spec)
    assert torch.equal(plain, fast)
    assert 0 < spec.last[0].acceptance_rate < 1


@pytest.mark.parametrize(
    "drafter", ["none", "ngram", "ngram:2-3", "suffix", "early_exit:1", "chain:ngram,early_exit:1"]
)
def test_every_drafter_leads_to_the_same_text(drafter, target, ids):
    plain, fast = texts(target, ids, speculative(drafter))
    assert torch.equal(plain, fast)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_settings_mean_what_they_mean_in_transformers(settings, target, draft, ids):
    plain, fast = texts(target, ids, speculative(draft), **settings)
    assert torch.equal(plain, fast)


def test_the_settings_change_the_text(target, ids):
    """Without this the test above could not fail."""
    plain, *others = [texts(target, ids, speculative("none"), **settings)[0] for settings in ({}, *SETTINGS.values())]
    assert all(other.tolist() != plain.tolist() for other in others)


def test_a_drafter_may_be_an_object(target, ids):
    plain, fast = texts(target, ids, speculative(NgramDrafter(64, 1, 3)))
    assert torch.equal(plain, fast)


def test_a_length_may_be_chosen_on_the_way(target, draft, ids, call_of):
    spec = speculative(draft, num_speculative_tokens="auto")
    plain, fast = texts(target, ids, spec, max_new_tokens=40)
    assert torch.equal(plain, fast)
    call = call_of(target, ids, max_new_tokens=40)
    assert isinstance(spec.engine(call, call.prompts()[0]).length, Adaptive)


def test_processors_of_the_user_are_used(target, draft, ids):
    class NotAfterItself(LogitsProcessor):
        def __call__(self, input_ids, scores):
            scores[0, input_ids[0, -1]] = -torch.inf  # in place, as some do
            return scores

    processors = LogitsProcessorList([NotAfterItself()])
    plain, fast = texts(target, ids, speculative(draft), logits_processor=processors)
    assert torch.equal(plain, fast)


def test_allowed_tokens_may_depend_on_the_text(target, draft, ids):
    def allowed(batch, text):
        return range(3 + len(text) % 2, 60, 2)

    plain, fast = texts(target, ids, speculative(draft), prefix_allowed_tokens_fn=allowed)
    assert torch.equal(plain, fast)


def test_another_family_works_as_well(ids):
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=64, n_positions=64, n_embd=32, n_layer=2, n_head=4, initializer_range=0.3)
    model = GPT2LMHeadModel(config).eval()
    plain, fast = texts(model, ids, speculative("ngram"), eos_token_id=None, pad_token_id=0)
    assert torch.equal(plain, fast)


def test_the_acceptance_can_be_looked_at(target, ids):
    spec = speculative(target, num_speculative_tokens=4)
    texts(target, ids, spec, max_new_tokens=20, eos_token_id=None, pad_token_id=0)
    assert spec.last[0].acceptance_rate == 1
    assert len(spec.last[0].passes) == 4
    assert spec.last[0].prompt == tuple(ids[0].tolist())
    assert spec.last[0].seconds > 0


def test_models_are_wrapped_once(target, draft, ids, monkeypatch):
    wrapped = []
    monkeypatch.setattr(
        drafting, "model_of", lambda module, was=drafting.model_of: wrapped.append(module) or was(module)
    )
    spec = speculative(draft)
    for _ in range(3):
        texts(target, ids, spec)
    assert wrapped == [target, draft]
