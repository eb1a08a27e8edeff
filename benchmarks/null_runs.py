"""How often is a lossless engine convicted, and how often does the bound on the drift fail?

10,000 runs of 2,000 tokens each, by four lossless engines (null_engines.py): how many ever have so much evidence
against them, next to what was promised. The last engine is a trap: the first one, of whose tokens only those are looked
at that took the place of a rejected draft, which nobody knows before they are drawn; it must be convicted. Then the
bound, in runs whose drift comes and goes. Ends with an error if something is not as promised.
"""

import math
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from scipy.stats import beta

from draftproof.witness.drift import drift_upper
from draftproof.witness.eprocess import EProcess
from null_engines import ENGINES, Language, generate

RUNS, TOKENS, TOGETHER = 10_000, 2_000, 250
LEVELS = (20, 100, 1e3, 1e6)
"""Evidence that a lossless engine ever has with probability 1 / level at most."""
SURE = 0.99
"""Of the intervals: one of a hundred is beside the truth."""
TRAPPED, REPLACED = 100, 1_000
"""Runs of the trap, and how many tokens are looked at."""
DRIFTING, DELTA, LONG, LOOKS, BLOCK = 2_000, 0.05, 5_000, 20, 500
"""Runs whose drift comes and goes, how often the bound may fail, tokens of each, looks, tokens until it turns."""


def main(runs) -> None:
    began, tasks = time.monotonic(), list(planned(runs))
    highest = {name: [] for name in (*ENGINES, "trap")}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        failed = pool.submit(broken_bounds, max(100, DRIFTING * runs // RUNS), 0)
        waiting = [pool.submit(evidence, *task) for task in tasks]
        for done, future in enumerate(as_completed(waiting), 1):
            name, found = future.result()
            highest[name] += found
            if done % max(1, len(tasks) // 20) == 0:
                print(f"{done} of {len(tasks)} batches, {time.monotonic() - began:.0f} s", flush=True)
        drifting, broken = failed.result()
    values, kept = judged(highest, drifting, broken)
    values["minutes"] = (time.monotonic() - began) / 60
    from measuring import save  # it reads models, which no process of the pool needs

    save("How often is a lossless engine convicted?", values, "null_runs")
    if not kept:
        sys.exit("a promise was not kept")


def planned(runs):
    """Yield (engine, runs, tokens, column or None, seed) of all batches."""
    seed = 0
    for name in ENGINES:
        for first in range(0, runs // len(ENGINES), TOGETHER):
            seed += 1
            yield name, min(TOGETHER, runs // len(ENGINES) - first), TOKENS, None, seed
    for _ in range(0, max(4, TRAPPED * runs // RUNS), TOGETHER):
        seed += 1
        yield "trap", min(TOGETHER, max(4, TRAPPED * runs // RUNS)), 8 * REPLACED, "replaced", seed


def evidence(name, runs, tokens, only, seed):
    """Return the engine, and the most evidence against each of its runs, in nats."""
    engine, found = ENGINES[0] if name == "trap" else name, []
    made = generate(engine, Language.of(seed % 8), runs, tokens, seed)
    for run in range(runs):
        state, emitted = EProcess(), made.emitted(run, tokens, only)
        state.add(emitted if only is None else emitted[:REPLACED])
        found.append(state.highest)
    return name, found


def broken_bounds(runs, seed):
    """Return how many runs there were, and in how many the bound on the average drift failed at any look."""
    rng, looks = np.random.default_rng(seed), np.arange(LONG // LOOKS, LONG + 1, LONG // LOOKS)
    drift = np.where(np.arange(LONG) // BLOCK % 2, 0.06, -0.02)
    off = (rng.random((runs, LONG)) < 0.3 + drift) - 0.3
    totals, squares = (np.cumsum(of, axis=-1)[:, looks - 1] for of in (off, off**2))
    bounds = drift_upper(totals, squares, looks, DELTA)
    return runs, int((np.cumsum(drift)[looks - 1] / looks > bounds).any(axis=-1).sum())


def judged(highest, drifting, broken):
    """Return the figures, and whether every promise was kept."""
    values, kept = {}, True
    everything = [each for name in ENGINES for each in highest[name]]
    for name, found in [*((name, highest[name]) for name in ENGINES), ("all engines", everything)]:
        values[f"{name}: runs"] = len(found)
        for level in LEVELS:
            reached = sum(each >= math.log(level) for each in found)
            low, high = interval(reached, len(found))
            values |= told(f"{name}: ever {level:,.0f} : 1", reached, len(found), low, high)
            kept &= low <= 1 / level
    caught = sum(each >= math.log(LEVELS[-1]) for each in highest["trap"])
    values |= {"trap: runs": len(highest["trap"]), "trap: convicted at 1,000,000 : 1": caught}
    low, high = interval(broken, drifting)
    values |= told("bound on the drift: broken at any look", broken, drifting, low, high)
    return values, kept and caught >= 0.95 * len(highest["trap"]) and low <= DELTA


def told(name, count, runs, low, high):
    return {name: count, f"{name}, share": count / runs, f"{name}, at least": low, f"{name}, at most": high}


def interval(count, runs):
    """Return between which shares the true one is, by Clopper and Pearson, each side wrong once in 200 times."""
    tail = (1 - SURE) / 2
    low = 0.0 if count == 0 else float(beta.ppf(tail, count, runs - count + 1))
    return low, 1.0 if count == runs else float(beta.ppf(1 - tail, count + 1, runs - count))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
