"""A file of prompts becomes a file of texts: each is what its prompt gets alone, however often work is interrupted."""

import json
import os
import signal
import subprocess
import sys

import pytest

from draftproof.api import answers, files, workers
from draftproof.api.answers import Answers
from draftproof.api.files import generate_file
from draftproof.api.generate import generate
from draftproof.errors import UsageError

PROMPTS = [
    {"prompt": "In the beginning", "id": "first"},
    {"prompt": "And the king said", "seed": 3, "top_k": 5},
    {"prompt": "", "id": 7, "n": 2},
    {"prompt": "And it came to pass", "temperature": 0, "rule": "coupled", "stop": [","]},
    {"prompt": "The LORD", "drafter": "ngram", "gamma": 2, "presence_penalty": 1.5},
]
SETTINGS = {"max_tokens": 10, "seed": 1}


@pytest.fixture
def prompts(tmp_path):
    return written(tmp_path / "prompts.jsonl", PROMPTS)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "texts.jsonl"


def written(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def texts(out):
    """Return what is in the file by line of the prompts, each of which it has once."""
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert len({entry["line"] for entry in found}) == len(found)
    return {entry["line"]: entry for entry in sorted(found, key=lambda entry: entry["line"])}


def done(*arguments, **settings):
    return list(generate_file(*arguments, **SETTINGS | settings))


@pytest.mark.parametrize("batch_size", [1, 3])
def test_each_text_is_the_one_its_prompt_gets_alone(prompts, out, batch_size):
    far = done(prompts, out, batch_size=batch_size)
    found = texts(out)
    for number, line in enumerate(PROMPTS, 1):
        settings = {name: value for name, value in line.items() if name not in {"prompt", "id"}}
        alone = generate(line["prompt"], **SETTINGS | settings)
        entry = found[number]
        assert (entry["prompt"], entry["id"]) == (line["prompt"], line.get("id"))
        assert [sample["token_ids"] for sample in entry["samples"]] == [list(one.token_ids) for one in alone.samples]
        assert [sample["text"] for sample in entry["samples"]] == [one.text for one in alone.samples]
        assert [sample["stop_reason"] for sample in entry["samples"]] == [one.stop_reason for one in alone.samples]
        assert entry["usage"]["prompt_tokens"] == len(alone.prompt_token_ids)
        assert entry["usage"]["completion_tokens"] == sum(len(one.token_ids) for one in alone.samples)
        assert "error" not in entry
    assert (far[0].done, far[0].prompts) == (0, 5)
    assert [each.done for each in far[1:6]] == [1, 2, 3, 4, 5]
    assert far[-1].tokens == sum(entry["usage"]["completion_tokens"] for entry in found.values())


def test_log_probabilities_are_written_if_they_are_asked_for(prompts, out):
    done(prompts, out, logprobs=1)
    for entry in texts(out).values():
        for sample in entry["samples"]:
            assert [each["token"] for each in sample["logprobs"]] == sample["token_ids"]
            assert all(len(each["top"]) == 1 for each in sample["logprobs"])


@pytest.mark.parametrize("lines", range(5))
def test_interrupted_work_goes_on_without_loss_or_repetition(prompts, out, tmp_path, monkeypatch, lines):
    done(prompts, tmp_path / "whole.jsonl")
    count = []

    class Interrupted(Answers):
        def append(self, number, content):
            if len(count) == lines:
                raise KeyboardInterrupt
            count.append(number)
            super().append(number, content)

    with monkeypatch.context() as patched:
        patched.setattr(files, "Answers", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            done(prompts, out)
    assert (list(texts(out)) if lines else out.exists()) == (sorted(count) if lines else False)
    far = done(prompts, out)
    assert (far[0].done, far[-1].done) == (lines, 5)
    assert texts(out) == texts(tmp_path / "whole.jsonl")


def test_a_process_killed_in_the_middle_of_writing_loses_nothing(prompts, out, tmp_path):
    code = """
import os, signal, sys
from pathlib import Path
from draftproof.api.files import generate_file
lines, write = [], os.write
def killed(file, content):
    lines.append(content)
    if len(lines) == 3:
        write(file, content[: len(content) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    return write(file, content)
os.write = killed
list(generate_file(Path(sys.argv[1]), Path(sys.argv[2]), max_tokens=10, seed=1))
"""
    killed = subprocess.run([sys.executable, "-c", code, prompts, out], capture_output=True, check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert out.read_bytes().count(b"\n") == 2
    assert not out.read_bytes().endswith(b"\n")
    assert done(prompts, out)[0].done == 2
    done(prompts, tmp_path / "whole.jsonl")
    assert texts(out) == texts(tmp_path / "whole.jsonl")


def test_a_line_torn_at_any_byte_is_dropped_and_nothing_else(prompts, out):
    done(prompts, out)
    whole = out.read_bytes()
    last = whole.rstrip(b"\n").rindex(b"\n") + 1
    seals = {entry["line"]: entry["settings"] for entry in texts(out).values()}
    for size in range(last, len(whole)):
        out.write_bytes(whole[:size])
        with Answers(out, seals) as torn:
            assert len(torn.failed) == 4
        assert out.read_bytes() == whole[:last]


def test_finished_work_is_not_done_again_and_loads_nothing(prompts, out, monkeypatch):
    done(prompts, out)
    before = out.read_bytes()
    monkeypatch.setattr(files, "prepare", None)
    monkeypatch.setattr(workers, "prepare", None)
    assert [each.done for each in done(prompts, out)] == [5]
    assert out.read_bytes() == before


def test_what_fails_alone_has_an_error_and_the_others_go_on(tmp_path, out):
    lines = [
        {"prompt": "word " * 2000},
        {"prompt": "In the beginning"},
        {"prompt": "In the beginning", "logit_bias": {"1024": 1}},
        {"prompt": "\ud800"},
        {"prompt": "In the beginning", "regex": "("},
    ]
    far = done(written(tmp_path / "prompts.jsonl", lines), out)
    assert (far[-1].done, far[-1].failed) == (5, 4)
    found = texts(out)
    assert found[2]["samples"][0]["text"]
    for line, word in ((1, "1024"), (3, "logit_bias"), (4, "UTF-8"), (5, "regex")):
        assert word in found[line]["error"]
        assert found[line]["samples"] == []
    again = done(tmp_path / "prompts.jsonl", out)
    assert [(each.done, each.failed) for each in again] == [(5, 4)]


OTHERS = {
    "other settings": ({"max_tokens": 11}, PROMPTS),
    "other log-probabilities": ({"logprobs": 2}, PROMPTS),
    "another model": ({"drafter": "tiny:target"}, PROMPTS),
    "another prompt": ({}, [{"prompt": "Another"}, *PROMPTS[1:]]),
    "a prompt less": ({}, PROMPTS[:2]),
    "an id": ({}, [*PROMPTS[:4], PROMPTS[4] | {"id": "new"}]),
}


@pytest.mark.parametrize("case", OTHERS)
def test_texts_of_other_prompts_or_settings_are_refused_and_stay(prompts, out, case):
    done(prompts, out)
    before = out.read_bytes()
    settings, lines = OTHERS[case]
    with pytest.raises(UsageError, match="other settings or models; name another file, or remove this one"):
        done(written(prompts, lines), out, **settings)
    assert out.read_bytes() == before


def test_another_batch_size_is_no_other_work(prompts, out):
    done(prompts, out)
    assert len(done(prompts, out, batch_size=2)) == 1


def test_other_weights_under_the_same_name_are_another_model(prompts, out, monkeypatch):
    done(prompts, out)
    monkeypatch.setattr(files, "fingerprint", lambda spec, setting: "0" * 12)
    with pytest.raises(UsageError, match="other settings or models"):
        done(prompts, out)


@pytest.mark.parametrize("content", ["a letter\n", "a letter without an end", "[]\n", '{"line": 1}\n', "\0\0\0"])
def test_a_file_of_somebody_else_is_refused_and_stays(prompts, out, content):
    out.write_text(content)
    with pytest.raises(UsageError, match="none of this command"):
        done(prompts, out)
    assert out.read_text() == content


def test_a_text_that_is_there_twice_is_refused(prompts, out):
    done(prompts, out)
    out.write_bytes(out.read_bytes() + out.read_bytes().splitlines(keepends=True)[0])
    with pytest.raises(UsageError, match="second one"):
        done(prompts, out)


def test_two_processes_do_not_write_to_one_file(prompts, out):
    first = generate_file(prompts, out, **SETTINGS)
    next(first)
    with pytest.raises(UsageError, match="another process"):
        done(prompts, out)
    first.close()


def test_work_that_is_never_begun_holds_no_file(prompts, out):
    generate_file(prompts, out, **SETTINGS)
    assert not out.exists()
    assert done(prompts, out)[-1].done == 5


def test_a_full_disk_is_one_clear_error_and_loses_nothing(prompts, out, tmp_path, monkeypatch):
    write, lines = os.write, []

    def full(file, content):
        lines.append(content)
        if len(lines) == 3:
            write(file, content[:20])
            raise OSError(28, "No space left on device")
        return write(file, content)

    monkeypatch.setattr(answers.os, "write", full)
    with pytest.raises(UsageError, match="No space left on device"):
        done(prompts, out)
    monkeypatch.undo()
    assert done(prompts, out)[0].done == 2
    done(prompts, tmp_path / "whole.jsonl")
    assert texts(out) == texts(tmp_path / "whole.jsonl")


def test_all_lines_are_checked_before_anything_is_loaded(tmp_path, out, monkeypatch):
    monkeypatch.setattr(workers, "Models", None)
    path = written(tmp_path / "prompts.jsonl", [{"prompt": "a"}, {"prompt": "b", "top_p": 7}])
    with pytest.raises(UsageError, match="line 2: top_p: got 7"):
        generate_file(path, out)
    assert not out.exists()


def test_what_no_prompt_can_have_is_refused_and_leaves_no_file(prompts, out):
    with pytest.raises(UsageError, match="regex"):
        done(prompts, out, regex="(")
    assert not out.exists()
