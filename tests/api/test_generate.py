"""One call: what is asked for comes out, at one place all of it ends, with and without speculation alike."""

import json
import math

import pytest

from draftproof import UsageError, generate, stream
from draftproof.api.settings import options_of
from draftproof.api.speculative_config import settings_of_config
from draftproof.engine.options import Options

PROMPT = "And the king said"


def test_all_parts_of_a_sample_end_at_the_same_place():
    found = generate(PROMPT, max_tokens=80, stop=["the", "LORD"], seed=4, logprobs=2, num_speculative_tokens=6)
    (sample,) = found.samples
    assert sample.finish_reason == "stop"
    assert sample.stop_reason in {"the", "LORD"}
    assert sample.text.count(sample.stop_reason) == 1
    assert sample.stop_reason in sample.text[-len(sample.stop_reason) - 3 :]
    assert len(sample.logprobs) == len(sample.token_ids) == sum(len(each.emitted) for each in sample.trace.passes)
    assert tuple(each.token for each in sample.logprobs) == sample.token_ids


@pytest.mark.parametrize("block", [1, 2, 3, 5, 8])
def test_with_the_coupled_rule_text_and_end_are_those_of_plain_decoding(block):
    settings = {"max_tokens": 60, "stop": [" of", "\n"], "seed": 11, "rule": "coupled", "repetition_penalty": 1.3}
    plain = generate(PROMPT, no_speculation=True, **settings)
    fast = generate(PROMPT, num_speculative_tokens=block, **settings)
    assert fast.token_ids == plain.token_ids
    assert fast.samples[0].stop_reason == plain.samples[0].stop_reason


def test_min_tokens_forbids_every_kind_of_end():
    ended = generate(PROMPT, max_tokens=40, stop=["t"], seed=2).samples[0]
    longer = generate(PROMPT, max_tokens=40, stop=["t"], seed=2, min_tokens=20).samples[0]
    assert len(ended.token_ids) < 20 <= len(longer.token_ids)


def test_samples_are_those_of_their_own_streams_and_share_the_prompt():
    four = generate(PROMPT, max_tokens=16, seed=9, n=4)
    assert len({sample.token_ids for sample in four.samples}) == 4
    assert four.samples[0].token_ids == generate(PROMPT, max_tokens=16, seed=9).token_ids
    assert four.samples[:2] != ()
    assert [s.token_ids for s in generate(PROMPT, max_tokens=16, seed=9, n=2).samples] == [
        s.token_ids for s in four.samples[:2]
    ]


@pytest.mark.parametrize("size", [1, 2, 8])
def test_the_same_seed_alone_and_in_a_batch_gives_the_same_tokens(size):
    prompts = [PROMPT, "", "Blessed are the", "Now"]
    alone = [generate(prompt, max_tokens=18, seed=5).token_ids for prompt in prompts]
    assert [found.token_ids for found in generate(prompts, batch_size=size, max_tokens=18, seed=5)] == alone


def test_a_stream_is_the_text_in_pieces():
    whole = generate(PROMPT, max_tokens=30, seed=6, logprobs=0)
    pieces = list(stream(PROMPT, max_tokens=30, seed=6, logprobs=0))
    assert tuple(token for piece in pieces for token in piece.token_ids) == whole.token_ids
    assert whole.text.startswith("".join(piece.text for piece in pieces))
    assert [piece.finish_reason for piece in pieces[:-1]] == [None] * (len(pieces) - 1)
    assert pieces[-1].finish_reason == "length"
    assert any(all(piece.from_draft[:-1]) and len(piece.from_draft) > 1 for piece in pieces)
    assert tuple(each for piece in pieces for each in piece.logprobs) == whole.samples[0].logprobs


def test_controls_reach_the_text():
    base = {"max_tokens": 30, "seed": 3}
    said = generate(PROMPT, **base).token_ids
    assert said[0] not in generate(PROMPT, logit_bias={said[0]: -100}, **base).token_ids
    assert set(generate(PROMPT, allowed_token_ids=[5, 6, 7], **base).token_ids) <= {5, 6, 7}
    assert "the" not in generate(PROMPT, bad_words=["the"], temperature=0, **base).text.split()
    with_penalty = generate(PROMPT, frequency_penalty=2.0, temperature=0, max_tokens=60).token_ids
    without = generate(PROMPT, temperature=0, max_tokens=60).token_ids
    assert len(set(with_penalty)) > len(set(without))


def test_a_text_follows_its_grammar():
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9}}, "required": ["n"],
              "additionalProperties": False, "x-guidance": {"whitespace_flexible": False}}  # fmt: skip
    for seed in range(3):
        sample = generate("Answer: ", json_schema=json.dumps(schema), seed=seed, max_tokens=60).samples[0]
        assert sample.finish_reason == "stop"
        assert 0 <= json.loads(sample.text)["n"] <= 9


def test_auto_chooses_and_says_why():
    trace = generate(PROMPT, num_speculative_tokens="auto", max_tokens=60, temperature=0).trace
    assert any(record.why for record in trace.passes)
    assert len(trace.token_ids) == 60


def test_logprobs_add_up_under_every_drafter():
    sums = {}
    for drafter in ("none", "tiny:draft", "ngram:1-3"):
        (sample,) = generate("a a a a", drafter=drafter, temperature=0, max_tokens=20, logprobs=0).samples
        sums[drafter] = sum(each.raw_logprob for each in sample.logprobs)
    assert math.isclose(sums["none"], sums["tiny:draft"], abs_tol=2e-5)  # 20 tokens at 1e-6 each
    assert math.isclose(sums["none"], sums["ngram:1-3"], abs_tol=2e-5)


@pytest.mark.parametrize("name", ["num_assistant_tokens", "num_draft_tokens", "gamma"])
def test_names_of_other_engines_are_understood(name):
    assert options_of("a", {name: 7}) == Options("a", num_speculative_tokens=7)
    with pytest.raises(UsageError, match="give one of them"):
        options_of("a", {name: 7, "num_speculative_tokens": 7})


@pytest.mark.parametrize(
    ("config", "settings"),
    [
        ({"method": "ngram", "prompt_lookup_max": 4, "prompt_lookup_min": 2, "num_speculative_tokens": 5},
         {"drafter": "ngram:2-4", "num_speculative_tokens": 5}),
        ({"method": "ngram", "prompt_lookup_max": 3}, {"drafter": "ngram:3-3"}),
        ({"model": "tiny:draft", "rejection_sample_method": "standard"}, {"drafter": "tiny:draft", "rule": "token"}),
        ('{"method": "suffix"}', {"drafter": "suffix"}),
        ({"method": "early_exit", "early_exit_layers": 2}, {"drafter": "early_exit:2"}),
        ({"num_speculative_tokens": "auto"}, {"num_speculative_tokens": "auto"}),
        ({"method": "none"}, {"drafter": "none"}),
    ],
    ids=str,
)  # fmt: skip
def test_a_speculative_config_of_vllm_is_understood(config, settings):
    assert settings_of_config(config) == settings


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("{", "no JSON"), ("[]", "JSON object"), ({"method": "eagle"}, "method is 'eagle'; allowed are"),
        ({"method": "ngram", "model": "tiny:draft"}, "does not use"),
        ({"method": "draft_model"}, "needs the key .model."),
        ({"tensor_parallel": 2}, "got the key 'tensor_parallel'"), ({"rejection_sample_method": "fly"}, "allowed are"),
    ],
    ids=str,
)  # fmt: skip
def test_a_config_that_means_nothing_here_is_refused(config, message):
    with pytest.raises(UsageError, match=message) as refusal:
        settings_of_config(config)
    assert refusal.value.setting == "speculative_config"


def test_a_setting_and_a_config_that_both_say_it_are_refused():
    with pytest.raises(UsageError, match="drafter: speculative_config gives it too"):
        options_of("a", {"drafter": "none", "speculative_config": {"method": "suffix"}})


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"temprature": 1}, "temprature"), ({"top_k": 1.5}, "top_k"), ({"stop": [1]}, "stop"),
        ({"logit_bias": {"x": 1}}, "logit_bias"), ({"logit_bias": [3]}, "logit_bias"), ({"n": 0}, "n"),
        ({"logit_bias": {5000: 1.0}}, "logit_bias"), ({"stop_token_ids": [-1]}, "stop_token_ids"),
        ({"logprobs": -1}, "logprobs"), ({"min_tokens": 9, "max_tokens": 3}, "min_tokens"), ({"regex": "("}, "regex"),
        ({"json_schema": "{"}, "json_schema"), ({"num_speculative_tokens": "many"}, "num_speculative_tokens"),
    ],
    ids=str,
)  # fmt: skip
def test_bad_settings_are_refused_by_name(settings, named):
    with pytest.raises(UsageError) as refusal:
        generate("a", **settings)
    assert refusal.value.setting == named


def test_a_stream_is_refused_before_it_begins():
    with pytest.raises(UsageError, match="n: got 2"):
        stream("a", n=2)
