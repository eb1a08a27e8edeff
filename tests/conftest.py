"""What all tests share: the fixtures of exact right answers, small random folders, the embedded pair."""

import importlib
import json
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

FIXTURES = Path(__file__).parent / "fixtures"

# No deadline: tests must not depend on a clock. Derandomised: a seed is a constant.
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")


def needs(library):
    """Return the library, or skip where its extra is not installed; `make test` installs all and allows no skip."""
    if os.environ.get("DRAFTPROOF_ALL_EXTRAS"):
        return importlib.import_module(library)
    return pytest.importorskip(library)


def exact_answers(name):
    return json.loads((FIXTURES / name).read_text())


def fractions(entries):
    return np.array([Fraction(entry) for entry in entries], dtype=object)


@pytest.fixture(scope="session")
def pair():
    from draftproof import load

    return load("tiny:target", "target"), load("tiny:draft", "drafter")
