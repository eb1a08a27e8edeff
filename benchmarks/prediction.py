"""How good are predictions of the speed-up, for every drafter, rule and draft length, on three workloads?"""

from collections import defaultdict
from dataclasses import asdict

import numpy as np

from draftproof import ModelDrafter, sampling
from draftproof.economics.check import Generation, verdict
from draftproof.economics.measure import measure
from draftproof.economics.pair import Pair
from draftproof.economics.workloads import WORKLOADS
from draftproof.rules.catalogue import CHAIN_RULES
from measuring import DRAFT, TARGET, TOKENIZER, save

TOKENS, SEED = 96, 1
ROUNDS = {"tiny:draft": 8, "tiny:target": 4}
LENGTHS = {"tiny:draft": range(1, 9), "tiny:target": (1, 3)}
"""By drafter; the target as its own draft takes long, and no length of it pays."""


def cells_of(drafter, model):
    pipeline = sampling(1.0)
    prompts = {name: [TOKENIZER.encode(prompt) for prompt in some] for name, some in WORKLOADS.items()}
    pair = Pair(TARGET, {drafter: ModelDrafter(model, pipeline)}, tuple(CHAIN_RULES), pipeline, prompts, TOKENS)
    generation = Generation(pair, LENGTHS[drafter], ROUNDS[drafter], SEED + 10_000, lambda _: None)
    return generation.cells(measure(pair, ROUNDS[drafter], SEED, between=generation.round))


def main() -> None:
    cells = [
        cell for drafter, model in (("tiny:draft", DRAFT), ("tiny:target", TARGET)) for cell in cells_of(drafter, model)
    ]
    found = verdict(cells)
    values = {
        "cells": len(cells),
        "predicted speed-up: median absolute error": found.median_error,
        "predicted speed-up: cells in their 90 % interval": found.covered,
        "i.i.d. formula: median absolute error": found.median_naive_error,
    }
    groups = defaultdict(list)
    for cell in cells:
        groups[f"{cell.setting.drafter}, {cell.setting.rule}"].append(cell)
    for cell in cells:
        groups[cell.workload].append(cell)
    for cell in sorted(cells, key=lambda one: one.setting.length):
        groups[f"K={cell.setting.length}"].append(cell)
    for name, some in groups.items():
        values[f"{name}: median absolute error"] = np.median([abs(cell.error) for cell in some])
        values[f"{name}: in their intervals"] = np.mean([cell.covered for cell in some])
        values[f"{name}: mean error"] = np.mean([cell.error for cell in some])
        values[f"{name}: mean error of the i.i.d. formula"] = np.mean([cell.naive_error for cell in some])
    samples = {"cells": [asdict(cell) for cell in cells]}
    save("How good are predictions of the speed-up?", values, "prediction", samples)


if __name__ == "__main__":
    main()
