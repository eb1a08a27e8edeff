"""Audits in tests: engines from `audited_of_tests.py`, what is kept of them in a folder of the test."""

from pathlib import Path

import pytest

from draftproof.audit.options import NEUTRAL, Options
from draftproof.audit.runner import Audit

HERE = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def place(monkeypatch, cache):
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.chdir(HERE)


@pytest.fixture
def audit():
    """Return a function that audits a function of `audited_of_tests.py`; small, unless told."""

    def run(name, settings=(), **asked):
        subject = name if name in ("draftproof", "transformers") else f"python:audited_of_tests:{name}"
        few = {"max_tokens_total": 8000, "batch_size": 16, "max_tokens": 16, "settings": NEUTRAL | dict(settings)}
        running = Audit(Options(subject, **few | asked))
        return running.run(lambda _, __: None), running

    return run
