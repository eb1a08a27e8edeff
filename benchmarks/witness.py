"""What does a bet on a token cost, next to reading the laws once?

The work: `EProcess.add` on batches of tokens with target and draft laws, bonus slots, rejected drafts. Laws at 512 and
at 151,936 tokens: *peaked*, which fall as rank ** -1.3, and *flat*, of normal scores, both at a temperature only, so
that no entry is zero; and *top-p*, the peaked ones after top-p 0.95. Kinds are timed in turn; times are processor time
of the one thread, so waiting for a busy machine does not lengthen them, but neighbours in the caches do: the fastest is
named too. *torch* is the flat batch on the CPU, one thread.

The floor is memory: both laws read once, over what a core reads in a second. What lies above it is arithmetic: some
thirty passes over each law, an exponential, a logarithm and two square roots of every entry among them.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from draftproof import sampling
from draftproof.witness.emitted import Emitted
from draftproof.witness.eprocess import EProcess
from large_vocabulary import bandwidth, seconds
from measuring import save, spread

SIZES = {512: 256, 151_936: 8}
"""Tokens of the vocabulary, and tokens that are bet on in a batch."""
RUNS = 24
TEMPERATURE, TOP_P = 0.8, 0.95
DISAGREEMENT = 0.5
"""Standard deviation of the draft's logits around the target's."""
ASKED = {512: 0.15, 151_936: 8.0}
"""Milliseconds a token, on two cores of a server of 2021."""


def main() -> None:
    torch.set_num_threads(1)
    speed = bandwidth()
    values = {"GB/s that one core reads": speed}
    for size, count in SIZES.items():
        batches = {kind: batch(kind, size, count) for kind in ("peaked", "flat", "top-p")}
        batches["torch, flat"] = in_torch(batches["flat"])
        times = compared(batches)
        floor = 2 * 8 * size / speed / 1e6
        values[f"{size:,}: floor, ms to read two laws"] = floor
        for kind, measured in times.items():
            values |= spread(f"{size:,} {kind}: ms a token", measured)
            values[f"{size:,} {kind}: ms a token, fastest"] = min(measured)
            values[f"{size:,} {kind}: fastest / floor"] = min(measured) / floor
    save("What does a bet on a token cost?", values, "witness")


def batch(kind, size, count):
    """Return tokens drawn from laws, with all that an engine could tell of them."""
    rng = np.random.default_rng(size)
    if kind == "flat":
        scores = rng.normal(size=(count, size))
    else:
        scores = -1.3 * TEMPERATURE * np.log(np.stack([rng.permutation(size) + 1 for _ in range(count)]))
    settings = sampling(TEMPERATURE, top_p=TOP_P if kind == "top-p" else 1)
    target, draft = (
        settings.laws(rows, "logits") for rows in (scores, scores + rng.normal(scale=DISAGREEMENT, size=scores.shape))
    )
    tokens = np.array([rng.choice(size, p=law) for law in target])
    rejected = np.where(rng.random(count) < 0.3, rng.integers(0, size, count), -1)
    return Emitted(tokens, target, draft, rng.random(count) < 0.2, rejected >= 0, rejected)


def in_torch(emitted):
    laws = (torch.from_numpy(law) for law in (emitted.target, emitted.draft))
    return Emitted(emitted.tokens, *laws, emitted.bonus, emitted.after_reject, emitted.rejected)


def compared(batches):
    """Return for each batch the milliseconds a token that betting on it takes, all batches in turn."""
    times = {kind: [] for kind in batches}
    for i in range(-1, RUNS):
        for kind in list(batches) if i % 2 else reversed(list(batches)):
            taken = seconds(lambda kind=kind: EProcess().add(batches[kind]))
            times[kind] += [1e3 * taken / len(batches[kind])] * (i >= 0)
    return times


if __name__ == "__main__":
    main()
