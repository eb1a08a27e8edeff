"""What cannot be honoured is refused by name, and every setting of transformers is one or the other."""

import subprocess
import sys

import pytest
import torch
from transformers import DynamicCache, GenerationConfig, T5Config, T5ForConditionalGeneration
from transformers.generation.streamers import BaseStreamer

from draftproof.errors import UsageError
from draftproof.integrations.drafting import Modules
from draftproof.integrations.refusals import REFUSED
from draftproof.integrations.transformers import speculative

HONOURED = {
    # what processors are made of
    "temperature", "top_k", "top_p", "min_p", "top_h", "typical_p", "epsilon_cutoff", "eta_cutoff",
    "repetition_penalty", "encoder_repetition_penalty", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size",
    "bad_words_ids", "renormalize_logits", "forced_bos_token_id", "forced_eos_token_id", "remove_invalid_values",
    "exponential_decay_length_penalty", "suppress_tokens", "begin_suppress_tokens", "sequence_bias",
    "watermarking_config", "min_length", "min_new_tokens",
    # what criteria are made of
    "max_length", "max_new_tokens", "max_time", "stop_strings", "eos_token_id",
    # read here
    "do_sample", "num_return_sequences", "output_scores", "output_logits", "return_dict_in_generate", "pad_token_id",
    # done before
    "token_healing", "bos_token_id", "decoder_start_token_id",
}  # fmt: skip
WITHOUT_MEANING = {
    # of beams, assistants and other ways of decoding: without these transformers does not look at them either
    "early_stopping", "length_penalty", "is_assistant", "num_assistant_tokens", "num_assistant_tokens_schedule",
    "assistant_confidence_threshold", "max_matching_ngram_size", "assistant_lookbehind", "target_lookbehind",
    "assistant_ensemble_weight", "speculation_type", "max_cache_len", "continuous_batching_config", "disable_compile",
    "transformers_version",
}  # fmt: skip
ASKED = {
    "num_beams": 2, "num_beam_groups": 2, "diversity_penalty": 0.5, "penalty_alpha": 0.6, "dola_layers": "low",
    "guidance_scale": 1.5, "prompt_lookup_num_tokens": 3, "assistant_early_exit": 1, "use_mtp": True,
    "use_cache": False, "cache_implementation": "static", "prefill_chunk_size": 4, "output_attentions": True,
    "output_hidden_states": True, "low_memory": True,
}  # fmt: skip


def refused(setting, model, *inputs, spec=None, **settings):
    with pytest.raises(UsageError) as caught:
        model.generate(*inputs, custom_generate=spec or speculative("ngram"), max_new_tokens=4, **settings)
    assert caught.value.setting == setting
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_setting_of_transformers_is_honoured_or_refused_or_without_meaning():
    """A newer transformers with a setting that nobody looked at fails here."""
    settings = {name for name in vars(GenerationConfig()) if not name.startswith("_")}
    known = HONOURED | WITHOUT_MEANING | {refusal.setting for refusal in REFUSED}
    assert settings - known == set()


@pytest.mark.parametrize("setting", ASKED)
def test_a_setting_that_cannot_be_honoured_is_refused_by_name(setting, target, ids):
    config = GenerationConfig(**{setting: ASKED[setting]}, return_dict_in_generate="output" in setting)
    refused(setting, target, ids, generation_config=config)


def test_two_assistants_are_refused(target, draft, ids):
    assert "drafter=assistant" in refused("assistant_model", target, ids, assistant_model=draft)


def test_a_cache_with_tokens_in_it_is_refused(target, ids):
    cache = DynamicCache()
    target(ids[:, :-1], cache=cache)
    refused("cache", target, ids, cache=cache)


def test_inputs_beside_token_ids_are_refused(target, ids):
    refused("inputs_embeds", target, ids, inputs_embeds=target.get_input_embeddings()(ids))


def test_padding_on_the_right_is_refused(target, ids):
    mask = torch.ones_like(ids)
    mask[:, -1] = 0
    refused("attention_mask", target, ids, attention_mask=mask)
    mask = torch.ones_like(ids)
    mask[:, 2] = 0
    refused("attention_mask", target, ids, attention_mask=mask)


def test_positions_of_the_users_own_are_refused(target, ids):
    refused("position_ids", target, ids, position_ids=2 * torch.arange(ids.shape[1])[None])
    refused("position_ids", target, ids, position_ids=torch.arange(ids.shape[1]).expand(3, 1, -1))


def test_a_streamer_of_many_texts_is_refused(target, ids):
    class Silent(BaseStreamer):
        def put(self, value):
            pass

    refused("streamer", target, ids.repeat(2, 1), streamer=Silent())


def test_texts_that_nothing_could_fill_up_are_refused(target, ids):
    refused("pad_token_id", target, ids.repeat(2, 1), max_time=1.0, eos_token_id=None, pad_token_id=None)


def test_more_tokens_than_the_context_holds_are_refused(target, ids):
    with pytest.raises(UsageError, match="max_new_tokens: got 300 after 7 tokens of prompt; the model's context holds"):
        target.generate(ids, custom_generate=speculative("ngram"), max_new_tokens=300)


def test_an_encoder_decoder_is_refused(ids):
    config = T5Config(vocab_size=64, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, decoder_start_token_id=0)
    refused("model", T5ForConditionalGeneration(config).eval(), ids)


def test_a_model_in_training_is_refused(small, ids):
    small.train()
    try:
        refused("model", small, ids % 8)
    finally:
        small.eval()


@pytest.mark.parametrize(
    ("setting", "asked"),
    [
        ("drafter", {"drafter": "nobody"}),
        ("rule", {"rule": "nothing"}),
        ("num_speculative_tokens", {"num_speculative_tokens": -1}),
        ("num_speculative_tokens", {"num_speculative_tokens": "auto", "rule": "tree"}),
    ],
    ids=str,
)
def test_what_speculation_cannot_be_is_refused_before_anything_runs(setting, asked):
    with pytest.raises(UsageError) as caught:
        speculative(**asked)
    assert caught.value.setting == setting


def test_a_tree_needs_a_rule_for_trees(target, draft, ids):
    refused("tree", target, ids, spec=speculative(draft, rule="token", tree=(2, 1)))


def test_an_assistant_with_other_rows_needs_a_tokenizer(target, small, ids):
    refused("tokenizer", target, ids, spec=speculative(small))


def test_modules_of_two_calls_are_kept_apart(target, small):
    modules = Modules(None)
    assert modules.target(target) is modules.target(target)
    assert modules.target(small).model.vocab_size == 8


def test_a_missing_library_is_named_with_the_extra_that_brings_it():
    code = "import sys; sys.modules['transformers'] = None; import draftproof.integrations.transformers"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last.endswith("it needs transformers; install it with: pip install 'draftproof[hf]'")
    assert "MissingExtraError" in last
