"""The command as a user types it: what it prints, what it refuses, how it ends."""

import json
import os
import signal
import subprocess
import sys
from importlib.resources import files

import pytest

from draftproof.cli.app import main
from draftproof.engine.rerun import first_difference, rerun
from draftproof.engine.traces import read
from draftproof.witness.identity import Certificate

COMMAND = [sys.executable, "-m", "draftproof"]
SHORT = ["--max-tokens", "24"]


def run(*words, **settings):
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False, timeout=120, **settings)


def report(*words):
    done = run("generate", *words, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    return json.loads(done.stdout)


def test_the_json_contract():
    found = report("In the beginning", *SHORT)
    parts = ["text", "token_ids", "finish_reason", "stop_reason", "usage", "speculation", "timing", "certificate"]
    assert list(found) == parts
    assert set(found["speculation"]) == {
        "rule",
        "num_drafts",
        "num_draft_tokens",
        "num_accepted_tokens",
        "acceptance_rate",
        "mean_acceptance_length",
        "acceptance_per_position",
        "expected_acceptance",
        "target_passes",
        "num_drafter_faults",
    }
    assert set(found["timing"]) == {"seconds", "tokens_per_second"}
    assert set(found["certificate"]) == {"positions", "max_deviation", "verdict"}
    assert found["usage"]["completion_tokens"] == len(found["token_ids"]) == 24
    assert found["usage"]["total_tokens"] == 24 + found["usage"]["prompt_tokens"]
    assert found["finish_reason"] == "length"


def test_the_certificate_is_lossless_and_counts_every_row():
    found = report("In the beginning", *SHORT)
    numbers, certificate = found["speculation"], found["certificate"]
    assert certificate["verdict"] == "LOSSLESS"
    assert 0 <= certificate["max_deviation"] <= 1e-12
    assert certificate["positions"] == numbers["num_draft_tokens"] + numbers["target_passes"]


def test_an_unchecked_generation_claims_nothing():
    assert report(*SHORT, "--certify", "off")["certificate"] == {
        "positions": 0,
        "max_deviation": None,
        "verdict": "UNDECIDED",
    }


def test_the_numbers_of_a_generation_agree_with_each_other():
    numbers = report("And it came to pass", "--max-tokens", "60", "--num-speculative-tokens", "4")["speculation"]
    assert numbers["rule"] == "block"
    assert numbers["acceptance_rate"] == numbers["num_accepted_tokens"] / numbers["num_draft_tokens"]
    assert numbers["mean_acceptance_length"] == 1 + numbers["num_accepted_tokens"] / numbers["num_drafts"]
    assert len(numbers["acceptance_per_position"]) == 4
    assert numbers["acceptance_per_position"] == sorted(numbers["acceptance_per_position"], reverse=True)
    accepted = sum(numbers["acceptance_per_position"]) * numbers["num_drafts"]
    assert accepted == pytest.approx(numbers["num_accepted_tokens"])


@pytest.mark.parametrize(
    "words", [["--no-speculation"], ["--num-speculative-tokens", "0"], ["--drafter", "none"]], ids=" ".join
)
def test_three_ways_to_plain_decoding_are_one(words):
    found = report("In the beginning", *SHORT, *words)
    numbers = found["speculation"]
    assert (numbers["num_drafts"], numbers["acceptance_rate"], numbers["expected_acceptance"]) == (0, None, None)
    assert numbers["target_passes"] == 24
    assert found["token_ids"] == report("In the beginning", *SHORT, "--no-speculation")["token_ids"]


def test_greedy_text_is_the_same_with_and_without_speculation():
    with_drafts = report("In the beginning", *SHORT, "--temperature", "0")
    assert with_drafts["speculation"]["num_accepted_tokens"] > 0
    assert with_drafts["text"] == report("In the beginning", *SHORT, "--temperature", "0", "--no-speculation")["text"]


def test_a_self_draft_is_always_accepted():
    numbers = report(*SHORT, "--drafter", "tiny:target")["speculation"]
    assert numbers["acceptance_rate"] == 1.0
    assert numbers["expected_acceptance"] == pytest.approx(1.0, abs=1e-4)  # float32 logits, see test_row_invariance


def test_an_empty_prompt_starts_from_bos():
    assert report("", *SHORT)["usage"]["prompt_tokens"] == 1
    assert report(*SHORT)["token_ids"] == report("", *SHORT)["token_ids"]


def test_no_tokens_at_all_is_allowed():
    found = report("In the beginning", "--max-tokens", "0")
    assert (found["text"], found["token_ids"], found["finish_reason"]) == ("", [], "length")
    assert found["certificate"]["verdict"] == "UNDECIDED"
    assert found["timing"]["tokens_per_second"] == 0


def test_the_text_is_what_is_streamed():
    streamed = run("generate", "In the beginning", *SHORT)
    assert streamed.returncode == 0
    assert streamed.stdout == report("In the beginning", *SHORT)["text"] + "\n"
    for word in ("target passes", "acceptance", "expected", "plain decoding", "LOSSLESS", "max |P_emit - p|"):
        assert word in " ".join(streamed.stderr.split())


def test_tokens_are_visibly_different_by_origin():
    coloured = run(
        "generate", "In the beginning", *SHORT, env=os.environ | {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
    )
    assert "\x1b[32m" in coloured.stdout  # accepted: green
    assert "\x1b[1;4;33m" in coloured.stdout  # residual: bold, underlined, yellow
    assert "\x1b[1;35m" in coloured.stdout  # bonus: bold, magenta


REFUSED = {
    "unknown target": (["--target", "gpt-17"], "--target", "gpt-17"),
    "unknown backend": (["--target", "onnx:model"], "--target", "onnx:model"),
    "backend without a name": (["--drafter", "tiny:"], "--drafter", "tiny:"),
    "missing folder": (["--target", "tiny:/no/such/folder"], "--target", "/no/such/folder"),
    "missing draft": (["--drafter", "tiny:/no/such/folder"], "--drafter", "/no/such/folder"),
    "none as a target": (["--target", "none"], "--target", "none"),
    "nonsense that would not be used": (["--no-speculation", "--drafter", "parrot"], "--drafter", "parrot"),
    "negative length that would not be used": (
        ["--no-speculation", "--num-speculative-tokens", "-1"],
        "--num-speculative-tokens",
        "-1",
    ),
    "negative length": (["--num-speculative-tokens", "-1"], "--num-speculative-tokens", "-1"),
    "length that is no number": (["--num-speculative-tokens", "many"], "--num-speculative-tokens", "many"),
    "negative max-tokens": (["--max-tokens", "-5"], "--max-tokens", "-5"),
    "fractional max-tokens": (["--max-tokens", "1.5"], "--max-tokens", "1.5"),
    "negative temperature": (["--temperature", "-0.5"], "--temperature", "-0.5"),
    "temperature NaN": (["--temperature", "nan"], "--temperature", "nan"),
    "temperature infinite": (["--temperature", "inf"], "--temperature", "inf"),
    "temperature no number": (["--temperature", "hot"], "--temperature", "hot"),
    "negative top-k": (["--top-k", "-1"], "--top-k", "-1"),
    "top-p zero": (["--top-p", "0"], "--top-p", "0"),
    "top-p above one": (["--top-p", "1.5"], "--top-p", "1.5"),
    "top-p NaN": (["--top-p", "nan"], "--top-p", "nan"),
    "negative seed": (["--seed", "-1"], "--seed", "-1"),
    "unknown certificate": (["--certify", "sometimes"], "--certify", "sometimes"),
    "unknown option": (["--frobnicate"], "--frobnicate", "--frobnicate"),
    "home of nobody": (["--target", "tiny:~nosuchuser"], "--target", "tiny:~nosuchuser"),
    "name too long": (["--drafter", "tiny:" + "a" * 5000], "--drafter", "tiny:aaa"),
    "tree too wide": (["--rule", "tree", "--tree", "99999999"], "--tree", "99999999"),
    "prompt too long": (["word " * 3000], "PROMPT", "1024"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_gets_one_line_that_names_it_and_status_2(case):
    words, option, came = REFUSED[case]
    done = run("generate", *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ")
    assert option in done.stderr
    assert came in done.stderr


def test_bad_settings_are_refused_before_models_are_loaded_and_in_json_too():
    done = run("generate", "--json", "--target", "tiny:/no/such/folder", "--top-p", "7")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--top-p" in done.stderr


def test_a_drafter_of_another_vocabulary_may_guess_too(llama_with_tokenizer):
    guessed = report("In the beginning", *SHORT, "--drafter", f"tiny:{llama_with_tokenizer}", "--rule", "coupled")
    plain = report("In the beginning", *SHORT, "--drafter", "none", "--rule", "coupled")
    assert guessed["token_ids"] == plain["token_ids"]
    assert guessed["speculation"]["num_draft_tokens"] > 0


def test_a_drafter_whose_ids_mean_other_text_is_translated(tmp_path):
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (tmp_path / name).write_bytes((files("draftproof") / "assets" / "draft" / name).read_bytes())
    path = tmp_path / "tokenizer.json"
    swapped = json.loads(path.read_text())
    words = swapped["model"]["vocab"]
    words["A"], words["B"] = words["B"], words["A"]
    path.write_text(json.dumps(swapped))
    guessed = report("In the beginning", *SHORT, "--drafter", f"tiny:{tmp_path}", "--rule", "coupled")
    assert guessed["token_ids"] == report("In the beginning", *SHORT, "--rule", "coupled")["token_ids"]
    assert guessed["speculation"]["num_accepted_tokens"] > 0


def test_a_prompt_that_is_no_text_is_refused():
    done = subprocess.run([*map(os.fsencode, COMMAND), b"generate", b"\xff\xfe"], capture_output=True, check=False)
    assert done.returncode == 2
    assert b"PROMPT" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_closed_pipe_is_no_error():
    shell = f"{' '.join(COMMAND)} generate 'In the beginning' --max-tokens 400 | head -c 5; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["/bin/bash", "-c", shell], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.endswith("0\n")
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_an_interrupted_generation_keeps_the_text_so_far():
    words = [*COMMAND, "generate", "In the beginning", "--max-tokens", "1000"]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first = running.stdout.read(1)  # the first character has been streamed
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in err
    assert "interrupted" in err
    assert len(first + out) > 1


def test_an_interrupted_generation_is_still_one_json_object(monkeypatch, capsys):
    seen = []

    def add(self, done):
        seen.append(done)
        if len(seen) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Certificate, "add", add)
    monkeypatch.setattr(sys, "argv", ["draftproof", "generate", "In the beginning", "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    found = json.loads(capsys.readouterr().out)
    assert ended.value.code == 130
    assert found["finish_reason"] == "interrupted"
    assert found["token_ids"] == [token for done in seen for token in done.emitted]


def replayed(trace):
    run = rerun(trace)
    return first_difference(trace, run.engine.decode(run.prompt, run.stop, run.noise))


def test_a_trace_is_written_beside_the_text_and_can_be_run_again(tmp_path):
    path = tmp_path / "trace.json"
    words = ["generate", "In the beginning", *SHORT, "--rule", "traversal", "--tree", "2,2"]
    done = run(*words, "--trace", str(path))
    assert done.stdout == run(*words).stdout
    assert done.stderr.endswith(f"trace: {path}\n")
    trace = read(path)
    assert (trace.settings["prompt"], trace.settings["tree"], len(trace.token_ids)) == ("In the beginning", "2,2", 24)
    assert replayed(trace) is None
    assert list(tmp_path.iterdir()) == [path]


def test_a_trace_that_was_tampered_with_is_found_out_at_its_place(tmp_path):
    path = tmp_path / "trace.json"
    assert run("generate", "In the beginning", *SHORT, "--trace", str(path)).returncode == 0
    content = json.loads(path.read_text())
    content["passes"][2]["emitted"][0] ^= 1
    path.write_text(json.dumps(content))
    assert replayed(read(path)) == 2


def test_a_trace_and_json_go_together(tmp_path):
    path = tmp_path / "trace.json"
    found = report("In the beginning", *SHORT, "--trace", str(path))
    assert list(read(path).token_ids) == found["token_ids"]
    assert "trace" not in found


@pytest.mark.parametrize("place", ["none/trace.json", "", "n" * 300, "file/trace.json"], ids=lambda place: place[:15])
def test_a_trace_that_could_not_be_written_is_refused_before_generating(tmp_path, place):
    (tmp_path / "file").touch()
    done = run("generate", "In the beginning", *SHORT, "--trace", str(tmp_path / place))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"error: --trace: got '{tmp_path / place}'")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_trace_replaces_an_older_one_only_when_there_is_a_new_one(tmp_path):
    (tmp_path / "trace.json").write_text("older")
    assert run("generate", "--top-p", "7", "--trace", str(tmp_path / "trace.json")).returncode == 2
    assert (tmp_path / "trace.json").read_text() == "older"
    assert run("generate", *SHORT, "--trace", str(tmp_path / "trace.json")).returncode == 0
    assert len(read(tmp_path / "trace.json").token_ids) == 24


def test_the_trace_of_an_interrupted_generation_is_kept(tmp_path):
    path = tmp_path / "trace.json"
    words = [*COMMAND, "generate", "In the beginning", "--max-tokens", "1000", "--trace", str(path)]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    running.stdout.read(1)  # the first character has been streamed
    running.send_signal(signal.SIGINT)
    err = running.communicate(timeout=60)[1]
    assert running.returncode == 130
    assert f"trace: {path}" in err
    trace = read(path)
    assert trace.finish_reason == "interrupted"
    assert 0 < len(trace.token_ids) < 1000
    assert replayed(trace) is None


def test_the_version_is_there():
    assert run("--version").stdout.startswith("draftproof 0.")


@pytest.mark.parametrize(
    "words", [["--help"], ["generate", "--help"], ["prove", "--help"], ["attack", "--help"]], ids=" ".join
)
def test_help_is_there(words):
    done = run(*words)
    assert done.returncode == 0
    assert "Usage" in done.stdout
