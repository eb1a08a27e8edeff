"""`prove` and `attack` as a user types them: tables, JSON, exit statuses, and one line for what cannot be."""

import json
import subprocess
import sys

import pytest

from draftproof.rules.catalogue import RULES
from draftproof.witness.battery import battery

MODULE = """
from dataclasses import replace
from draftproof import TokenRule

def honest(engine):
    return engine

def redraw(engine):
    return replace(engine, rule=TokenRule(residual=lambda p, q: p))

number = 3
"""


def draftproof(*words, path=None):
    env = {"PYTHONPATH": str(path), "PATH": "/usr/bin:/bin"} if path else None
    return subprocess.run(
        [sys.executable, "-m", "draftproof", *words], capture_output=True, text=True, check=False, env=env
    )


def test_one_rule_is_proven_by_every_witness():
    done = draftproof("prove", "--rule", "block", "--json")
    findings = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert {finding["verdict"] for finding in findings} == {"LOSSLESS"}
    assert {finding["witness"] for finding in findings} >= {witness.name for witness in battery()} | {"smt"}
    assert set(findings[0]) >= {"witness", "subject", "verdict", "max_deviation", "total_variation", "where", "reason"}


def test_the_table_has_a_row_for_the_rule_and_a_sentence_at_the_end():
    done = draftproof("prove", "--rule", "match")
    assert done.returncode == 0
    assert any(line.startswith("match ") for line in done.stdout.splitlines())
    assert "LOSSLESS in all of" in done.stdout


def test_a_tamper_turns_prove_red():
    done = draftproof("prove", "--engine", "tamper:residual-is-the-target")
    assert done.returncode == 1
    assert "LOSSY" in done.stdout


@pytest.mark.parametrize(("function", "status"), [("honest", 0), ("redraw", 1)])
def test_an_engine_of_ones_own_can_be_examined(tmp_path, function, status):
    (tmp_path / "my_engines.py").write_text(MODULE)
    done = draftproof("prove", "--rule", "token", "--engine", f"my_engines:{function}", path=tmp_path)
    assert done.returncode == status, done.stderr


PAIR = ("prove", "--target", "tiny:draft", "--prompt", "And the king", "--max-tokens", "6")


@pytest.mark.parametrize("drafter", ["tiny:target", "ngram", "none", "early_exit:1"])
def test_a_pair_is_examined_by_every_witness_of_real_models_whatever_drafts(command, drafter):
    target = ("--target", "tiny:target") if drafter == "early_exit:1" else ()
    status, out, err = command(*PAIR, *target, "--drafter", drafter, "--json")
    findings = json.loads(out)
    assert (status, err) == (0, "")
    assert {finding["verdict"] for finding in findings} == {"LOSSLESS"}
    assert {finding["witness"] for finding in findings} == {"replay", "report", "identity", "greedy", "oracles"}


def test_all_rules_are_examined_on_a_pair_where_that_is_asked(command):
    status, out, _ = command(*PAIR, "--rule", "all", "--num-speculative-tokens", "2", "--json")
    assert status == 0
    assert {finding["subject"].split(",")[0] for finding in json.loads(out)} == set(RULES)


def test_the_findings_on_a_pair_come_in_lines_and_a_sentence_ends_them(command):
    status, out, _ = command(*PAIR, "--seed", "3", "--seed", "4", "--temperature", "0", "--top-p", "1")
    *lines, ending = out.splitlines()
    assert status == 0
    assert all(line.startswith("LOSSLESS ") for line in lines)
    assert ending == f"LOSSLESS in all of {len(lines)} cases"


def test_a_tamper_turns_a_pair_red(command):
    status, out, _ = command(*PAIR, "--engine", "tamper:all-drafts-stay")
    assert status == 1
    assert "LOSSY replay on all-drafts-stay, prompt 1" in out


@pytest.mark.parametrize(
    ("words", "option", "said"),
    [
        (("prove", "--drafter", "ngram"), "--drafter", "needs a target too"),
        (("prove", "--prompt", "x"), "PROMPT", "needs a target too"),
        (("prove", "--target", "nobody"), "--target", "allowed are"),
        ((*PAIR, "--drafter", "nobody"), "--drafter", "allowed are"),
        ((*PAIR, "--temperature", "-1"), "--temperature", "allowed"),
        ((*PAIR, "--top-p", "2"), "--top-p", "allowed"),
        ((*PAIR, "--num-speculative-tokens", "-1"), "--num-speculative-tokens", "allowed"),
        ((*PAIR, "--max-tokens", "-1"), "--max-tokens", "allowed"),
        ((*PAIR, "--seed", "-1"), "--seed", "allowed"),
        (("prove", "--rule", "tokn"), "--rule", "allowed are token, block"),
        (("prove", "--engine", "mine"), "--engine", "MODULE:FUNCTION"),
        (("prove", "--engine", "no_such_module:f"), "--engine", "no_such_module"),
        (("prove", "--engine", "sys:no_such_name"), "--engine", "no_such_name"),
        (("prove", "--engine", "sys:maxsize"), "--engine", "a function is needed"),
        (("prove", "--engine", "tamper:nobody"), "--tamper", "near are"),
        (("attack", "--tamper", "nobody"), "--tamper", "near are"),
        (("generate", "x", "--rule", "lenient"), "--rule", "allowed are token, block"),
        (("generate", "x", "--tree", "2,2"), "--tree", "a rule for chains"),
        (("generate", "x", "--rule", "tree", "--tree", "2,two"), "--tree", "whole numbers"),
        (("generate", "x", "--rule", "tree", "--tree", "0,2"), "--tree", "whole numbers"),
        (("generate", "x", "--rule", "tree", "--tree", "2,2,2,2"), "--tree", "fewer speculative tokens than"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(words, option, said):
    done = draftproof(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: {option}: ")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


def test_an_attack_prints_who_saw_what():
    done = draftproof("attack", "--tamper", "residual-is-the-target", "--tamper", "as-shipped")
    assert done.returncode == 0
    assert "1 of 1 tampers caught" in done.stdout
    assert "1 of 1 innocent look-alikes left alone" in done.stdout
    assert "is blind to" in done.stdout


def test_an_attack_as_json_has_the_promised_fields():
    done = draftproof("attack", "--tamper", "residual-is-the-target", "--json")
    (score,) = json.loads(done.stdout)["tampers"]
    assert (done.returncode, done.stderr) == (0, "")
    assert set(score) >= {"name", "family", "harmless", "caught_by", "max_deviation", "total_variation"}
    assert {"identity", "exact", "sequence"} <= set(score["caught_by"])
    assert score["total_variation"] > 0


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_generates_with_a_certificate(rule):
    done = draftproof("generate", "And the king said", "--rule", rule, "--max-tokens", "12", "--json")
    said = json.loads(done.stdout)
    assert done.returncode == 0
    assert said["speculation"]["rule"] == rule
    assert said["certificate"]["verdict"] == "LOSSLESS"
    assert said["usage"]["completion_tokens"] == 12
    assert said["speculation"]["num_draft_tokens"] > 0


def test_the_coupled_rules_give_one_text_per_seed_whatever_is_drafted():
    words = ["generate", "And the king said", "--max-tokens", "16", "--seed", "7", "--json"]
    variants = [
        ("--rule", "coupled"),
        ("--rule", "coupled", "--no-speculation"),
        ("--rule", "coupled", "--num-speculative-tokens", "5"),
        ("--rule", "coupled", "--drafter", "tiny:target"),
        ("--rule", "tree-coupled", "--tree", "3,2"),
    ]
    texts = {json.loads(draftproof(*words, *variant).stdout)["text"] for variant in variants}
    assert len(texts) == 1
