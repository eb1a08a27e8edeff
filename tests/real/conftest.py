import pytest

from draftproof.engine.options import Options
from draftproof.engine.setup import Models, prepare
from real_of_tests import OF_TARGETS, PAIRS, PROMPT, real


@pytest.fixture(scope="session")
def models():
    """What was loaded: each model once."""
    return Models()


@pytest.fixture(scope="session")
def run_of(models):
    """Return a function: pair, options -> a `Run` that shares its models with all others."""

    def make(pair, prompt=PROMPT, decide=None, **options):
        options = {"max_tokens": 24, "num_speculative_tokens": 4, "ignore_eos": True, **options}
        specs = {"target": real(pair.target), "drafter": real(pair.drafter)}
        return prepare(Options(prompt, **specs | options), models, decide)

    return make


@pytest.fixture(params=PAIRS.values(), ids=PAIRS.keys())
def pair(request):
    return request.param


@pytest.fixture(params=OF_TARGETS.values(), ids=OF_TARGETS.keys())
def of_target(request):
    return request.param
