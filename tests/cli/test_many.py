"""Several texts: samples of one prompt, and files of prompts that survive whatever interrupts them."""

import json
import re
import signal
import subprocess
import sys
import time

import pytest

from draftproof.api import files
from draftproof.api.answers import Answers
from draftproof.api.generate import generate
from draftproof.drafters.model import ModelDrafter

PROMPT = "And the king said"
WORDS = ["generate", PROMPT, "--max-tokens", "12", "--seed", "4"]
SETTINGS = {"max_tokens": 12, "seed": 4}


@pytest.fixture
def job(tmp_path):
    """The words of a command that generates for three prompts, and where it writes."""
    path = tmp_path / "prompts.jsonl"
    lines = [{"prompt": PROMPT}, {"prompt": "", "id": "b"}, {"prompt": "Blessed", "top_k": 3}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = tmp_path / "texts.jsonl"
    return ["generate", "--max-tokens", "12", "--seed", "4", "--prompts", path, "--out", out], out


def entries(out):
    return {entry["line"]: entry for entry in map(json.loads, out.read_text().splitlines())}


def test_samples_come_under_headings_and_the_first_is_that_of_one_alone(command):
    status, out, err = command(*WORDS, "--n", "3")
    samples = generate(PROMPT, n=3, **SETTINGS).samples
    assert status == 0
    assert out == "".join(f"--- sample {i} of 3 ---\n{sample.text}\n" for i, sample in enumerate(samples, 1))
    assert "36 in" in err
    assert "LOSSLESS" in err
    assert samples[0].text == generate(PROMPT, **SETTINGS).text


def test_samples_are_a_list_in_json_and_all_of_them_are_counted_and_certified(command):
    status, out, _ = command(*WORDS, "--n", "3", "--json", "--logprobs", "0")
    found = json.loads(out)
    samples = generate(PROMPT, n=3, **SETTINGS).samples
    assert status == 0
    assert [each["token_ids"] for each in found["samples"]] == [list(sample.token_ids) for sample in samples]
    assert found["token_ids"] == found["samples"][0]["token_ids"]
    assert all(len(each["logprobs"]) == 12 for each in found["samples"])
    assert found["usage"]["completion_tokens"] == 36
    numbers = found["speculation"]
    assert numbers["num_draft_tokens"] == sum(sample.trace.num_draft_tokens for sample in samples)
    assert found["certificate"]["positions"] == numbers["num_draft_tokens"] + numbers["target_passes"]
    assert "samples" not in json.loads(command(*WORDS, "--json")[1])


def test_interrupted_samples_keep_what_they_have(command, monkeypatch):
    from draftproof.cli import decoding

    seen = []

    class Interrupted(decoding.Collector):
        def add(self, done):
            if len(seen) == 3:
                raise KeyboardInterrupt
            seen.append(done)
            super().add(done)

    monkeypatch.setattr(decoding, "Collector", Interrupted)
    status, out, _ = command(*WORDS, "--n", "2", "--json")
    found = json.loads(out)
    assert status == 130
    assert [each["finish_reason"] for each in found["samples"]] == ["interrupted", "interrupted"]
    assert found["usage"]["completion_tokens"] == sum(len(done.emitted) for done in seen)


def test_a_file_of_prompts_becomes_a_file_of_texts(command, job):
    words, out = job
    status, printed, err = command(*words)
    assert (status, printed, err.count("\n")) == (0, "", 1)
    assert re.fullmatch(rf"3 of 3 prompts are in {out}; 36 tokens, \d+ a second\n", err)
    found = entries(out)
    assert found[1]["samples"][0]["token_ids"] == list(generate(PROMPT, **SETTINGS).token_ids)
    assert found[3]["samples"][0]["token_ids"] == list(generate("Blessed", top_k=3, **SETTINGS).token_ids)
    again = command(*words)
    assert again == (0, "", f"3 of 3 prompts are in {out}, 3 of them from before\n")


def test_a_prompt_that_fails_makes_the_status_1_and_spoils_no_other(command, job):
    words, out = job
    path = words[words.index("--prompts") + 1]
    path.write_text(json.dumps({"prompt": "word " * 2000}) + "\n" + path.read_text())
    status, _, err = command(*words)
    assert status == 1
    assert "4 of 4 prompts" in err
    assert "1 failed: their lines have an error" in err
    assert [line for line, entry in sorted(entries(out).items()) if "error" in entry] == [1]
    assert command(*words)[0] == 1


def test_a_drafter_that_fails_is_named_once_and_costs_only_its_drafts(command, job, monkeypatch):
    def broken(self, context):
        raise ValueError("no idea")

    words, out = job
    assert command(*words, "--rule", "coupled")[0] == 0
    before = entries(out)
    out.unlink()
    monkeypatch.setattr(ModelDrafter, "law", broken)
    status, _, err = command(*words, "--rule", "coupled")
    assert (status, err.count("\n")) == (0, 1)
    assert "the drafter failed in 33 passes" in err
    assert entries(out) == before


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(command, job, monkeypatch, tmp_path):
    words, out = job

    class Interrupted(Answers):
        def append(self, number, content):
            if len(self.failed) == 2:
                raise KeyboardInterrupt
            super().append(number, content)

    with monkeypatch.context() as patched:
        patched.setattr(files, "Answers", Interrupted)
        status, _, err = command(*words)
    assert status == 130
    assert err.startswith(f"2 of 3 prompts are in {out}; ")
    assert err.endswith("interrupted: the same command goes on from here\n")
    status, _, err = command(*words)
    assert (status, err[: len("3 of 3")]) == (0, "3 of 3")
    assert "2 of them from before" in err
    assert sorted(entries(out)) == [1, 2, 3]


def test_a_real_ctrl_c_ends_a_real_process_in_order(job):
    words, out = job
    path = words[words.index("--prompts") + 1]
    path.write_text(path.read_text() + json.dumps({"prompt": PROMPT, "max_tokens": 1000, "ignore_eos": True}) + "\n")
    command = [sys.executable, "-m", "draftproof", *words, "--batch-size", "1"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while running.poll() is None and (not out.exists() or out.read_bytes().count(b"\n") < 3):
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    err = running.communicate(timeout=60)[1]
    assert running.returncode == 130
    assert err[: len("3 of 4")] in {"3 of 4", "2 of 4"}  # it may come before a line that is there is counted
    assert err.count("\n") == 1
    assert sorted(entries(out)) == [1, 2, 3]


def test_a_bar_is_shown_where_somebody_is_watching(command, job, monkeypatch):
    words, _ = job
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    status, printed, err = command(*words)
    assert (status, printed) == (0, "")
    assert "3/3" in err
    assert "tokens" in err
    assert "3 of 3 prompts are in" in err.splitlines()[-1]


PROBLEMS = {
    "nothing": (b"", "no line"),
    "blank lines": (b"\n \n", "no line"),
    "no JSON": (b"hello\n", "line 1: got 'hello', which is no JSON"),
    "no object": (b'{"prompt": "a"}\n["a"]\n', "line 2: got ['a']; allowed is an object"),
    "no prompt": (b'{"id": 1}\n', "line 1: prompt: there is none"),
    "a prompt that is no text": (b'{"prompt": 3}\n', "line 1: prompt: got 3"),
    "an unknown key": (b'{"prompt": "a", "topp": 1}\n', "line 1: got the key 'topp'; allowed are prompt, id, target"),
    "a key twice": (b'{"prompt": "a", "prompt": "b"}\n', "line 1: got the key 'prompt' twice"),
    "an id twice": (
        b'{"prompt": "a", "id": 1}\n\n{"prompt": "a", "id": 1}\n',
        "line 3: id: got 1, which is that of line 1",
    ),
    "an id that is none": (b'{"prompt": "a", "id": true}\n', "line 1: id: got True"),
    "no UTF-8": (b'{"prompt": "\xff"}\n', "line 1: byte 13 is no UTF-8"),
    "a wrong type": (b'{"prompt": "a", "top_k": "7"}\n', "line 1: top_k: got '7'; allowed is a whole number"),
    "a value out of range": (b'{"prompt": "a", "top_p": 7}\n', "line 1: top_p: got 7; allowed are numbers above 0"),
    "no number": (b'{"prompt": "a", "temperature": NaN}\n', "line 1: temperature: got nan"),
    "what excludes each other": (
        b'{"prompt": "a", "regex": "a", "lark": "b"}\n',
        "line 1: regex: got 'a' with another",
    ),
    "brackets": (b"[" * 100_000, "line 1: got '[[[["),
    "a missing model": (b'{"prompt": "a", "target": "tiny:none"}\n', "line 1: target: got 'tiny:none'"),
}


@pytest.mark.parametrize("case", PROBLEMS)
def test_the_first_bad_line_is_named_before_anything_is_done(command, job, case):
    words, out = job
    content, said = PROBLEMS[case]
    words[words.index("--prompts") + 1].write_bytes(content)
    status, printed, err = command(*words)
    assert (status, printed, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: --prompts: ")
    assert said in err
    assert not out.exists()


def test_files_of_other_systems_are_read(command, job):
    words, out = job
    words[words.index("--prompts") + 1].write_bytes(b'\xef\xbb\xbf{"prompt": "a"}\r\n\r\n{"prompt": "b"}')
    assert command(*words)[0] == 0
    assert [entry["prompt"] for _, entry in sorted(entries(out).items())] == ["a", "b"]


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (".", "a folder"), ("none/texts.jsonl", "is no folder; make it first"), ("/dev/null", "no file"),
        ("prompts.jsonl", "the file of the prompts"), ("n" * 300, "File name too long"),
        ("prompts.jsonl/texts", "no folder"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_written_is_refused_before_generating(command, job, monkeypatch, tmp_path, place, said):
    words, _ = job
    monkeypatch.chdir(tmp_path)
    status, printed, err = command(*words[:-1], place)
    assert (status, printed, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: --out: got ")
    assert said in err


@pytest.mark.parametrize("place", [".", "none.jsonl", "n" * 300, "/dev/null"])
def test_a_file_that_cannot_be_read_is_refused(command, job, place):
    words, out = job
    words[words.index("--prompts") + 1] = place
    status, _, err = command(*words)
    assert (status, err.count("\n"), out.exists()) == (2, 1, False)
    assert err.startswith("error: --prompts: got ")


@pytest.mark.parametrize(
    ("words", "option", "said"),
    [
        (["--json"], "--json", "leave it out"),
        (["--certify", "every"], "--certify", "leave it out"),
        (["--trace", "trace.json"], "--trace", "one prompt"),
        (["--batch-size", "0"], "--batch-size", "from 1 up"),
        (["--n", "0"], "--n", "1 to 1024"),
        (["--regex", "("], "--regex", "unclosed"),
        (["--drafter", "early_exit:99"], "--drafter", "6"),
        (["--max-tokens", "13"], "--out", "other settings or models"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_what_no_prompt_of_the_file_can_have_is_refused(command, job, words, option, said):
    asked, out = job
    if option == "--out":
        command(*asked)
    status, _, err = command(*asked, *words)
    assert (status, err.count("\n")) == (2, 1)
    assert err.startswith(f"error: {option}: ")
    assert said in err
    assert out.exists() == (option == "--out")


def test_a_file_without_a_place_for_the_texts_is_refused(command, job):
    words, _ = job
    status, _, err = command(*words[:-2])
    assert status == 2
    assert err.startswith("error: --prompts: does not go with no file to write to")
