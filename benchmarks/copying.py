"""How much faster is copying, when the drafter looks the next tokens up in the text?

The embedded target does not copy of its own accord, as large models do when they edit a file. So a warper makes it: the
score of the token that the prompt has next is raised. Passes, their cost and the loop are the real ones.
"""

from dataclasses import dataclass

import numpy as np

from draftproof import BlockRule, Engine, FixedLength, PhiloxNoise, Stop, follow
from draftproof.drafters.ngram import NgramDrafter
from draftproof.drafters.suffix import SuffixDrafter, Suffixes
from draftproof.economics.calibrate import calibrate
from draftproof.economics.policy import MOST, Adaptive
from draftproof.economics.workloads import WORKLOADS
from draftproof.engine import plain
from draftproof.warpers.pipeline import sampling
from measuring import TARGET, TOKENIZER, paired_ratios, save, spread

TOKENS, PAIRS, RAISED, LENGTHS = 96, 16, 20.0, (4, 8, 16)
SIZE = TARGET.vocab_size
DRAFTERS = {"ngram:1-4": NgramDrafter(SIZE, 1, 4), "suffix": SuffixDrafter(SIZE, Suffixes())}


@dataclass(frozen=True)
class Copying:
    """A `Warper` that makes the output a copy of the prompt, again and again."""

    reads_text = True

    def warp(self, rows, kind, texts):
        rows = np.array(rows)
        for row, text in enumerate(texts):
            source = text[: text.prompt_length]
            rows[row, source[(len(text) - text.prompt_length) % len(source)]] += RAISED
        return rows, kind


PIPELINE = sampling(1.0, processors=[Copying()])


def job(i):
    prompt = TOKENIZER.encode(" ".join(WORKLOADS["copy"][i % len(WORKLOADS["copy"])].split()[:60]))
    return prompt, Stop(TOKENS, TARGET.context_limit), PhiloxNoise(i % 2**32)


def plain_text(i):
    prompt, stop, noise = job(i)
    return list(plain.decode(TARGET, PIPELINE, prompt, stop, noise))


def copied(drafter, length, i):
    prompt, stop, noise = job(i)
    engine = Engine(TARGET, drafter, BlockRule(), PIPELINE, length)
    return follow(engine.decode(prompt, stop, noise), prompt)


def main() -> None:
    values = {}
    for name, drafter in DRAFTERS.items():
        engine = Engine(TARGET, drafter, BlockRule(), PIPELINE, FixedLength(0))
        lengths = {f"K={k}": FixedLength(k) for k in LENGTHS}
        for label, length in (lengths | {"auto": Adaptive(calibrate(engine, job(0)[0], MOST))}).items():
            ratios = paired_ratios(lambda i, d=drafter, k=length: copied(d, k, i), plain_text, PAIRS)
            values |= spread(f"{name}, {label}: copying / plain", ratios)
            trace = copied(drafter, length, 0)
            values[f"{name}, {label}: tokens per pass"] = len(trace.token_ids) / len(trace.passes)
    save("How much faster is copying with a drafter that looks up?", values, "copying")


if __name__ == "__main__":
    main()
