"""How an audit runs: it goes on where it was interrupted, in one process or several; wrong words are refused early."""

import ast
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from draftproof.audit import catalogue, environments, probe, subjects
from draftproof.audit.options import NEUTRAL, Options
from draftproof.audit.requests import ARMS, Requests
from draftproof.audit.runner import Audit
from draftproof.errors import MissingExtraError, UsageError
from draftproof.models.catalogue import load
from draftproof.rules.catalogue import CHAIN_RULES

PROGRAM = [str(Path(sys.executable).with_name("draftproof"))]


def command(*words, **given):
    return subprocess.run([*PROGRAM, "audit", *words], capture_output=True, text=True, check=False, **given)


def test_it_goes_on_where_it_was_interrupted(audit):
    whole, reference = audit("right", max_tokens_total=1500, seed=5)
    running = Audit(reference.options)

    def stop(arm, state):
        if state.batches == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        running.run(stop)
    resumed = Audit(reference.options)
    assert resumed.judgement.control.batches == 3
    again = resumed.run(lambda _, __: None)
    assert (again.log_evidence, again.drift_bound, again.tokens) == (
        whole.log_evidence, whole.drift_bound, whole.tokens,
    )  # fmt: skip
    assert Audit(reference.options).judgement.control.batches == 0  # what is over is forgotten


def test_several_processes_find_the_same(audit):
    one, _ = audit("right", max_tokens_total=1500, seed=6)
    two, _ = audit("right", max_tokens_total=1500, seed=6, workers=2)
    assert (one.log_evidence, one.tokens) == (two.log_evidence, two.tokens)


def test_no_seed_comes_twice_and_prompts_are_those_of_their_number(tmp_path):
    probe.make(tmp_path, 64)
    model, tokenizer = load(f"tiny:{tmp_path / 'target'}", "target")
    requests = Requests(Options("draftproof"), tokenizer, model.vocab_size, model.context_limit)
    asked = [requests.numbered(arm, number) for number in range(2000) for arm in ARMS]
    assert len({one["seed"] for one in asked}) == len(asked)
    assert asked[0]["prompt"] == requests.numbered(ARMS[1], 0)["prompt"]
    assert all(one["prompt"][1:3] == one["prompt"][-2:] for one in asked)


def test_json_has_the_promised_keys_and_the_status_is_the_verdict():
    done = command("python:audited_of_tests:residual_from_target", "--json", "--max-tokens", "16")
    told = json.loads(done.stdout)
    promised = {
        "verdict",
        "reason",
        "log_evidence",
        "tokens",
        "drift_bound",
        "control",
        "slots",
        "settings",
        "versions",
    }
    assert promised <= set(told)
    assert (told["verdict"], done.returncode, done.stderr) == ("DRIFT", 1, "")


def test_a_person_reads_the_verdict_first():
    done = command("python:audited_of_tests:hangs", "--timeout", "0.5")
    assert done.stdout.splitlines()[0] == "INCONCLUSIVE (the engine failed)"
    assert done.returncode == 3


def test_ctrl_c_keeps_what_is_known(tmp_path):
    running = subprocess.Popen(
        [*PROGRAM, "audit", "python:audited_of_tests:right", "--seed", "7", "--batch-size", "4"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    kept = Path(os.environ["XDG_CACHE_HOME"]) / "draftproof" / "audits"
    while not list(kept.glob("*.json")):
        assert running.poll() is None
    os.kill(running.pid, signal.SIGINT)
    out, error = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "the same command goes on from here" in out
    assert not error


def test_a_report_is_one_file_that_says_it_all(tmp_path):
    path = tmp_path / "report.html"
    done = command("python:audited_of_tests:residual_from_target", "--report", str(path), "--max-tokens", "16")
    page = path.read_text(encoding="utf-8")
    assert done.returncode == 1
    for word in (
        "DRIFT",
        "speculation changes the law",
        "What is claimed",
        "What is not",
        "after a rejected draft",
        "<svg",
    ):
        assert word in page
    assert "src=" not in page  # nothing is loaded
    assert "http://" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nonsense"], "SUBJECT: got 'nonsense'; allowed are draftproof,"),
        (["python:os"], "allowed is python:MODULE:FUNCTION"),
        (["python:no_such_module:f"], "No module named 'no_such_module'"),
        (["python:os:no_such_function"], "no_such_function"),
        (["draftproof", "--method", "magic"], "--method: got 'magic'; draftproof has block,"),
        (["draftproof", "--probe", "20"], "allowed are 64 to 512"),
        (["draftproof", "--probe", "/nowhere"], "--probe: got '/nowhere'"),
        (["draftproof", "--eps", "2"], "--eps: got 2.0; allowed are numbers from 0.001 to 0.5"),
        (["draftproof", "--workers", "0"], "--workers: got 0"),
        (["draftproof", "--max-tokens", "600", "--max-tokens-total", "600"], "--max-tokens"),
        (["draftproof", "--temperature", "-1"], "--temperature"),
        (["draftproof", "--option", "x"], "--option: got 'x'; allowed is NAME=VALUE"),
        (["draftproof", "--report", "/nowhere/x.html"], "--report"),
        (["draftproof", "--target", "tiny:target"], "--drafter: draftproof needs a draft model"),
        (["draftproof", "--target", "tiny:target", "--drafter", "tiny:draft"], "--prompts: models of your own need"),
        (["http://127.0.0.1:9"], "--target: an address serves a model of its own"),
        (["draftproof", "--python", "/nowhere/python"], "--python: got '/nowhere/python'"),
        (["draftproof", "--install"], "--install: draftproof needs no environment of its own"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(words, told):
    done = command(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout


def test_an_engine_that_is_not_installed_is_named_with_ways_to_have_it(monkeypatch):
    monkeypatch.setattr(environments.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"--python.*--install.*draftproof\[vllm\]"):
        environments.python_for(catalogue.chosen("vllm"), "")


def test_extras_list_what_engines_need():
    for name in ("vllm", "llamacpp", "openvino", "transformers"):
        assert environments.requirements(catalogue.chosen(name).member.EXTRA)


def test_the_methods_of_our_own_engine_are_its_chain_rules_and_lookups():
    assert set(catalogue.chosen("draftproof").member.DRAFTED) == set(CHAIN_RULES)


@pytest.mark.parametrize(
    "name", ["draftproof", "transformers", "vllm", "llamacpp", "openvino", "http:http://x", "python:a:b"]
)
def test_members_are_what_the_contract_says(name):
    member = catalogue.chosen(name).member
    assert set(member.DRAFTED) <= set(member.METHODS)
    assert set(member.CLAIMS) <= set(NEUTRAL) | {"typical_p"}
    assert callable(member.start)


def test_own_models_are_handed_over_in_the_engines_format():
    given = {"target": "tiny:target", "drafter": "tiny:draft"}
    with pytest.raises(UsageError, match="llamacpp reads gguf"):
        environments_pair(Options("llamacpp", **given))
    with pytest.raises(UsageError, match="name the same model as SPEC by --reference"):
        environments_pair(Options("llamacpp", target="/models/x.gguf"))
    assert environments_pair(Options("transformers", **given)).target.endswith("assets/target")


def environments_pair(options):
    from draftproof.audit.pair import pair_for

    return pair_for(options, catalogue.chosen(options.subject), sys.executable)


def test_damaged_audits_begin_anew(audit):
    _, running = audit("right", max_tokens_total=600, seed=8)
    path = running._saved.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{not json", encoding="utf-8")
    assert Audit(running.options).judgement.speculative.batches == 0


@pytest.mark.parametrize("path", sorted(Path(subjects.__file__).parent.glob("*.py")), ids=lambda path: path.name)
def test_a_member_runs_where_this_package_is_not(path):
    """What it imports when it is read is of the standard library; the engine, and types, come later."""
    for node in ast.parse(path.read_text()).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) else []
        assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names, path.name
