"""How everything here is measured: pairs of runs in turn, in one process, and the median of their ratios.

A machine drifts, so a speed alone means little; two runs next to each other see the same machine. Each script answers
one question and writes its `Measurement` to benchmarks/results/NAME.json.
"""

import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from draftproof import Engine, FixedLength, ModelDrafter, NoDrafter, PhiloxNoise, Stop, TokenRule, load
from draftproof.economics.machine import machine as this_machine
from draftproof.economics.workloads import WORKLOADS
from draftproof.records import Measurement
from draftproof.warpers.pipeline import Pipeline

RESULTS = Path(__file__).parent / "results"
PROMPTS = WORKLOADS["continuation"]
TARGET, TOKENIZER = load("tiny:target", "target")
DRAFT, _ = load("tiny:draft", "drafter")


def machine() -> dict[str, str]:
    """Return what a reader must know of the machine."""
    blas = [info for info in threadpool_info() if info["user_api"] == "blas"]
    kernels = ", ".join(f"{info['internal_api']} {info['version']} ({info['architecture']})" for info in blas)
    return this_machine() | {"blas": kernels}


def save(question: str, values: dict[str, float], name: str, samples: dict[str, Any] | None = None) -> None:
    """Print a measurement and keep it, with the figures behind it if they are given."""
    RESULTS.mkdir(exist_ok=True)
    rounded = {key: round(float(value), 5) for key, value in values.items()}
    record = Measurement(question, machine(), rounded, samples=samples or {})
    (RESULTS / f"{name}.json").write_text(json.dumps(record.to_json(), indent=1) + "\n")
    print(question)
    for key, value in record.values.items():
        print(f"  {key:55} {value:g}")


def seconds(work: Callable[..., Any], *arguments: Any) -> float:
    """Return how long `work` takes."""
    began = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - began


def paired_ratios(one: Callable[[int], Any], other: Callable[[int], Any], pairs: int) -> list[float]:
    """Return seconds(other) / seconds(one) for each of `pairs` pairs in alternating order, after one to warm up."""
    ratios = []
    for i in range(-1, pairs):
        first, second = (one, other) if i % 2 else (other, one)
        times = {first: seconds(first, i), second: seconds(second, i)}
        ratios.append(times[other] / times[one])
    return ratios[1:]


def spread(name: str, values: Sequence[float]) -> dict[str, float]:
    """Return median and quartiles of `values`, named."""
    low, middle, high = statistics.quantiles(values, n=4)
    return {name: middle, f"{name} (quartile 1)": low, f"{name} (quartile 3)": high}


def engine(block: int, pipeline: Pipeline, target: Any = TARGET, draft: Any = DRAFT) -> Engine:
    """Return the embedded pair as an engine with draft length `block`."""
    drafter = ModelDrafter(draft, pipeline) if block else NoDrafter()
    return Engine(target, drafter, TokenRule(), pipeline, FixedLength(block))


def job(i: int, tokens: int) -> tuple[list[int], Stop, PhiloxNoise]:
    """Return prompt, stop and noise of the i-th run; end of sequence does not stop it, so that lengths are equal."""
    prompt = TOKENIZER.encode(PROMPTS[i % len(PROMPTS)])
    return prompt, Stop(tokens, TARGET.context_limit), PhiloxNoise(i % 2**32)
