"""`draftproof explore` refuses what it cannot serve in one line, before anything starts."""

import socket
import subprocess
import sys

import pytest

WITHOUT_NICEGUI = "import sys; sys.modules['nicegui'] = None; from draftproof.cli.app import main; main()"


def explore(*arguments, code=None):
    start = [sys.executable, "-c", code] if code else [sys.executable, "-m", "draftproof"]
    return subprocess.run(
        [*start, "explore", "--no-browser", *arguments], capture_output=True, text=True, check=False, timeout=60
    )


def refused(done, *words):
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stderr.startswith("error: ")
    assert all(word in done.stderr for word in words), done.stderr


def test_a_port_in_use():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        refused(explore("--port", port), "--port", port, "in use")


@pytest.mark.parametrize("port", ["0", "65536", "-1", "eighty"])
def test_what_is_no_port(port):
    refused(explore("--port", port), "port")


def test_what_is_no_address_of_this_machine():
    refused(explore("--host", "192.0.2.1"), "--host")
    refused(explore("--host", "no such host"), "--host")


@pytest.mark.parametrize("content", [None, "", "{}", "[]", '{"schema": 1}'])
def test_a_bad_trace(tmp_path, content):
    path = tmp_path / "trace.json"
    if content is not None:
        path.write_text(content)
    refused(explore("--trace", str(path)), "--trace")


def test_without_its_extra():
    refused(explore(code=WITHOUT_NICEGUI), "draftproof[explorer]")
