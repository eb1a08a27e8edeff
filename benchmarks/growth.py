"""Does a token cost more the more were emitted before it, and how much memory does a generation take?"""

import resource
import statistics
import subprocess
import sys
import time

from draftproof import sampling
from measuring import TARGET, engine, job, save
from pass_cost import curve

TOKENS, RUNS = 960, 5
WINDOWS = ((64, 160), (448, 544), (832, 928))


def main() -> None:
    early, middle, late = (statistics.median(found) for found in zip(*(per_pass() for _ in range(RUNS)), strict=True))
    forward = {place: curve(TARGET, (4,), place, 60)[4] for place in (112, 496, 880)}
    values = {
        "ms per pass at tokens 64-160": early * 1e3,
        "at tokens 448-544 / early": middle / early,
        "at tokens 832-928 / early": late / early,
        "target pass alone (attention): 496 / 112": forward[496] / forward[112],
        "target pass alone (attention): 880 / 112": forward[880] / forward[112],
        "peak memory of `draftproof generate`, MB": peak_memory(),
    }
    save("Does cost grow with the text, and how much memory is used?", values, "growth")


def per_pass():
    """Return the median seconds of a pass in each window of one long generation with K = 3."""
    prompt, stop, noise = job(0, TOKENS)
    times, began = [], time.perf_counter()
    for done in engine(3, sampling(1.0)).decode(prompt, stop, noise):
        now = time.perf_counter()
        times.append((done.start, now - began))
        began = now
    return [statistics.median(t for start, t in times if low <= start < high) for low, high in WINDOWS]


def peak_memory() -> float:
    """Return the largest resident size of a child that generates 900 tokens, in MB."""
    words = [sys.executable, "-m", "draftproof", "generate", "In the beginning", "--max-tokens", "900", "--json"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


if __name__ == "__main__":
    main()
