"""`attack --statistical` as a user types it: a table, JSON, a bar that is in nobody's way, an end at any time."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from draftproof.cli import bets as command_of_bets
from draftproof.redteam.betting import Tried, tried
from draftproof.redteam.tampers.catalogue import TAMPERS

THREE = ("residual-is-the-draft", "cold-clamped", "rejected-draft-stays")
TWO = ("as-shipped", "residual-three-times-as-large")
QUIET = "one-uniform-rescaled"
SMALL = ("attack", "--statistical", "--max-tokens-total", "400")


def named(names):
    return [word for name in names for word in ("--tamper", name)]


def test_three_tampers_are_convicted_and_two_innocents_left_alone(command):
    status, out, err = command(*SMALL, *named((*THREE, *TWO)), "--json")
    assert (status, err, out.count("\n")) == (0, "", 1)
    found = json.loads(out)
    told = {one["name"]: one for one in found["tampers"]}
    assert list(told) == [*THREE, *TWO]
    assert [told[name]["seen"] for name in told] == [True] * 3 + [False] * 2
    assert (found["false_alarms"], found["not_seen"], found["same_tokens"]) == ([], [], [])
    assert found["max_tokens_total"] == 400
    assert "512 laws over 32 tokens" in found["models"]
    assert set(told["residual-is-the-draft"]) == {
        "name", "family", "harmless", "seen", "same_tokens", "setting", "how", "tokens_to_1e-3", "tokens_to_1e-6",
        "expected_tokens", "tokens", "log_evidence",
    }  # fmt: skip
    assert told["residual-is-the-draft"]["expected_tokens"] == 75
    assert told["residual-is-the-draft"]["tokens_to_1e-3"] <= told["residual-is-the-draft"]["tokens_to_1e-6"] <= 300
    assert told["cold-clamped"]["how"] == "impossible token"
    assert told["cold-clamped"]["log_evidence"] == "Infinity"


def test_a_bar_is_shown_where_somebody_watches_and_not_in_the_json(command, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    status, out, err = command(*SMALL, *named(THREE[:1]), "--json")
    assert status == 0
    assert json.loads(out)["tampers"][0]["seen"]
    assert "betting" in err
    assert "1/1" in err


def test_the_table_says_how_many_tokens_where_and_with_what(command):
    names = (THREE[0], "logprobs-zero", "residual-of-another-temperature", TWO[1], QUIET)
    status, out, _ = command(*SMALL, *named(names))
    assert status == 0
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in out.splitlines() if line.startswith("  ")}
    assert lines[THREE[0]].split()[2:] == ["75", "plain", "sampling"]
    assert lines["logprobs-zero"] == "emits the tokens of the honest engine"
    assert lines["residual-of-another-temperature"].startswith("not seen in ")
    assert lines[TWO[1]] == "left alone: emits the tokens of the honest engine"
    assert lines[QUIET].startswith("left alone in ")
    assert "1 of 3 tampers convicted" in out
    assert "1 not seen within 400 tokens: residual-of-another-temperature" in out
    assert "2 of 2 innocent look-alikes left alone" in out
    assert "models: two tables of 512 laws" in out


def test_an_innocent_that_is_convicted_is_named_and_is_status_1(command, monkeypatch):
    def accused(names, most):
        for name in names:
            trial = tried(TAMPERS["residual-is-the-draft"], most).trials[0]
            yield Tried(name, TAMPERS[name].family, TAMPERS[name].harmless, (trial,))

    monkeypatch.setattr(command_of_bets, "bets", accused)
    status, out, _ = command(*SMALL, *named(TWO[:1]))
    assert status == 1
    assert "0 of 1 innocent look-alikes left alone as-shipped" in out


def test_what_was_tried_before_an_interruption_is_shown(command, monkeypatch):
    def interrupted(names, most):
        yield tried(TAMPERS[names[0]], most)
        raise KeyboardInterrupt

    monkeypatch.setattr(command_of_bets, "bets", interrupted)
    status, out, _ = command(*SMALL, *named(THREE))
    assert status == 130
    assert "1 of 1 tampers convicted" in out
    assert "interrupted; 1 of 3 were tried" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("attack", "--max-tokens-total", "5"), "only bets take tokens"),
        ((*SMALL[:2], "--max-tokens-total", "0"), "from 1 up"),
        ((*SMALL[:2], "--max-tokens-total", "many"), "whole numbers"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(command, words, said):
    status, out, err = command(*words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "--max-tokens-total" in err
    assert said in err


def test_an_interrupted_attack_keeps_what_is_known():
    innocents = [name for name, tamper in TAMPERS.items() if tamper.harmless]
    words = [sys.executable, "-m", "draftproof", "attack", "--statistical", "--max-tokens-total", "1000000"]
    running = subprocess.Popen(
        [*words, *named((THREE[0], *innocents)), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
    while running.poll() is None and len(children.read_text().split()) < 2:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does it
    out, err = running.communicate(timeout=60)  # were the work waited for, this would take hours
    assert running.returncode == 130
    assert err == ""
    assert isinstance(json.loads(out)["tampers"], list)
