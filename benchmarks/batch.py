"""How many more tokens a second do eight texts yield, decoded together, than one after another?

In one process, which keeps one core busy, and shared among two: there the start of the processes counts, as for a user.
"""

import statistics
import time

from draftproof import BlockRule, Engine, FixedLength, ModelDrafter, sampling
from draftproof.api.workers import in_processes
from draftproof.engine.batch import Request, decode
from draftproof.engine.gathered import Gathered
from draftproof.engine.options import Options
from draftproof.engine.passes import Pass
from measuring import DRAFT, PROMPTS, TARGET, job, save, spread

TOKENS, ROUNDS, LENGTHS, SIZE, TEXTS = 96, 9, (0, 1, 2, 3), 8, 128
PIPELINE = sampling(1.0)


def engine(length):
    target, draft = Gathered(TARGET, patient=True), ModelDrafter(Gathered(DRAFT), PIPELINE)
    return Engine(target, draft, BlockRule(), PIPELINE, FixedLength(length))


def tokens_per_second(size, length, turn):
    """Return those of `size` texts at a time, in this process."""
    jobs = [job(turn * SIZE + i, TOKENS) for i in range(SIZE)]
    requests = [Request(engine(length), prompt, stop, (noise,)) for prompt, stop, noise in jobs]
    began = time.perf_counter()
    emitted = sum(len(each.what.emitted) for each in decode(requests, size) if isinstance(each.what, Pass))
    return emitted / (time.perf_counter() - began)


def of_processes(length, turn):
    """Return those of two processes, from nothing to the last text of many."""
    settings = {"num_speculative_tokens": length, "max_tokens": TOKENS, "ignore_eos": True}
    prompts = [Options(PROMPTS[i % len(PROMPTS)], seed=turn * TEXTS + i, **settings) for i in range(TEXTS)]
    began = time.perf_counter()
    emitted = sum(len(found.token_ids) for _, found in in_processes(prompts, 2, SIZE))
    return emitted / (time.perf_counter() - began)


def main() -> None:
    """Compare, all draft lengths taking turns; each side at the length that is best for it, drafting something."""
    speeds = {(size, length): [] for size in (1, SIZE) for length in LENGTHS}
    for turn in range(ROUNDS):
        for (size, length), found in speeds.items():
            found.append(tokens_per_second(size, length, turn))
    best = {size: max(LENGTHS[1:], key=lambda k, size=size: statistics.median(speeds[size, k])) for size in (1, SIZE)}
    two = [of_processes(best[SIZE], turn) for turn in range(ROUNDS // 2)]
    one = [tokens_per_second(1, best[1], turn) for turn in range(ROUNDS // 2)]
    values = {f"batch {size}, K={k}: tokens a second": statistics.median(speeds[size, k]) for size, k in speeds}
    values |= {f"batch {size}: best K > 0": best[size] for size in best}
    pairs = zip(speeds[SIZE, best[SIZE]], speeds[1, best[1]], strict=True)
    values |= spread(f"batch {SIZE} / batch 1, both speculative, one process", [a / b for a, b in pairs])
    ratios = [a / b for a, b in zip(two, one, strict=True)]
    values |= spread(f"batch {SIZE} / batch 1, both speculative, two processes", ratios)
    save("How many more tokens a second does a batch yield?", values, "batch")


if __name__ == "__main__":
    main()
