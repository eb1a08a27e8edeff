"""The pictures in docs/images: taken here, looked at by people. `make screenshots` takes them anew."""

import os
from pathlib import Path

import pytest

from draftproof.redteam.tampers.catalogue import TAMPERS

FOLDER = os.environ.get("DRAFTPROOF_SCREENSHOTS")
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 800}
FIRST = next(iter(TAMPERS))
PICTURES = {
    "explorer": ("step=3", WIDE, None),
    "explorer-tampered": (f"step=3&tamper={FIRST}", WIDE, '[data-number="caught"]'),
    "explorer-dark": (f"theme=dark&tamper={FIRST}&lineage=3", WIDE, '[data-number="caught"]'),
    "explorer-phone": ("step=3", PHONE, None),
}
WINDOWS = {
    "explorer-draws": ("draws=2000", "w4", '[data-draws="2000"]'),
    "explorer-economics": ("", "w6", None),
}


@pytest.fixture
def folder(tmp_path):
    return Path(FOLDER) if FOLDER else tmp_path


def settled(watched, selector):
    if selector:
        watched.page.wait_for_selector(selector, state="attached")
    watched.page.wait_for_timeout(1000)  # charts are drawn


@pytest.mark.parametrize("name", PICTURES)
def test_the_page(new_page, folder, name):
    query, size, selector = PICTURES[name]
    watched = new_page(query, viewport=size)
    settled(watched, selector)
    watched.page.screenshot(path=folder / f"{name}.png")
    assert (folder / f"{name}.png").stat().st_size > 20_000  # an empty page has 10


@pytest.mark.parametrize("name", WINDOWS)
def test_a_window(new_page, folder, name):
    query, window, selector = WINDOWS[name]
    watched = new_page(query, viewport={"width": 1280, "height": 1400})
    settled(watched, selector)
    watched.page.locator(f"#{window}").screenshot(path=folder / f"{name}.png")
    assert (folder / f"{name}.png").stat().st_size > 10_000  # a blank window has 5


def test_the_real_thing(new_page, folder):
    watched = new_page(viewport={"width": 1280, "height": 1000})
    watched.page.click("#generate")
    watched.page.wait_for_selector('[data-number="generation-status"]')
    watched.page.locator('[data-token="20"]').click()
    watched.page.wait_for_selector('[data-table="alternatives"]')
    settled(watched, None)
    watched.page.locator("#w10").screenshot(path=folder / "explorer-real-thing.png")
    assert (folder / "explorer-real-thing.png").stat().st_size > 20_000  # a blank window has 10
