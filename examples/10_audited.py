"""An engine of one's own under audit: a function that returns token ids, once right and once with a common mistake.

draftproof audit python:10_audited:right     (in this folder)
draftproof audit python:10_audited:wrong
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from draftproof import load


def right(prompt: list[int], seed: int, length: int, **told: Any) -> dict[str, Any]:
    """Return `length` tokens, drawn by speculative sampling if told to speculate."""
    return sampled(prompt, seed, length, told, lambda p, q: np.maximum(p - q, 0))


def wrong(prompt: list[int], seed: int, length: int, **told: Any) -> dict[str, Any]:
    """Draw what replaces a rejected token from the target's law instead of the residual."""
    return sampled(prompt, seed, length, told, lambda p, q: p)


def sampled(prompt: list[int], seed: int, length: int, told: dict[str, Any], residual: Callable) -> dict[str, Any]:
    """Return tokens, and of each pass how many were drafted and emitted."""
    random, text, rounds = np.random.default_rng(seed), list(prompt), []
    most = told["num_speculative_tokens"] * told["speculative"]
    while len(text) < len(prompt) + length:
        drafts, laws = [], []
        for _ in range(most):
            laws.append(law(told["drafter"], [*text, *drafts])[-1])
            drafts.append(int(random.choice(len(laws[-1]), p=laws[-1])))
        rows = law(told["target"], [*text, *drafts])[len(text) - 1 :]
        kept = 0
        while kept < most and random.random() * laws[kept][drafts[kept]] < rows[kept][drafts[kept]]:
            kept += 1
        last = rows[kept] if kept == most else residual(rows[kept], laws[kept])
        emitted = [*drafts[:kept], int(random.choice(len(last), p=last / last.sum()))]
        text += emitted[: len(prompt) + length - len(text)]
        rounds.append([most, len(text) - len(prompt) - sum(count for _, count in rounds)])
    return {"tokens": text[len(prompt) :], "rounds": rounds}


@cache
def model(folder: str) -> Any:
    """Return a model, read once."""
    return load(f"tiny:{folder}", "target")[0]


def law(folder: str, text: list[int]) -> np.ndarray:
    """Return the law after every token of a text."""
    weights = np.exp(model(folder).fresh().extend(text).astype(np.float64))  # no score of these is large
    return weights / weights.sum(axis=-1, keepdims=True)


if __name__ == "__main__":
    print(right([0], 0, 20, target="target", drafter="draft", speculative=True, num_speculative_tokens=3)["rounds"])
