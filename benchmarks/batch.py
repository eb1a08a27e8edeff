"""How many more tokens a second do several texts yield, decoded together, than one after another?"""

import statistics
import time

from draftproof import BlockRule, Engine, FixedLength, ModelDrafter, sampling
from draftproof.engine.batch import Request, decode
from draftproof.engine.gathered import Gathered
from draftproof.engine.passes import Pass
from measuring import DRAFT, TARGET, job, save, spread

TOKENS, ROUNDS, SIZES, LENGTHS = 96, 9, (2, 4, 8, 16), (0, 1, 2, 3, 4)
PIPELINE = sampling(1.0)


def engine(length):
    target, draft = Gathered(TARGET, patient=True), ModelDrafter(Gathered(DRAFT), PIPELINE)
    return Engine(target, draft, BlockRule(), PIPELINE, FixedLength(length))


def tokens_per_second(size, length, turn):
    jobs = [job(turn * max(SIZES) + i, TOKENS) for i in range(max(size, 4))]
    requests = [Request(engine(length), prompt, stop, (noise,)) for prompt, stop, noise in jobs]
    began = time.perf_counter()
    emitted = sum(len(each.what.emitted) for each in decode(requests, size) if isinstance(each.what, Pass))
    return emitted / (time.perf_counter() - began)


def main() -> None:
    """Compare batches of a size with single texts, each at every draft length, rounds taking turns."""
    speeds = {(size, length): [] for size in (1, *SIZES) for length in LENGTHS}
    for turn in range(ROUNDS):
        for (size, length), found in speeds.items():
            found.append(tokens_per_second(size, length, turn))
    values = {}
    best = {size: max(LENGTHS, key=lambda k, size=size: statistics.median(speeds[size, k])) for size in (1, *SIZES)}
    for size in (1, *SIZES):
        values[f"batch {size}: best K"] = best[size]
        values[f"batch {size}: tokens a second at it"] = statistics.median(speeds[size, best[size]])
    for size in SIZES:
        pairs = zip(speeds[size, best[size]], speeds[1, best[1]], strict=True)
        values |= spread(f"batch {size} / batch 1, both at their best K", [one / other for one, other in pairs])
        same = zip(speeds[size, best[1]], speeds[1, best[1]], strict=True)
        values[f"batch {size} / batch 1, both at the best K of batch 1"] = statistics.median(a / b for a, b in same)
    save("How many more tokens a second does a batch yield?", values, "batch")


if __name__ == "__main__":
    main()
