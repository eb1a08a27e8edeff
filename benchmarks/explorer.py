"""Does the page follow a hand? From a key on a bar to the moment when every window shows the new numbers, in Chromium.

A hundred random moves for each size of vocabulary, one after another; the tests look at the numbers, this at the time.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import numpy as np
from playwright.sync_api import sync_playwright

from measuring import save

MOVES, REST = 100, 150
"""Moves, and the milliseconds that a hand rests between two of them."""
SIZES = (2, 5, 12)
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
WATCH = """() => {
    window.took = [];
    addEventListener('keydown', () => { window.began = performance.now(); }, true);
    const done = () => requestAnimationFrame(() => window.took.push(performance.now() - window.began));
    new MutationObserver(done).observe(document.getElementById('stamp'), {subtree: true, childList: true});
}"""
"""The stamp is the last that a change touches; with the next frame the browser has drawn it all."""


def main():
    """Time the moves and write the figures."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
    port = address.rpartition(":")[2]
    serving = subprocess.Popen([sys.executable, "-m", "draftproof", "explore", "--no-browser", "--port", port])
    try:
        _wait(address)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
            values = {}
            for size in SIZES:
                took = _moves(browser.new_page(viewport={"width": 1280, "height": 800}), address, size)
                for name, quantile in (("median", 0.5), ("95th percentile", 0.95), ("slowest", 1.0)):
                    values[f"{size} tokens: ms from a key to the page, {name}"] = float(np.quantile(took, quantile))
                values[f"{size} tokens: moves"] = len(took)
            browser.close()
    finally:
        serving.terminate()
    save("Does the page of `draftproof explore` follow a hand?", values, "explorer")


def _wait(address):
    while True:
        try:
            urllib.request.urlopen(address).close()  # noqa: S310  an address of our own
        except OSError:
            time.sleep(0.1)
        else:
            time.sleep(5)  # the process for longer work starts
            return


def _moves(page, address, size):
    weights = ",".join(str(size - i) for i in range(size))
    page.goto(f"{address}/?p={weights}&q={','.join(reversed(weights.split(',')))}")
    page.wait_for_selector("#stamp [data-state]", state="attached")
    page.wait_for_timeout(2000)
    page.evaluate(WATCH)
    rng = np.random.default_rng(size)
    for _ in range(MOVES):
        bar = page.locator(f'[data-bar="{rng.choice(["p", "q"])}{rng.integers(size)}"] .q-slider__track-container')
        bar.press(str(rng.choice(["ArrowUp", "ArrowDown", "PageUp"], p=[0.5, 0.4, 0.1])))
        page.wait_for_timeout(REST)
    return page.evaluate("() => window.took")


if __name__ == "__main__":
    os.environ.setdefault("XDG_CONFIG_HOME", "/nonexistent")
    main()
