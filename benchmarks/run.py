"""Runs every question, one after another, each in a process of its own, and writes what is current to README.md."""

import json
import subprocess
import sys
from pathlib import Path

import real_page

HERE = Path(__file__).parent
QUESTIONS = (
    "pass_cost",
    "speculation",
    "against_transformers",
    "growth",
    "large_vocabulary",
    "efficiency",
    "prediction",
    "explorer",
    "batch",
    "copying",
    "adaptive",
    "witness",
)
NAMED = ("null_runs",)
"""Asked only if they are named: half an hour."""
REAL = "real"
"""Asked only if it is named, as it needs the models that `real_models.py` fetches, and an hour."""


def main() -> None:
    """Run all questions, or those named on the command line, then write README.md from all results."""
    for question in sys.argv[1:] or QUESTIONS:
        subprocess.run([sys.executable, HERE / f"{question}.py"], check=True)
    results = {name: json.loads((HERE / "results" / f"{name}.json").read_text()) for name in QUESTIONS + NAMED}
    real = HERE / "results" / f"{REAL}.json"
    (HERE / "README.md").write_text(page(results, json.loads(real.read_text()) if real.exists() else None))


def page(results, real=None):
    """Return README.md, with what is known of real models."""
    asked = "\n".join([asked_and_reached(results), *(real_page.bounds(real) if real else ())])
    parts = [(HERE / "introduction.md").read_text().rstrip(), "## Asked and reached", asked]
    parts += [real_page.section(real)] if real else []
    for name, result in results.items():
        machine = "; ".join(f"{key} {value}" for key, value in result["machine"].items())
        rows = "\n".join(f"| {key} | {value:g} |" for key, value in result["values"].items())
        parts += [f"## {result['question']} (`{name}.py`)", f"| figure | value |\n|---|---:|\n{rows}", machine]
    return "\n\n".join(parts) + "\n"


def asked_and_reached(results):
    """Return the table of the bounds that the project set itself, with what was measured."""
    values = {key: value for result in results.values() for key, value in result["values"].items()}
    bounds = (
        ("5 tokens: ms from a key to the page, 95th percentile", "<=", 150),
        ("12 tokens: ms from a key to the page, 95th percentile", "<=", 150),
        ("T=1: speculative / plain, best K, again", ">=", 1.5),
        ("T=0: speculative / plain, best K, again", ">=", 1.8),
        ("T=1: reached / allowed, costs from the curve", ">=", 0.95),
        ("T=1: reached / allowed, costs in place", ">=", 0.95),
        ("T=0: reached / allowed, costs from the curve", ">=", 0.95),
        ("T=0: reached / allowed, costs in place", ">=", 0.95),
        ("target: 4 rows / 1 row", "<=", 1.7),
        ("cost ratio draft / target", "<=", 0.15),
        ("transformers (1 threads) / ours, seconds", ">=", 2),
        ("transformers (2 threads) / ours, seconds", ">=", 2),
        ("share of time outside forward passes", "<=", 0.2),
        ("time added by the certificate", "<=", 0.1),
        ("peak memory of `draftproof generate`, MB", "<=", 300),
        ("peaked: ms, token rule", "<=", 15),
        ("peaked: ms, block rule", "<=", 15),
        ("flat: ms, token rule", "<=", 15),
        ("flat: ms, block rule", "<=", 15),
        ("peaked: transformers / ours, token rule", ">=", 1),
        ("peaked: transformers / ours, block rule", ">=", 1),
        ("largest distance from the reference, standard errors", "<=", 4),
        ("predicted speed-up: median absolute error", "<=", 0.1),
        ("predicted speed-up: cells in their 90 % interval", ">=", 0.85),
        ("batch 8 / batch 1, both speculative, one process", ">=", 2.5),
        ("batch 8 / batch 1, both speculative, two processes", ">=", 2.5),
        ("ngram:1-4, K=16: copying / plain", ">=", 3),
        ("adaptive / best fixed, largest", "<=", 1.05),
        ("plain / adaptive, smallest", ">=", 0.95),
        ("512 peaked: ms a token", "<=", 0.15),
        ("512 flat: ms a token", "<=", 0.15),
        ("151,936 peaked: ms a token", "<=", 8),
        ("151,936 flat: ms a token", "<=", 8),
        ("all engines: ever 1,000 : 1, share", "<=", 0.001),
        ("all engines: ever 1,000,000 : 1", "<=", 0),
        ("bound on the drift: broken at any look, share", "<=", 0.05),
        *((f"embedded pair, K={k}: passes of block - token", "<=", 0) for k in (1, 2, 3, 4, 6, 8)),
    )
    rows = [f"| {name} | {sign} {bound:g} | {values[name]:.3g} |" for name, sign, bound in bounds]
    return "\n".join(["| figure | asked | reached |", "|---|---:|---:|", *rows])


if __name__ == "__main__":
    main()
