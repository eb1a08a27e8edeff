"""A server of the page, as a user starts it, and Debian's Chromium to look at it."""

import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
PATIENCE = 60_000
"""Milliseconds: far more than anything here takes, so that a slow machine fails nothing."""


@dataclass
class Watched:
    """A page of the browser, and what should never happen on it."""

    page: Page
    address: str
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def open(self, query: str = "") -> "Watched":
        self.page.goto(f"{self.address}/?{query}" if query else self.address)
        self.page.wait_for_selector("#stamp [data-state]", state="attached")
        return self

    def state(self) -> str:
        return self.page.get_attribute("#stamp [data-state]", "data-state")

    def values(self, selector: str) -> list[float]:
        """The numbers shown there, in full."""
        script = "(found) => found.map(one => parseFloat(one.dataset.value))"
        return self.page.eval_on_selector_all(f"{selector} data", script)

    def values_of_term(self, name: str) -> list[float]:
        """The numbers that the formula of window 0 is substituted with."""
        script = "(found) => found.map(one => parseFloat(one.dataset.value))"
        return self.page.eval_on_selector_all(f'#w0 .substituted [data-term="{name}"]', script)

    def table(self, name: str) -> list[list[str]]:
        """The cells of a table: full numbers where there are numbers, words elsewhere."""
        script = """found => [...found.querySelectorAll('tbody tr')].map(row => [...row.children].map(cell => {
            const number = cell.querySelector('data');
            return number ? number.dataset.value : cell.textContent.trim()}))"""
        return self.page.eval_on_selector(f'[data-table="{name}"]', script)

    def column(self, name: str, index: int) -> list[float]:
        return [float(row[index]) for row in self.table(name)]

    def text(self, selector: str) -> str:
        """The words there; what is out of sight is not laid out, and has no `innerText`."""
        return self.page.locator(selector).first.text_content()

    def number(self, name: str) -> float:
        return self.values(f'[data-number="{name}"]')[0]

    def verdict(self) -> str:
        return self.page.get_attribute("#badge [data-verdict]", "data-verdict")

    def press(self, words: str) -> None:
        self.page.get_by_role("button", name=words, exact=False).first.click()

    def until(self, script: str, argument: object = None) -> None:
        self.page.wait_for_function(script, arg=argument)

    def settle(self) -> None:
        """Wait until what is set has stayed the same for a while: a slider tells its last word a little later."""
        before = None
        while before != (before := self.state()):
            self.page.wait_for_timeout(700)

    def until_state(self, part: str) -> None:
        """Wait until what is set has this part, and all windows show it."""
        self.until("part => document.querySelector('#stamp [data-state]').dataset.state.includes(part)", part)


@pytest.fixture(scope="session")
def address(tmp_path_factory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("home")) as found:
        yield found


@contextmanager
def serving(home: Path, *arguments: str) -> Iterator[str]:
    """Serve the page from a process of its own, and find no traceback in what it said."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "draftproof", "explore", "--no-browser", "--port", str(port), *arguments]
    # NiceGUI, where it believes that a test imported it, starts no server.
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    log = home / "log"
    with log.open("w") as said:
        running = subprocess.Popen(command, stderr=said, stdout=said, env=settings | {"XDG_CONFIG_HOME": str(home)})
        try:
            yield _answering(f"http://127.0.0.1:{port}", running, log)
        finally:
            running.terminate()
            running.wait(20)
    assert "Traceback" not in log.read_text(), log.read_text()


def _answering(address: str, running: subprocess.Popen, log: Path) -> str:
    for _ in range(600):
        try:
            urllib.request.urlopen(address, timeout=5).close()  # noqa: S310  an address of our own
        except OSError:
            assert running.poll() is None, log.read_text()
            _pause()
        else:
            return address
    raise AssertionError(log.read_text())


def _pause() -> None:
    subprocess.run(["sleep", "0.1"], check=True)  # noqa: S607


@pytest.fixture(scope="session")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def new_page(chromium, address):
    """Opens pages of browsers that share nothing, and finds no error on any of them."""
    contexts, pages = [], []

    def make(query: str = "", at: str = "", **settings: object) -> Watched:
        context = chromium.new_context(**({"viewport": {"width": 1280, "height": 800}} | settings))
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        watched = Watched(context.new_page(), at or address)
        pages.append(watched)
        watched.page.on("pageerror", lambda error: watched.errors.append(str(error)))
        watched.page.on("console", lambda said: watched.errors.append(said.text) if said.type == "error" else None)
        watched.page.on("request", lambda asked: _note(watched, asked.url))
        return watched.open(query)

    yield make
    for watched in pages:
        assert not watched.errors
        assert not watched.foreign
    for context in contexts:
        context.close()


def _note(watched: Watched, url: str) -> None:
    found = urlparse(url)
    if found.scheme in ("http", "https", "ws", "wss") and found.hostname != "127.0.0.1":
        watched.foreign.append(url)
