"""Documents are true: every command in them runs, every verb and option is described, every link leads somewhere."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import typer.main

from draftproof.cli.app import app
from ggufs_of_tests import TEMPLATE, write_gguf
from hf_folders_of_tests import save_model

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(?:console|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
ENGINES = {"vllm", "llamacpp", "openvino"}
SWITCHES = {"--install", "--black-box"}
FEWER = {
    "measure": ["--rounds", "4", "--workload", "continuation", "--max-tokens", "64", "--rule", "token"],
    "prove": ["--rule", "block"],
}
"""For commands that take minutes as they are shown; `make bench` measures, `make test-slow` proves every rule."""
OF_ENGINES = {"--method", "--python", "--control", "--reference"}
LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")


def commands():
    """Every command that a document shows, once however often it is shown."""
    shown = {}
    for document in DOCUMENTS:
        for block in BLOCK.findall(document.read_text()):
            for line in block.splitlines():
                words = line.removeprefix("$ ").partition(" # ")[0].strip()
                if words.startswith(("draftproof ", "python -m draftproof")):
                    shown.setdefault(words, document.name)
    for words, name in shown.items():
        yield pytest.param(words, id=f"{name}: {words}")


def python_blocks():
    for document in DOCUMENTS:
        for i, block in enumerate(PYTHON_BLOCK.findall(document.read_text())):
            yield pytest.param(block, id=f"{document.name} {i}")


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A place for what commands keep, which is not the user's."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def stand_ins(tmp_path_factory):
    """Small random models in place of the published ones that the documents name."""
    folder = tmp_path_factory.mktemp("published")
    qwen, file = save_model(folder / "hf", 512, chat_template=TEMPLATE), write_gguf(folder / "draft.gguf", "qwen2")
    published = {f"hf:Qwen/Qwen2.5-Coder-{size}-Instruct": f"hf:{qwen}" for size in ("1.5B", "0.5B")}
    return published | {f"gguf:qwen2.5-coder-{size}-instruct-q4_k_m.gguf": f"gguf:{file}" for size in ("1.5b", "0.5b")}


def run(words, home):
    env = os.environ | {"XDG_CONFIG_HOME": str(home)}
    command = [sys.executable, "-m", "draftproof", *words]
    if words[0] == "explore":
        if "--trace" in words and not Path(words[-1]).exists():  # it follows a `generate` in the documents
            run(["generate", "--max-tokens", "8", "--trace", words[-1]], home)
        serve(command, env)
        return
    if words[0] == "audit":
        audit(command, words, home, env)
        return
    if "--prompts" in words and words[0] == "generate":  # what an older version of the models wrote would be refused
        Path(words[words.index("--out") + 1]).unlink(missing_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=600, env=env)
    assert done.returncode == 0, done.stderr


def audit(command, words, home, env):
    """Run an audit with a small budget; our own engine stands in for engines and servers that are not here."""
    subject = words[1]
    added = ["--max-tokens-total", "200", "--max-tokens", "8", "--batch-size", "4"]
    if subject in ENGINES or subject.startswith("http"):
        options = [word for word in words[2:] if word not in SWITCHES]
        added += [word for word in words if word == "--black-box"]
        kept = {name: value for name, value in zip(options[::2], options[1::2], strict=True) if name not in OF_ENGINES}
        own = {"--target": "tiny:target", "--drafter": "tiny:draft"}
        words = ["audit", "draftproof", *(w for name, value in kept.items() for w in (name, own.get(name, value)))]
    folder = ROOT / "examples" if subject.startswith("python:") else home
    (home / "prompts.txt").write_text("In the beginning\nAnd the king said\n")
    command = [*command[:3], *words, *added]
    env = env | {"XDG_CACHE_HOME": str(home), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=600, env=env)
    for file in folder.glob("*.html"):
        file.unlink()
    assert done.returncode in {0, 1, 3}, done.stderr
    assert not done.stderr
    assert "(the engine failed)" not in done.stdout


def serve(command, env):
    """Run a command that serves until it is interrupted: ask for its page, and interrupt it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command += ["--port", str(port), "--no-browser"]
    env = {name: value for name, value in env.items() if not name.startswith("PYTEST")}  # NiceGUI looks for these
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=env) as running:
        said = running.stderr.readline()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
                assert b"draftproof explorer" in answer.read()
        finally:
            running.send_signal(signal.SIGINT)
            rest = said + running.stderr.read()
    assert f"http://127.0.0.1:{port}/" in rest
    assert "Traceback" not in rest
    assert running.returncode == 0


@pytest.mark.parametrize("command", list(commands()))
def test_every_command_runs(command, home, stand_ins):
    words = [stand_ins.get(word, word) for word in shlex.split(command)]
    words = words[1:] if words[0] == "draftproof" else words[3:]
    if words == ["plan"] and not list(home.iterdir()):  # it follows a `measure` in the documents, but not in here
        run(["measure", *FEWER["measure"]], home)
    run(words + (FEWER.get(words[0], []) if len(words) == 1 else []), home)


@pytest.mark.slow
def test_every_rule_is_proven(home):
    run(["prove"], home)


@pytest.mark.parametrize("block", list(python_blocks()))
def test_every_python_block_runs(block):
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_every_example_runs_and_is_short(example):
    assert len(example.read_text().splitlines()) < 60
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_there_are_commands_and_examples_to_run():
    assert len(list(commands())) >= 8
    assert len(list((ROOT / "examples").glob("*.py"))) >= 3


def test_every_verb_and_option_is_in_the_reference():
    reference = (ROOT / "docs" / "reference" / "command-line.md").read_text()
    verbs = typer.main.get_command(app).commands
    assert set(verbs) == {"generate", "prove", "attack", "audit", "measure", "plan", "explore"}
    for verb, command in verbs.items():
        assert f"## `draftproof {verb}" in reference
        for parameter in command.params:
            for option in parameter.opts:
                assert option.startswith("--") is False or f"`{option}" in reference, (verb, option)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document):
    for target in LINK.findall(document.read_text()):
        assert (document.parent / target).exists(), target


def test_every_target_of_the_makefile_that_is_named_exists():
    makefile = (ROOT / "Makefile").read_text()
    for document in DOCUMENTS:
        for target in re.findall(r"`make ([a-z-]+)`", document.read_text()):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), (document, target)
