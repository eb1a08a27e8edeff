"""`generate --witness`: what it shows, what it says, how it ends; and that it leaves the text alone."""

import json
import re

import pytest

from conftest import needs
from draftproof.cli import watched
from draftproof.redteam.tampers.catalogue import TAMPERS
from draftproof.rules.catalogue import RULES
from draftproof.witness.embedded import embedded_run
from draftproof.witness.watch import Watch
from ggufs_of_tests import write_gguf
from hf_folders_of_tests import save_model

WORDS = ["generate", "And the king said", "--max-tokens", "16", "--seed", "3"]
CODES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
HIDDEN, SHOWN = "\x1b[?25l", "\x1b[?25h"
"""What makes a terminal hide its cursor, and show it again."""
FIELDS = {"verdict", "reason", "log_evidence", "tokens", "drift_bound", "slots", "excused"}


def witness_of(command, *words):
    status, out, _ = command(*words, "--witness", "--json")
    assert out.count("\n") == 1
    return status, json.loads(out)["witness"]


@pytest.fixture
def wrong_rule(monkeypatch):
    """The token rule with everything upside down: convicted within some thirty tokens."""
    tamper = TAMPERS["everything-upside-down"]
    monkeypatch.setitem(RULES, "token", tamper.apply(embedded_run().engine).rule)


def test_json_has_what_the_witness_says(command):
    status, found = witness_of(command, *WORDS)
    assert status == 0
    assert set(found) == FIELDS
    assert (found["verdict"], found["tokens"], found["excused"]) == ("INCONCLUSIVE", 16, 0)
    assert "16 tokens are too few; 2,000 is the least, and a bound of 2% takes some 19,000" in found["reason"]
    assert 0 <= found["log_evidence"] < 13.8
    assert set(found["slots"]["all"]) == {"tokens", "drift_bound", "event"}
    assert found["slots"]["all"]["drift_bound"] == found["drift_bound"] <= 1
    assert "witness" not in json.loads(command(*WORDS, "--json")[1])


def test_the_text_is_the_same_and_the_last_line_is_the_verdict(command):
    status, out, err = command(*WORDS, "--witness")
    assert status == 0
    assert out == command(*WORDS)[1]
    said = " ".join(err.split())
    assert "witness INCONCLUSIVE evidence 10^" in said
    assert said.endswith("a bound of 2% takes some 19,000")


@pytest.mark.parametrize(
    ("words", "tokens"),
    [
        (("--rule", "traversal", "--tree", "2,2"), 16),
        (("--rule", "coupled", "--top-p", "0.9", "--min-p", "0.02", "--repetition-penalty", "1.2"), 16),
        (("--typical-p", "0.8", "--bad-words", "king", "--logit-bias", "17=3"), 16),
        (("--drafter", "ngram", "--n", "3"), 48),
        (("--drafter", "early_exit:2", "--num-speculative-tokens", "auto"), 16),
        (("--no-speculation",), 16),
        (("--draft-sampling", "raw", "--temperature", "0.5", "--certify", "off"), 16),
        (("--max-tokens", "0"), 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_it_goes_with_every_setting(command, words, tokens):
    status, found = witness_of(command, *WORDS, *words)
    assert (status, found["verdict"], found["tokens"]) == (0, "INCONCLUSIVE", tokens)


def test_it_goes_with_a_grammar(command):
    needs("llguidance")
    status, found = witness_of(command, "generate", "x", "--regex", "[ab]{3,6}")
    assert (status, found["verdict"]) == (0, "INCONCLUSIVE")
    assert 4 <= found["tokens"] <= 7


def test_at_temperature_0_it_says_that_bets_are_void(command):
    status, found = witness_of(command, *WORDS, "--temperature", "0")
    assert (status, found["verdict"], found["log_evidence"]) == (0, "INCONCLUSIVE", 0)
    assert "bets are void; all 16 tokens are those that they left" in found["reason"]


@pytest.mark.parametrize("backend", ["hf", "gguf"])
def test_it_goes_with_every_backend(command, tmp_path, backend):
    needs("torch" if backend == "hf" else "llama_cpp")
    spec = (
        f"hf:{save_model(tmp_path / 'hf')}" if backend == "hf" else f"gguf:{write_gguf(tmp_path / 'a.gguf', 'qwen2')}"
    )
    words = [
        "generate",
        "abc",
        "--target",
        spec,
        "--drafter",
        "ngram",
        "--max-tokens",
        "12",
        "--n",
        "2",
        "--ignore-eos",
    ]
    status, found = witness_of(command, *words)
    assert (status, found["verdict"], found["tokens"]) == (0, "INCONCLUSIVE", 24)


def test_drift_is_an_objection(command, wrong_rule):
    words = [*WORDS[:2], "--rule", "token", "--max-tokens", "120", "--ignore-eos", "--witness"]
    status, found = witness_of(command, *words[:-1])
    assert (status, found["verdict"]) == (1, "DRIFT")
    status, _, err = command(*words)
    assert status == 1
    assert "witness DRIFT evidence 10^" in " ".join(err.split())


def test_prompts_from_a_file_are_witnessed_when_all_are_there(command, tmp_path):
    prompts, out = tmp_path / "prompts.jsonl", tmp_path / "texts.jsonl"
    prompts.write_text('{"prompt": "Blessed", "n": 2}\n{"prompt": "", "temperature": 0, "num_speculative_tokens": 0}\n')
    words = ["generate", "--prompts", prompts, "--out", out, "--max-tokens", "8", "--witness"]
    status, printed, err = command(*words)
    assert (status, printed) == (0, "")
    last = err.splitlines()[-1]
    assert last.startswith("witness: INCONCLUSIVE  evidence 10^")
    assert "24 tokens are too few" in last
    assert command(*words)[2].splitlines()[-1] == last  # nothing is generated again, and all is witnessed


def test_a_file_that_drifts_is_an_objection(command, tmp_path, wrong_rule):
    prompts, out = tmp_path / "prompts.jsonl", tmp_path / "texts.jsonl"
    prompts.write_text('{"prompt": "And the king said", "n": 2}\n')
    words = ["generate", "--prompts", prompts, "--out", out, "--max-tokens", "100", "--ignore-eos", "--rule", "token"]
    status, _, err = command(*words, "--witness")
    assert status == 1
    assert "witness: DRIFT" in err


def test_where_somebody_watches_the_bets_are_shown_below_the_text(command, monkeypatch):
    plain = command(*WORDS)[1]
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm-256color"), ("COLUMNS", "200"), ("LINES", "40")):
        monkeypatch.setenv(name, value)
    status, out, _ = command(*WORDS, "--witness")
    assert status == 0
    assert "witness: evidence 10^" in out
    assert "drift at most" in out
    assert out.count(HIDDEN) == out.count(SHOWN) == 1
    last = CODES.sub("", out[out.rindex("\x1b[2K") :])
    assert last == "And the king said" + plain


def test_an_error_leaves_the_terminal_as_it_was(command, monkeypatch, capsys):
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm-256color")):
        monkeypatch.setenv(name, value)

    def broken(self, done, sample):
        raise ValueError("broken")

    monkeypatch.setattr(watched.Watched, "add", broken)
    with pytest.raises(ValueError, match="broken"):
        command(*WORDS, "--witness")
    out = capsys.readouterr().out
    assert out.count(HIDDEN) == out.count(SHOWN) == 1


def test_an_interruption_of_the_last_reading_leaves_what_was_seen(command, monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Watch, "finished", interrupted)
    status, found = witness_of(command, *WORDS)
    assert (status, found["tokens"], found["verdict"]) == (0, 16, "INCONCLUSIVE")
