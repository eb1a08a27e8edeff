"""What do the warpers and the rule cost at a real vocabulary, next to those of transformers on the same thread?

The work: 9 rows of 151,936 float32 logits become laws (temperature 0.8, top-p 0.95), and a rule verifies 8 tokens that
were drafted from 8 laws made beforehand. transformers does it in float32, by its own warpers and acceptance function.
Two kinds of rows: *peaked*, Zipf laws whose nuclei hold tens to thousands of tokens, as models have them, and *flat*,
normal logits, whose nuclei hold 100,000. No run has the rows of the run before. Times are processor time of the one
thread: waiting for a busy machine does not lengthen it, but neighbours in the caches do; so the fastest is named too.

The floor is memory: logits read once, laws written once and read once, draft laws read once: 37 MB, over what a core
reads in a second. What lies above it is arithmetic and caches: about 15 passes over each row of 1.2 MB, exp among them.
"""

import statistics
import time

import numpy as np
import torch
from transformers import TemperatureLogitsWarper, TopPLogitsWarper
from transformers.generation import utils

from draftproof import PhiloxNoise, TokenRule, sampling
from draftproof.noise import PassNoise
from draftproof.rules.base import pick
from draftproof.rules.block import BlockRule
from measuring import save, spread

V, K, SETS, RUNS = 151_936, 8, 3, 24
TEMPERATURE, TOP_P = 0.8, 0.95
PIPELINE = sampling(TEMPERATURE, top_p=TOP_P)
WARPERS = (TemperatureLogitsWarper(TEMPERATURE), TopPLogitsWarper(TOP_P))
RULES = {"token": TokenRule(), "block": BlockRule()}
DISAGREEMENT = 0.5
"""Standard deviation of the draft's logits around the target's."""


def main() -> None:
    torch.set_num_threads(1)
    values = {"GB/s that one core reads": bandwidth()}
    values["floor: ms to move the bytes once"] = bytes_moved() / values["GB/s that one core reads"] / 1e6
    for kind, logits in (("peaked", peaked), ("flat", flat)):
        values |= {f"{kind}: {name}": value for name, value in compared([Work(logits, i) for i in range(SETS)]).items()}
        floor = values["floor: ms to move the bytes once"]
        values |= {f"{kind}: {rule} rule / floor": values[f"{kind}: ms, {rule} rule"] / floor for rule in RULES}
    save("What do the warpers and the rule cost at a real vocabulary?", values, "large_vocabulary")


def peaked(rng):
    """Return (K + 1, V) logits whose laws fall as rank ** -1.3 in the first row to rank ** -2 in the last."""
    ranks = np.stack([rng.permutation(V) + 1 for _ in range(K + 1)])
    return (-TEMPERATURE * np.linspace(1.3, 2, K + 1)[:, None] * np.log(ranks)).astype(np.float32)


def flat(rng):
    """Return (K + 1, V) normal logits."""
    return rng.normal(size=(K + 1, V)).astype(np.float32)


class Work:
    """One set of rows, ready for both sides."""

    def __init__(self, logits, seed) -> None:
        rng = np.random.default_rng(seed)
        self.target = logits(rng)
        draft = (self.target[:K] + rng.normal(scale=DISAGREEMENT, size=(K, V))).astype(np.float32)
        self.draft = PIPELINE.laws(draft, "logits")
        self.tokens = np.asarray(pick(self.draft, rng.random(K)), dtype=np.int64)
        self.torch_target, self.torch_tokens = torch.from_numpy(self.target)[None], torch.from_numpy(self.tokens)[None]
        self.torch_draft = warped(torch.from_numpy(draft))[None]

    def ours(self, rule, run):
        noise = PassNoise(PhiloxNoise(run), 0)
        return rule.verify(PIPELINE.laws(self.target, "logits"), self.draft, self.tokens, noise)

    def theirs(self):
        rows = warped(self.torch_target[0])[None]
        return utils._speculative_sampling(self.torch_tokens, self.torch_draft, K, rows)


def warped(rows):
    """Return torch rows after the warpers of transformers."""
    for warper in WARPERS:
        rows = warper(None, rows)
    return rows


def compared(works):
    """Return what both sides take, run in turn, in milliseconds and as ratios of neighbours."""
    times = {name: [] for name in ("token", "block", "warping", "transformers")}
    for i in range(-SETS, RUNS):
        work = works[i % SETS]
        runs = {name: lambda rule=rule, work=work, i=i: work.ours(rule, i + SETS) for name, rule in RULES.items()}
        runs["warping"] = lambda work=work: PIPELINE.laws(work.target, "logits")
        runs["transformers"] = work.theirs
        for name in list(runs) if i % 2 else reversed(runs):
            times[name] += [seconds(runs[name])] * (i >= 0)
    nuclei = [np.count_nonzero(row) for work in works for row in PIPELINE.laws(work.target, "logits")]
    values = {"least tokens in a nucleus": int(min(nuclei)), "most tokens in a nucleus": int(max(nuclei))}
    for rule in RULES:
        values |= spread(f"ms, {rule} rule", [1e3 * each for each in times[rule]])
        values[f"ms, {rule} rule, fastest"] = 1e3 * min(times[rule])
    values["ms, warping alone"] = 1e3 * statistics.median(times["warping"])
    values["ms, transformers"] = 1e3 * statistics.median(times["transformers"])
    for rule in RULES:
        ratios = [theirs / ours for theirs, ours in zip(times["transformers"], times[rule], strict=True)]
        values |= spread(f"transformers / ours, {rule} rule", ratios)
    return values


def bytes_moved() -> int:
    logits, law = 4 * V, 8 * V
    return (K + 1) * (logits + law + law) + K * law


def seconds(work) -> float:
    """Return the processor time of `work`."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def bandwidth() -> float:
    """Return how many gigabytes a second one core reads from memory."""
    numbers = np.ones(2**25)
    return numbers.nbytes / min(seconds(numbers.sum) for _ in range(5)) / 1e9


if __name__ == "__main__":
    main()
