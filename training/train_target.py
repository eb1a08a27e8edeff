"""Train the target on the training chapters: next-token cross-entropy, five passes over the text."""

import torch
from torch.nn.functional import cross_entropy

import corpus
import pair
import tokens
from schedule import Optimisers, crops, run

BATCH, PASSES, PEAK_RATE, WEIGHT_DECAY, DROPOUT, SEED = 4, 5, 3e-3, 0.3, 0.1, 1


def main() -> None:
    """Write `build/training/target.pt`, continuing from it where it exists."""
    pair.WORK.mkdir(parents=True, exist_ok=True)
    training, _ = corpus.split(corpus.chapters(pair.WORK))
    ids = torch.from_numpy(tokens.stream(tokens.load_or_train(pair.WORK / "tokenizer.json", training), training))
    model = pair.target()
    pair.add_dropout(model, DROPOUT)

    def loss_at(step: int) -> torch.Tensor:
        window = crops(ids, pair.CONTEXT, BATCH, step, SEED)
        return cross_entropy(pair.logits(model, window[:, :-1]).flatten(0, 1), window[:, 1:].flatten())

    steps = PASSES * len(ids) // (BATCH * pair.CONTEXT)
    run("target", Optimisers(model, PEAK_RATE, WEIGHT_DECAY), loss_at, steps, pair.WORK / "target.pt")


if __name__ == "__main__":
    main()
