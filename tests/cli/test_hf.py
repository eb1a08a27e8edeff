"""`hf:` at the command line: bad input ends in one line and exit status 2; `--chat` asks by the template."""

import json
import shutil

import pytest

from draftproof.engine.rerun import rerun
from draftproof.engine.traces import read
from draftproof.models.hf import backend, room
from hf_folders_of_tests import save_model


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return save_model(tmp_path_factory.mktemp("saved"))


@pytest.fixture
def folder(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "model")


def set_in(path, **values):
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def cut_off(path):
    path.write_bytes(path.read_bytes()[:-8])


FAULTS = {
    "unknown folder": (shutil.rmtree, "", "is no folder"),
    "no config": (lambda f: (f / "config.json").unlink(), "", "has no config.json"),
    "truncated weights": (lambda f: cut_off(f / "model.safetensors"), "", "model.safetensors: cannot be read"),
    "other architecture": (
        lambda f: set_in(f / "config.json", architectures=["BertForMaskedLM"]),
        "",
        "architectures is ['BertForMaskedLM']",
    ),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), "", "no tokenizer in it"),
    "unknown dtype": (lambda f: None, "?dtype=int4", "dtype is 'int4'; allowed are auto"),
    "unknown key": (lambda f: None, "?quick=yes", "there is no 'quick' to set; allowed behind the ? are dtype"),
    "its own code": (
        lambda f: set_in(f / "config.json", model_type="strange", auto_map={"AutoModelForCausalLM": "m.M"}),
        "",
        "add trust_remote_code=true",
    ),
    "no template": (lambda f: None, "", "chat: got true, but this model has no chat template"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_input_is_one_line_and_status_2(command, folder, fault):
    damage, query, reason = FAULTS[fault]
    damage(folder)
    chat = ["--chat"] if fault == "no template" else []
    status, out, err = command("generate", "x", *chat, "--target", f"hf:{folder}{query}", "--drafter", "none")
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert reason.removeprefix("chat: ") in err


def test_a_missing_extra_is_one_line_and_status_2(command, saved, monkeypatch):
    monkeypatch.setattr(backend, "find_spec", lambda name: None)
    for option in ("--target", "--drafter"):
        status, _, err = command("generate", "x", option, f"hf:{saved}")
        assert status == 2
        assert len(err.splitlines()) == 1
        assert "pip install 'draftproof[hf]'" in err


def test_a_model_that_does_not_fit_is_one_line_and_status_2(command, saved, monkeypatch):
    monkeypatch.setattr(room, "free_memory", lambda: 1000)
    status, _, err = command("generate", "x", "--target", f"hf:{saved}", "--drafter", "none")
    assert status == 2
    assert len(err.splitlines()) == 1
    assert "needs 60 kB for weights and 8.2 kB for a cache of 64 tokens, but 1.0 kB of memory are free" in err


def test_speculation_and_the_certificate_work_on_it(command, saved):
    status, out, _ = command(
        "generate", "In the", "--target", f"hf:{saved}", "--drafter", f"hf:{saved}?context=60", "--json",
        "--max-tokens", "12", "--ignore-eos",
    )  # fmt: skip
    found = json.loads(out)
    assert status == 0
    assert found["certificate"]["verdict"] == "LOSSLESS"
    assert len(found["token_ids"]) == 12


def test_chat_asks_by_the_template_and_its_trace_runs_again(command, folder, tmp_path):
    (folder / "chat_template.jinja").write_text("<|eot|>{{ messages[0].content }}<|bos|>")
    path = tmp_path / "trace.json"
    words = "generate", "the", "--chat", "--target", f"hf:{folder}", "--drafter", "ngram", "--max-tokens", "4"
    assert command(*words, "--trace", path)[0] == 0
    trace = read(path)
    assert (trace.prompt[0], trace.prompt[-1]) == (2, 0)
    assert trace.settings["chat"] is True
    assert rerun(trace).prompt == list(trace.prompt)


def test_a_line_of_a_file_may_chat(command, folder, tmp_path):
    (folder / "chat_template.jinja").write_text("<|eot|>{{ messages[0].content }}<|bos|>")
    prompts, out = tmp_path / "prompts.jsonl", tmp_path / "out.jsonl"
    prompts.write_text('{"prompt": "the"}\n{"prompt": "the", "chat": true}\n')
    words = "--target", f"hf:{folder}", "--drafter", "none", "--max-tokens", "2"
    assert command("generate", *words, "--prompts", prompts, "--out", out)[0] == 0
    lengths = {line["line"]: line["usage"]["prompt_tokens"] for line in map(json.loads, out.read_text().splitlines())}
    assert lengths[2] == lengths[1] + 2
