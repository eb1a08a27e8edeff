"""The published models that `make test-real` fetches, as pairs; a test without its model fails and says so."""

import os
from pathlib import Path
from typing import NamedTuple

import pytest

FOLDER = Path(os.environ.get("DRAFTPROOF_REAL_MODELS") or Path(__file__).parents[1] / "benchmarks" / "models")
QUANTISED = {"qwen-1.5b": "q4_k_m", "qwen-0.5b": "q4_k_m", "smollm2-135m": "q4_1"}
THREADS = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)
"""As many as torch takes."""
PROMPT = 'def is_prime(n: int) -> bool:\n    """Return whether n is a prime number."""\n'


class Pair(NamedTuple):
    """A target and a drafter, each the kind and name of a model, or a SPEC without a model."""

    target: str
    drafter: str


PAIRS = {
    "Qwen torch, GGUF draft": Pair("hf qwen-1.5b", "gguf qwen-0.5b"),
    "Qwen torch, torch draft": Pair("hf qwen-1.5b", "hf qwen-0.5b"),
    "Qwen GGUF, GGUF draft": Pair("gguf qwen-1.5b", "gguf qwen-0.5b"),
    "SmolLM2 torch, ngram": Pair("hf smollm2-135m", "ngram"),
    "SmolLM2 GGUF, ngram": Pair("gguf smollm2-135m", "ngram"),
}
OF_TARGETS = {pair.target: pair for pair in PAIRS.values()}
"""A pair for each target, where the drafter does not matter."""


def real(name):
    """Return the SPEC of "KIND MODEL"; of anything else, itself."""
    kind, _, model = name.partition(" ")
    if not model:
        return name
    path = FOLDER / (model if kind == "hf" else f"{model}-{QUANTISED[model]}.gguf")
    if not path.exists():
        pytest.fail(f"{path} is not there; `make test-real` fetches it", pytrace=False)
    return f"hf:{path}?dtype=bfloat16" if kind == "hf" else f"gguf:{path}?threads={THREADS}"
