"""Does a draft length that adapts keep up with the best fixed one, and is it ever slower than plain decoding?

Every text is decoded plainly, with every fixed length and with the adaptive one, in shuffled order, so that all see one
machine. Costs are calibrated once for each drafter and workload, on the first prompt, as `auto` does. *By costs*: the
passes as they ran, each at its calibrated cost, which no neighbour on the machine disturbs.
"""

import random
from dataclasses import replace

from draftproof import Engine, FixedLength, ModelDrafter, PhiloxNoise, Stop, TokenRule, sampling
from draftproof.drafters.ngram import NgramDrafter
from draftproof.economics.calibrate import calibrate
from draftproof.economics.policy import Adaptive
from draftproof.economics.workloads import WORKLOADS
from draftproof.engine import plain
from measuring import DRAFT, TARGET, TOKENIZER, save, seconds

TOKENS, FIXED, ROUNDS = 128, (1, 2, 3, 4, 6, 8), 1
PIPELINE = sampling(1.0)
DRAFTERS = {"tiny:draft": ModelDrafter(DRAFT, PIPELINE), "ngram": NgramDrafter(TARGET.vocab_size, 1, 4)}


def texts(drafter, prompts, seed):
    """Return for every way to decode the seconds of each text, measured and by costs; the seconds of calibration."""
    engine = Engine(TARGET, drafter, TokenRule(), PIPELINE, FixedLength(1))
    costs = calibrate(engine, prompts[0])
    calibration = seconds(calibrate, engine, prompts[0])
    lengths = {f"K={k}": FixedLength(k) for k in FIXED} | {"adaptive": Adaptive(costs)}
    measured, counted = ({name: [] for name in ("plain", *lengths)} for _ in range(2))
    order = random.Random(seed)  # noqa: S311 (an order is no secret)
    for i, prompt in enumerate(prompts * ROUNDS):
        stop, noise = Stop(TOKENS, TARGET.context_limit), PhiloxNoise(seed + i)
        for name in order.sample(list(measured), len(measured)):
            passes = []
            if name == "plain":
                taken = seconds(list, plain.decode(TARGET, PIPELINE, prompt, stop, noise))
            else:
                taken = seconds(passes.extend, replace(engine, length=lengths[name]).decode(prompt, stop, noise))
            measured[name].append(taken)
            drafted = [len(done.drafted) for done in passes] or [0] * TOKENS
            counted[name].append(sum(map(costs.of_pass, drafted)))
    return measured, counted, calibration


def compared(cell, found):
    """Return the ratios of one drafter on one workload, of whole texts added up, named."""
    totals = {way: sum(times) for way, times in found.items()}
    best = min(totals.keys() - {"adaptive"}, key=totals.__getitem__)
    return {
        **{f"{cell}: plain / {way}": totals["plain"] / totals[way] for way in totals if way != "plain"},
        f"{cell}: best fixed K": 0 if best == "plain" else int(best[2:]),
        f"{cell}: adaptive / best fixed": totals["adaptive"] / totals[best],
    }


def main() -> None:
    values, samples = {}, {}
    for name, drafter in DRAFTERS.items():
        for workload, prompts in WORKLOADS.items():
            encoded = [TOKENIZER.encode(prompt) for prompt in prompts]
            measured, counted, calibration = texts(drafter, encoded, seed=len(samples) * 1000)
            cell = f"{name}, {workload}"
            samples[cell] = {"measured": measured, "by costs": counted}
            values |= compared(cell, measured) | compared(f"{cell}, by costs", counted)
            values[f"{cell}: seconds of the calibration"] = calibration
    for kind in (", by costs", ""):
        cells = [f"{cell}{kind}" for cell in samples]
        values[f"adaptive / best fixed, largest{kind}"] = max(
            values[f"{cell}: adaptive / best fixed"] for cell in cells
        )
        values[f"plain / adaptive, smallest{kind}"] = min(values[f"{cell}: plain / adaptive"] for cell in cells)
    save("Does an adaptive draft length keep up with the best fixed one?", values, "adaptive", samples)


if __name__ == "__main__":
    main()
