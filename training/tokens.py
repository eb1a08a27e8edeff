"""Text to token ids: trains the byte-level BPE of the pair and turns chapters into one stream of ids.

In: chapters. Out: tokenizer.json of a Hugging Face folder; int64 streams `<s> chapter </s> <s> chapter </s> ...`.
"""

from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

__all__ = ["BOS", "EOS", "VOCAB_SIZE", "load_or_train", "stream"]

VOCAB_SIZE = 1024
BOS, EOS = 0, 1


def load_or_train(path: Path, training_chapters: list[str]) -> Tokenizer:
    """Return the tokenizer saved at `path`, trained on the chapters first if there is none."""
    if path.exists():
        return Tokenizer.from_file(str(path))
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(training_chapters, trainer)
    path.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(path))
    return tokenizer


def stream(tokenizer: Tokenizer, some_chapters: list[str]) -> np.ndarray:
    """Return one int64 vector of token ids, every chapter between BOS and EOS."""
    encoded = tokenizer.encode_batch(some_chapters)
    return np.concatenate([[BOS, *chapter.ids, EOS] for chapter in encoded]).astype(np.int64)
