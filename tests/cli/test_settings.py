"""Every option of `generate` does what it says, or is refused in one line before anything is loaded."""

import json
from pathlib import Path
from unittest.mock import ANY

import pytest
import typer.main

from draftproof.api.generate import generate
from draftproof.cli.app import app
from draftproof.drafters.model import ModelDrafter
from draftproof.engine import setup
from draftproof.engine.combinations import table
from draftproof.engine.options import ALIASES, NAMES
from draftproof.engine.rerun import first_difference, rerun
from draftproof.engine.traces import read

PROMPT = "And the king said"
SHORT = {"max_tokens": 12, "seed": 4}
WORDS = ["generate", PROMPT, "--max-tokens", "12", "--seed", "4"]
SCHEMA = {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"], "additionalProperties": False}
LARK = 'start: "A" ("a" | "b")+ "Z"'


KEPT = {}


@pytest.fixture(autouse=True)
def _models_are_read_once(monkeypatch):
    load = setup.load
    monkeypatch.setattr(
        setup, "load", lambda spec, setting: KEPT.get(spec) or KEPT.setdefault(spec, load(spec, setting))
    )


@pytest.fixture
def report(command):
    def run(*words):
        status, out, err = command(*WORDS, "--json", *words)
        assert (status, err) == (0, "")
        return json.loads(out)

    return run


CHANGES = {
    "drafter": (["--drafter", "ngram:1-2"], {"drafter": "ngram:1-2"}),
    "num_speculative_tokens": (["--num-speculative-tokens", "1"], {"num_speculative_tokens": 1}),
    "max_tokens": (["--max-tokens", "5"], {"max_tokens": 5}),
    "temperature": (["--temperature", "0"], {"temperature": 0}),
    "top_k": (["--top-k", "2"], {"top_k": 2}),
    "top_p": (["--top-p", "0.3"], {"top_p": 0.3}),
    "seed": (["--seed", "5"], {"seed": 5}),
    "rule": (["--rule", "match"], {"rule": "match"}),
    "min_p": (["--min-p", "0.5"], {"min_p": 0.5}),
    "typical_p": (["--typical-p", "0.2"], {"typical_p": 0.2}),
    "repetition_penalty": (["--repetition-penalty", "4"], {"repetition_penalty": 4}),
    "presence_penalty": (["--presence-penalty", "-2"], {"presence_penalty": -2}),
    "frequency_penalty": (["--frequency-penalty", "-2"], {"frequency_penalty": -2}),
    "logit_bias": (["--logit-bias", "13=50", "--logit-bias", "270=49"], {"logit_bias": {13: 50, 270: 49}}),
    "logit_bias as JSON": (["--logit-bias", '{"13": 50, "270": 49}'], {"logit_bias": {13: 50, 270: 49}}),
    "bad_words": (["--bad-words", ",", "--bad-words", "unto"], {"bad_words": [",", "unto"]}),
    "allowed_token_ids": (["--allowed-token-ids", "13,260, 270"], {"allowed_token_ids": [13, 260, 270]}),
    "json_schema": (["--json-schema", json.dumps(SCHEMA)], {"json_schema": json.dumps(SCHEMA)}),
    "regex": (["--regex", "[0-9]{3}"], {"regex": "[0-9]{3}"}),
    "lark": (["--lark", LARK], {"lark": LARK}),
    "draft_sampling": (
        ["--draft-sampling", "raw", "--temperature", "0.6"], {"draft_sampling": "raw", "temperature": 0.6},
    ),
    "stop": (["--stop", "zzz", "--stop", "e"], {"stop": ["zzz", "e"]}),
    "stop_token_ids": (["--stop-token-ids", "13,333,322"], {"stop_token_ids": [13, 333, 322]}),
    "speculative_config": (
        ["--speculative-config", '{"method": "ngram", "num_speculative_tokens": 2}'],
        {"drafter": "ngram:5-5", "num_speculative_tokens": 2},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CHANGES)
def test_an_option_is_the_setting_of_its_name_and_changes_something(report, case):
    words, settings = CHANGES[case]
    found, wanted = report(*words), generate(PROMPT, **SHORT | settings)
    assert found["token_ids"] == list(wanted.token_ids)
    assert found["text"] == wanted.text
    assert found["stop_reason"] == wanted.samples[0].stop_reason
    assert found["speculation"]["num_draft_tokens"] == wanted.trace.num_draft_tokens
    assert wanted.trace.passes != generate(PROMPT, **SHORT).trace.passes


def test_every_setting_is_an_option_of_the_same_name_and_default():
    parameters = {each.name: each for each in typer.main.get_command(app).commands["generate"].params}
    aliases = {name for name, own in ALIASES.items() if own == "num_speculative_tokens"}
    assert NAMES.keys() | aliases <= parameters.keys()
    for name in NAMES.keys() - {"prompt"}:
        assert f"--{name.replace('_', '-')}" in parameters[name].opts
        default = getattr(setup.Options(), name)
        assert parameters[name].default in {None, str(default), default} if default not in ((), {}) else True


def test_min_tokens_and_ignore_eos_are_heard(report):
    eos = str(min(setup.Models().load("tiny:target", "target").tokenizer.eos))
    ended = report("--logit-bias", f"{eos}=100")
    assert (ended["token_ids"], ended["finish_reason"], ended["stop_reason"]) == ([int(eos)], "stop", int(eos))
    assert len(report("--logit-bias", f"{eos}=100", "--min-tokens", "3")["token_ids"]) == 4
    assert report("--logit-bias", f"{eos}=100", "--ignore-eos")["finish_reason"] == "length"


@pytest.mark.parametrize(("option", "text"), [("json-schema", json.dumps(SCHEMA)), ("lark", LARK)])
def test_a_grammar_may_come_from_a_file(report, tmp_path, option, text):
    (tmp_path / "grammar: 1").write_text(text)
    assert report(f"--{option}", tmp_path / "grammar: 1") == report(f"--{option}", text) | {"timing": ANY}


@pytest.mark.parametrize("alias", ["--num-assistant-tokens", "--num-draft-tokens", "--gamma"])
def test_other_engines_names_of_the_draft_length_mean_the_same(report, alias):
    assert report(alias, "2") == report("--num-speculative-tokens", "2") | {"timing": ANY}


@pytest.mark.parametrize("words", [["--json"], []], ids=["json", "screen"])
def test_auto_says_how_the_length_went(command, words):
    status, out, err = command(*WORDS, "--max-tokens", "60", "--num-speculative-tokens", "auto", *words)
    assert status == 0
    if not words:
        assert "auto: " in err
        return
    changes = json.loads(out)["speculation"]["draft_lengths"]
    assert changes[0]["pass"] == 0
    assert all(change["why"] and change["pass"] > 0 for change in changes[1:])


def test_a_trace_with_auto_runs_again_with_the_lengths_it_had(command, tmp_path):
    path = tmp_path / "trace.json"
    status, _, _ = command(*WORDS, "--max-tokens", "60", "--num-speculative-tokens", "auto", "--trace", path)
    trace = read(path)
    run = rerun(trace)
    assert (status, trace.settings["num_speculative_tokens"]) == (0, "auto")
    assert first_difference(trace, run.engine.decode(run.prompt, run.stop, run.noise)) is None


def test_a_trace_keeps_all_settings(command, tmp_path):
    path = tmp_path / "trace.json"
    words = ["--logit-bias", "13=2", "--stop", "LORD", "--min-p", "0.1", "--presence-penalty", "1", "--trace", path]
    assert command(*WORDS, *words)[0] == 0
    trace = read(path)
    run = rerun(trace)
    assert first_difference(trace, run.engine.decode(run.prompt, run.stop, run.noise)) is None
    assert (trace.settings["logit_bias"], trace.settings["stop"]) == ({"13": 2.0}, ["LORD"])


def test_log_probabilities_come_with_alternatives(report):
    found = report("--logprobs", "3", "--top-k", "20")
    assert [each["token"] for each in found["logprobs"]] == found["token_ids"]
    for each in found["logprobs"]:
        assert len(each["top"]) == len(each["raw_top"]) == 3
        assert each["top"][0][1] >= each["logprob"] >= each["raw_logprob"]  # fewer tokens share the mass after top-k
    assert "logprobs" not in report()


def test_a_drafter_that_fails_is_named_and_costs_only_its_drafts(command, report, monkeypatch):
    def broken(self, context):
        raise ValueError("no idea")

    monkeypatch.setattr(ModelDrafter, "law", broken)
    found = report("--rule", "coupled")
    assert found["speculation"]["num_drafter_faults"] == found["speculation"]["target_passes"] - 1 == 11
    assert found["token_ids"] == list(generate(PROMPT, **SHORT, no_speculation=True, rule="coupled").token_ids)
    _, _, err = command(*WORDS)
    words = "failed in 11 of 12 passes (ValueError: no idea); the target went on alone there"
    assert words in " ".join(err.split())


REFUSED = {
    "bias without a number": (["--logit-bias", "often"], "--logit-bias", "ID=BIAS"),
    "bias given twice": (["--logit-bias", "5=1", "--logit-bias", "5=2"], "--logit-bias", "token 5"),
    "bias of a text": (["--logit-bias", '{"5": "a"}'], "--logit-bias", "numbers by token id"),
    "bias of no JSON": (["--logit-bias", '{"5": '], "--logit-bias", "ID=BIAS"),
    "bias NaN": (["--logit-bias", "5=nan"], "--logit-bias", "nan"),
    "bias of no token": (["--logit-bias", "1024=1"], "--logit-bias", "1023"),
    "empty bad word": (["--bad-words", ""], "--bad-words", "at least one character"),
    "no ids": (["--allowed-token-ids", "a,b"], "--allowed-token-ids", "17,18"),
    "ids with a gap": (["--stop-token-ids", "1,,2"], "--stop-token-ids", "17,18"),
    "stop of no token": (["--stop-token-ids", "-1"], "--stop-token-ids", "1023"),
    "empty stop": (["--stop", ""], "--stop", "at least one character"),
    "no samples": (["--n", "0"], "--n", "1 to 1024"),
    "too many samples": (["--n", "99999999999999999999"], "--n", "1 to 1024"),
    "open bracket": (["--regex", "("], "--regex", "unclosed"),
    "bad schema": (["--json-schema", '{"type": 3}'], "--json-schema", "type"),
    "schema that is no file": (["--json-schema", "none.json"], "--json-schema", "No such file"),
    "schema that is a folder": (["--json-schema", "."], "--json-schema", "directory"),
    "grammar without a rule": (["--lark", "a" * 5000], "--lark", "start: ..."),
    "bad grammar": (["--lark", "start: : :"], "--lark", "grammar"),
    "unknown draft sampling": (["--draft-sampling", "other"], "--draft-sampling", "same, raw"),
    "length that is a word": (["--num-speculative-tokens", "many"], "--num-speculative-tokens", "auto"),
    "two names, one setting": (["--gamma", "2", "--num-draft-tokens", "3"], "--num-draft-tokens", "as gamma"),
    "one setting twice": (["--gamma", "2", "--num-speculative-tokens", "3"], "--num-speculative-tokens", "gamma"),
    "config and option": (
        ["--speculative-config", '{"num_speculative_tokens": 4}', "--gamma", "2"], "--num-speculative-tokens", "config",
    ),
    "config of no JSON": (["--speculative-config", "four"], "--speculative-config", "no JSON"),
    "config of no object": (["--speculative-config", "[4]"], "--speculative-config", "object"),
    "unknown key": (["--speculative-config", '{"draft_tensor_parallel_size": 2}'], "--speculative-config", "draft_"),
    "method that is a list": (["--speculative-config", '{"method": ["ngram"]}'], "--speculative-config", "ngram"),
    "backward n-grams": (["--drafter", "ngram:9-2"], "--drafter", "MIN-MAX"),
    "no such corpus": (["--drafter", "suffix:/no/file"], "--drafter", "no such file"),
    "too many layers": (["--drafter", "early_exit:99"], "--drafter", "6"),
    "log-probabilities on the screen": (["--logprobs", "1"], "--logprobs", "json"),
    "too many alternatives": (["--json", "--logprobs", "-1"], "--logprobs", "0 to 1024"),
    "batch of one": (["--batch-size", "2"], "--batch-size", "prompts"),
    "nowhere to read": (["--out", "texts.jsonl"], "--out", "prompts"),
    "nowhere to write": (["--prompts", "none.jsonl"], "PROMPT", "leave one of them out"),
    "trace of several": (["--n", "2", "--trace", "trace.json"], "--trace", "one prompt"),
    "auto tree": (["--num-speculative-tokens", "auto", "--rule", "tree"], "--num-speculative-tokens", "trees"),
    "two grammars": (["--regex", "a", "--lark", "start: /a/"], "--regex", "one grammar"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_in_one_line_with_what_can(command, case, tmp_path, monkeypatch):
    words, option, allowed = REFUSED[case]
    monkeypatch.chdir(tmp_path)
    status, out, err = command(*WORDS, *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: ")
    assert option in err
    assert allowed in err
    assert not list(tmp_path.iterdir())


def test_options_left_alone_do_not_count_as_given(report):
    found = report("--speculative-config", '{"num_speculative_tokens": 2, "model": "tiny:target", "rule": "token"}')
    assert found["speculation"]["rule"] == "token"
    assert found["speculation"]["acceptance_rate"] == 1.0


def test_the_table_of_combinations_in_the_reference_is_the_one_that_is_checked():
    reference = (Path(__file__).parents[2] / "docs" / "reference" / "command-line.md").read_text()
    _, _, rest = reference.partition("<!-- combinations: draftproof.engine.combinations.table() -->\n")
    assert rest.partition("\n<!-- end of combinations -->")[0] == table()
