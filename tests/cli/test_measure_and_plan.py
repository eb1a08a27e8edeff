"""`measure` and `plan` as a user types them: one small measurement, what is made of it, and what is refused."""

import json
import os
import subprocess
import sys

import pytest

from conftest import needs

SMALL = ("--rule", "block", "--rounds", "4", "--workload", "continuation", "--max-tokens", "64")
BY_HAND = ("--acceptance", "0.8", "--cost-ratio", "0.1")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run the command with a folder of measurements of its own."""
    env = os.environ | {"XDG_CONFIG_HOME": str(tmp_path_factory.mktemp("home")), "COLUMNS": "200"}

    def draftproof(*words):
        command = [sys.executable, "-m", "draftproof", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=env)

    return draftproof


@pytest.fixture(scope="module")
def measured(run, tmp_path_factory):
    """A small measurement of the embedded pair, in a file."""
    path = tmp_path_factory.mktemp("measured") / "m.json"
    done = run("measure", *SMALL, "--out", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    return path, done


def test_a_measurement_shows_costs_and_what_is_kept(measured):
    shown = measured[1].stdout
    for words in ("T(n) / T(1)", "plain decoding", "continuation", "kept in", "noise"):
        assert words in shown


def test_a_second_one_is_the_first(run, measured):
    again = run("measure", *SMALL, "--json")
    assert json.loads(again.stdout) == json.loads(measured[0].read_text())


def test_a_plan_rests_on_it(run, measured):
    done = run("plan", "--json")
    plan = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    known = {"decision", "num_speculative_tokens", "rule", "speedup", "interval", "reason", "candidates"}
    assert set(plan) >= known | {"drafter", "workload", "workloads", "commands", "measurement", "stale"}
    assert plan["stale"] == []
    assert plan["decision"] in {"speculate", "do not speculate"}
    assert plan["interval"][0] <= plan["speedup"] <= plan["interval"][1]
    assert {one["rule"] for one in plan["candidates"]} == {"block"}
    assert plan["candidates"][0]["drafter"] == "tiny:draft"
    assert [command["engine"] for command in plan["commands"]] == ["vLLM", "llama.cpp", "transformers"]


def test_a_plan_is_read_by_people(run, measured):
    shown = run("plan", "--measurement", str(measured[0])).stdout
    for words in ("continuation: ", "candidates", "speed-up by draft length", "kept at each position", "where it pays"):
        assert words in shown
    assert "--speculative-config" in shown
    assert "stale" not in shown


@pytest.mark.parametrize("part", ["machine", "fingerprints"])
def test_a_plan_from_a_measurement_of_something_else_says_so(run, measured, tmp_path, part):
    found = json.loads(measured[0].read_text())
    if part == "machine":
        found["machine"]["processor"] = "Abacus"
    else:
        found["subject"]["fingerprints"]["tiny:draft"] = "0"
    path = tmp_path / "old.json"
    path.write_text(json.dumps(found))
    assert "stale: " in run("plan", "--measurement", str(path)).stdout
    assert len(json.loads(run("plan", "--measurement", str(path), "--json").stdout)["stale"]) == 1


def test_what_was_not_measured_cannot_be_planned(run, measured):
    path = str(measured[0])
    for option, word in (("--rule", "token"), ("--drafter", "tiny:target")):
        done = run("plan", "--measurement", path, option, word)
        assert done.returncode == 2
        assert f"{option}: got '{word}'; measured were" in done.stderr


def test_other_settings_have_no_measurement_yet(run, measured):
    done = run("plan", "--temperature", "0.5")
    assert done.returncode == 2
    assert "run `draftproof measure` with the same options" in done.stderr


def test_a_plan_is_drawn(run, tmp_path):
    needs("matplotlib")
    done = run("plan", *BY_HAND, "--plot", str(tmp_path / "plan.png"))
    assert done.returncode == 0
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


def test_by_hand_the_plan_is_the_paper_s(run):
    plan = json.loads(run("plan", *BY_HAND, "--rule", "token", "--json").stdout)
    assert (plan["decision"], plan["num_speculative_tokens"]) == ("speculate", 6)
    assert plan["speedup"] == pytest.approx((1 - 0.8**7) / (0.2 * 1.6))


def test_a_curve_and_a_batch_change_the_plan(run):
    curve = ",".join(str(max(1, n / 8)) for n in range(1, 65))
    alone = json.loads(run("plan", *BY_HAND, "--target-pass-curve", curve, "--json").stdout)
    batch = json.loads(run("plan", *BY_HAND, "--target-pass-curve", curve, "--batch-size", "16", "--json").stdout)
    assert alone["decision"] == "speculate"
    assert batch["decision"] == "do not speculate"
    assert batch["commands"][0]["text"] == "# leave out --speculative-config"


def test_several_drafts_are_compared(run):
    done = run("plan", *BY_HAND, "--acceptance", "0.6", "--cost-ratio", "0.01", "--json")
    assert [one["drafter"] for one in json.loads(done.stdout)["candidates"]] == ["draft 1", "draft 2"]


def test_prompts_of_ones_own_are_a_workload(run, tmp_path):
    path = tmp_path / "psalms.txt"
    path.write_text("one\n\ntwo\nthree\n")
    done = run("measure", "--prompts", str(path), "--rounds", "4")
    assert done.returncode == 2
    assert done.stderr == "error: --prompts: psalms has 3 prompts; an interval needs 4 or more\n"


@pytest.fixture(scope="module")
def lookups(run, tmp_path_factory):
    """A small measurement of drafters without a model of their own; prompts have several lines."""
    path = tmp_path_factory.mktemp("prompts") / "code.jsonl"
    path.write_text("".join(json.dumps({"prompt": f"def f{i}(a):\n    return a\n"}) + "\n" for i in range(4)))
    corpus = path.with_name("corpus.txt")
    corpus.write_text("In the beginning God created the heaven and the earth.")
    drafters = ["ngram:1-3", f"suffix:{corpus}", "early_exit:1", "chain:ngram:3-3,tiny:draft"]
    words = [word for spec in drafters for word in ("--drafter", spec)]
    done = run("measure", *words, "--rule", "token", "--rounds", "4", "--max-tokens", "64", "--prompts", str(path),
               "--temperature", "0.9", "--json")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return drafters, json.loads(done.stdout), corpus


@pytest.mark.slow
def test_drafters_without_a_model_are_measured_and_planned(run, lookups):
    drafters, found, _ = lookups
    assert list(found["samples"]["passes"]) == drafters
    assert list(found["samples"]["texts"]) == ["code"]
    plan = json.loads(run("plan", "--temperature", "0.9", "--json").stdout)
    assert plan["stale"] == []
    assert {one["drafter"] for one in plan["candidates"]} == set(drafters)
    only = json.loads(run("plan", "--temperature", "0.9", "--drafter", "ngram:1-3", "--json").stdout)
    assert {one["drafter"] for one in only["candidates"]} == {"ngram:1-3"}


@pytest.mark.slow
def test_a_drafter_without_weights_has_none_and_layers_have_their_share(lookups):
    (ngram, suffix, layers, chain), found, _ = lookups
    sizes = found["subject"]["sizes"]
    assert sizes[ngram] == sizes[suffix] == [0, 0]
    target, first = sizes["tiny:target"], sizes[layers]
    assert 0 < first[0] < target[0]
    assert 0 < first[1] < target[1]
    assert 0 < sizes[chain][0] < target[0]


@pytest.mark.slow
def test_another_text_to_look_up_in_is_seen(run, lookups):
    lookups[2].write_text("And the earth was without form, and void.")
    stale = json.loads(run("plan", "--temperature", "0.9", "--json").stdout)["stale"]
    assert stale == [f"suffix:{lookups[2]} reads another text now"]


def test_a_setting_in_a_file_of_prompts_is_refused_and_not_ignored(run, tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('{"prompt": "a", "top_p": 0.5}\n')
    done = run("measure", "--prompts", str(path))
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: --prompts: {path}, line 1: got top_p; one setting holds for all prompts")


def test_two_workloads_of_one_name_are_refused(run, tmp_path):
    path = tmp_path / "copy.txt"
    path.write_text("one\ntwo\nthree\nfour\n")
    done = run("measure", "--workload", "copy", "--prompts", str(path))
    assert done.returncode == 2
    assert "there is a workload copy already" in done.stderr


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("plan", "--acceptance", "1.2", "--cost-ratio", "0.1"), "--acceptance: got 1.2"),
        (("plan", "--acceptance", "-0.1", "--cost-ratio", "0.1"), "--acceptance: got -0.1"),
        (("plan", "--acceptance", "nan", "--cost-ratio", "0.1"), "--acceptance: got nan"),
        (("plan", "--acceptance", "much", "--cost-ratio", "0.1"), "'--acceptance': got 'much'"),
        (("plan", "--acceptance", "0.8", "--cost-ratio", "-1"), "--cost-ratio: got -1.0"),
        (("plan", "--acceptance", "0.8", "--cost-ratio", "inf"), "--cost-ratio: got inf"),
        (("plan", "--acceptance", "0.8"), "--cost-ratio: got 1 --acceptance and 0"),
        (("plan", "--cost-ratio", "0.8"), "--acceptance: got 0 --acceptance and 1"),
        (("plan", *BY_HAND, "--target-pass-curve", "1.2,1.3"), "--target-pass-curve: starts with 1.2"),
        (("plan", *BY_HAND, "--target-pass-curve", "1"), "--target-pass-curve: got 1 entries"),
        (("plan", *BY_HAND, "--target-pass-curve", "1,two"), "--target-pass-curve: got '1,two'"),
        (("plan", *BY_HAND, "--target-pass-curve", ""), "--target-pass-curve: got ''"),
        (("plan", *BY_HAND, "--overhead", "-1"), "--overhead: got -1.0"),
        (("plan", *BY_HAND, "--batch-size", "0"), "--batch-size: got 0"),
        (("plan", *BY_HAND, "--rule", "tree"), "--rule: got 'tree'"),
        (("plan", *BY_HAND, "--measurement", "x"), "--measurement: belongs to a plan from a measurement"),
        (("plan", *BY_HAND, "--temperature", "1"), "--temperature: belongs to a plan from a measurement"),
        (("plan", *BY_HAND, "--drafter", "tiny:draft"), "--drafter: belongs to a plan from a measurement"),
        (("plan", "--measurement", "x", "--top-k", "0"), "--top-k: is written in the measurement"),
        (("plan", *BY_HAND, "--plot", "plan.pdf"), "--plot: got 'plan.pdf'"),
        (("plan", "--batch-size", "4"), "--batch-size: belongs to a plan from numbers by hand"),
        (("plan", "--measurement", "nothing.json"), "--measurement: got 'nothing.json'"),
        (("plan", "--target", "tiny:nothing"), "--target: got 'tiny:nothing'"),
        (("measure", "--rounds", "3"), "--rounds: got 3"),
        (("measure", "--max-tokens", "8"), "--max-tokens: got 8"),
        (("measure", "--max-tokens", "100000"), "--max-tokens: got 100000"),
        (("measure", "--rule", "tree"), "--rule: got 'tree'"),
        (("measure", "--drafter", "none"), "--drafter: got 'none'; plain decoding is measured beside"),
        (("measure", "--drafter", "ngram:4-2"), "--drafter: got 'ngram:4-2'"),
        (("measure", "--drafter", "suffix:nothing.txt"), "--drafter: got 'suffix:nothing.txt'"),
        (("measure", "--drafter", "early_exit:99"), "--drafter: got 'early_exit:99'"),
        (("measure", "--chat"), "--chat: got true, but this model has no chat template"),
        (("plan", "--measurement", "x", "--chat"), "--chat: is written in the measurement"),
        (("plan", *BY_HAND, "--chat"), "--chat: belongs to a plan from a measurement"),
        (("measure", "--workload", "poems"), "--workload: got 'poems'"),
        (("measure", "--prompts", "nothing.txt"), "--prompts: got 'nothing.txt'"),
        (("measure", "--temperature", "-1"), "--temperature: got -1.0"),
        (("measure", "--out", "nowhere/m.json"), "--out: got 'nowhere/m.json'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line_that_names_the_option(run, words, named):
    done = run(*words)
    assert done.returncode == 2
    assert named in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
