"""An engine of one's own under audit: a function that returns token ids, once right and once with a common mistake.

    draftproof audit python:10_audited:right     (in this folder)
    draftproof audit python:10_audited:wrong
"""

from functools import cache

import numpy as np

from draftproof import load


def right(prompt, seed, length, target, drafter, speculative, num_speculative_tokens):
    """Return `length` tokens, drawn by speculative sampling if `speculative`."""
    return sampled(prompt, seed, length, target, drafter, num_speculative_tokens * speculative)


def wrong(prompt, seed, length, target, drafter, speculative, num_speculative_tokens):
    """Draw what replaces a rejected token from the target's law instead of the residual."""
    return sampled(prompt, seed, length, target, drafter, num_speculative_tokens * speculative, residual=lambda p, q: p)


def sampled(prompt, seed, length, target, drafter, most, residual=lambda p, q: np.maximum(p - q, 0)):
    """Return tokens, and of each pass how many were drafted and emitted."""
    random, text, rounds = np.random.default_rng(seed), list(prompt), []
    while len(text) < len(prompt) + length:
        drafts, laws = [], []
        for _ in range(most):
            laws.append(law(drafter, [*text, *drafts])[-1])
            drafts.append(int(random.choice(len(laws[-1]), p=laws[-1])))
        rows = law(target, [*text, *drafts])[len(text) - 1 :]
        kept = 0
        while kept < most and random.random() * laws[kept][drafts[kept]] < rows[kept][drafts[kept]]:
            kept += 1
        last = rows[kept] if kept == most else residual(rows[kept], laws[kept])
        emitted = [*drafts[:kept], int(random.choice(len(last), p=last / last.sum()))]
        emitted = emitted[: len(prompt) + length - len(text)]
        text += emitted
        rounds.append([most, len(emitted)])
    return {"tokens": text[len(prompt) :], "rounds": rounds}


def law(folder, text):
    """Return the law after every token of a text."""
    rows = model(folder).fresh().extend(text).astype(np.float64)
    weights = np.exp(rows - rows.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


@cache
def model(folder):
    """Return a model, read once."""
    return load(f"tiny:{folder}", "target")[0]


if __name__ == "__main__":
    pair = "src/draftproof/assets/target", "src/draftproof/assets/draft"
    print(right([0], 0, 20, *pair, True, 3)["rounds"])
