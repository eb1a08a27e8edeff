"""Distil the draft on the target's own laws: first their relative entropy, then the overlap sum min(p, q) itself.

In: build/training/target.pt. Out: build/training/draft.pt.
"""

import numpy as np
import torch

import corpus
import pair
import teacher
import tokens
from schedule import Optimisers, run

BATCH, PASSES, PEAK_RATE, WEIGHT_DECAY, SEED = 8, 8, 6e-3, 0.02, 2
OVERLAP_FROM = 0.4
"""The part of the run after which the loss is 1 - sum min(p, q), which is what speculation pays for."""


def main() -> None:
    """Write `build/training/draft.pt`, continuing from it where it exists."""
    training, _ = corpus.split(corpus.chapters(pair.WORK))
    ids = tokens.stream(tokens.load_or_train(pair.WORK / "tokenizer.json", training), training)
    target = pair.target()
    target.load_state_dict(torch.load(pair.WORK / "target.pt", weights_only=True)["model"])
    target.eval()
    samples = teacher.sample_windows(target, pair.WORK / "samples.npy")
    windows = np.concatenate([teacher.book_windows(ids), samples])
    logits = teacher.target_logits(target, windows, pair.WORK / "logits.f16")
    draft = pair.draft()
    steps = PASSES * len(windows) // BATCH
    order = np.concatenate([np.random.default_rng((SEED, i)).permutation(len(windows)) for i in range(PASSES)])

    def loss_at(step: int) -> torch.Tensor:
        rows = np.sort(order[step * BATCH : (step + 1) * BATCH])
        p = torch.from_numpy(logits[rows]).float().log_softmax(-1)
        q = pair.logits(draft, torch.from_numpy(windows[rows, :-1])).log_softmax(-1)
        if step < OVERLAP_FROM * steps:
            return (p.exp() * (p - q)).sum(-1).mean()
        return 1 - torch.minimum(p.exp(), q.exp()).sum(-1).mean()

    run("draft", Optimisers(draft, PEAK_RATE, WEIGHT_DECAY), loss_at, steps, pair.WORK / "draft.pt")


if __name__ == "__main__":
    main()
