"""A hundredth of benchmarks/null_runs.py: four lossless engines are let be, and a trap is not."""

import importlib
import math
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TRAPPED = 4


@pytest.fixture(name="modules")
def _modules(monkeypatch):
    pytest.importorskip("scipy")
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("null_engines"), importlib.import_module("null_runs")


def test_lossless_engines_are_seldom_suspected_and_never_convicted(modules):
    """Of 100 runs 1 in 20 may ever come to 20 : 1, and 1 in 100 to 100 : 1.

    More than 13 and more than 5 of them come once in 1,000 times each; 10^6 : 1 once in 10,000.
    """
    engines, null_runs = modules
    highest = [
        found for i, name in enumerate(engines.ENGINES) for found in null_runs.evidence(name, 25, 2000, None, i)[1]
    ]
    assert sum(found >= math.log(20) for found in highest) <= 13
    assert sum(found >= math.log(100) for found in highest) <= 5
    assert max(highest) < math.log(1e6)


def test_the_trap_closes(modules):
    """Looked at by what became of drafts, a right engine is convicted in every run."""
    _, null_runs = modules
    assert min(null_runs.evidence("trap", TRAPPED, 4000, "replaced", 9)[1]) >= math.log(1e6)


@pytest.mark.parametrize("name", ["token rule", "sample-and-match", "position-keyed coupling", "deterministic tree"])
def test_the_engines_have_the_slots_that_they_are_said_to_have(modules, name):
    """Also their tokens: in the commonest context each comes as often as it should, within 4.5 deviations of 32."""
    engines, _ = modules
    language = engines.Language.of(1)
    made = engines.generate(name, language, 40, 1000, 3)
    columns = {key: column[:, :1000] for key, column in made.columns.items()}
    assert made.filled.min() >= 1000
    missed = columns["rejected"][:, 1:] >= 0
    assert (missed == columns["replaced"][:, :-1]).all()  # a token follows a replacement, or does not
    assert columns["bonus"].any()
    assert not (columns["bonus"] & columns["replaced"]).any()
    again = engines.following(columns["token"][:, 1:-1], columns["token"][:, :-2])
    assert (again == columns["context"][:, 2:]).all()
    common = np.bincount(columns["context"].reshape(-1)).argmax()
    tokens, law = columns["token"][columns["context"] == common], language.target[common]
    off = np.bincount(tokens, minlength=len(law)) - len(tokens) * law
    assert (np.abs(off) <= 4.5 * np.sqrt(len(tokens) * law * (1 - law)) + 1).all()  # 1: of the rarest, one may come


def test_shares_are_between_their_limits(modules):
    _, null_runs = modules
    assert null_runs.interval(0, 100) == (0.0, pytest.approx(1 - 0.005**0.01))
    assert null_runs.interval(100, 100) == (pytest.approx(0.005**0.01), 1.0)
    low, high = null_runs.interval(5, 100)
    at_most = [sum(math.comb(100, k) * share**k * (1 - share) ** (100 - k) for k in range(6)) for share in (low, high)]
    exactly = math.comb(100, 5) * low**5 * (1 - low) ** 95
    assert (1 - at_most[0] + exactly, at_most[1]) == (pytest.approx(0.005), pytest.approx(0.005))


def test_a_promise_that_is_not_kept_is_told(modules):
    engines, null_runs = modules
    quiet = {name: [0.0] * 50 for name in engines.ENGINES} | {"trap": [100.0] * 10}
    assert null_runs.judged(quiet, 100, 1)[1]
    assert not null_runs.judged(quiet | {"token rule": [math.log(1e6)] * 2 + [0.0] * 48}, 100, 1)[1]
    assert not null_runs.judged(quiet | {"trap": [1.0] * 10}, 100, 1)[1]
    assert not null_runs.judged(quiet, 100, 20)[1]
