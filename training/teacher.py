"""What the draft learns from: texts of the book and of the target itself, and the target's logits for each token.

In: the trained target. Out: windows (n, context + 1) of token ids and float16 logits (n, context, V), cached on disk.
Text of the target's own is what the draft meets when it is used, so most of the windows are samples.
"""

from pathlib import Path

import numpy as np
import torch
from transformers import DynamicCache, LlamaForCausalLM

import pair
from tokens import BOS

__all__ = ["book_windows", "sample_windows", "target_logits"]

SAMPLES, SAMPLE_BATCH, SAMPLE_SEED = 1024, 128, 3
SCORE_BATCH = 8


def book_windows(ids: np.ndarray) -> np.ndarray:
    """Return the book cut into (n, context + 1) windows, each starting at the last token of the one before."""
    count = (len(ids) - 1) // pair.CONTEXT
    return ids[np.arange(count)[:, None] * pair.CONTEXT + np.arange(pair.CONTEXT + 1)]


def sample_windows(model: LlamaForCausalLM, path: Path) -> np.ndarray:
    """Return (SAMPLES, context + 1) ids drawn from the target at temperature 1, each row from BOS on."""
    if path.exists():
        return np.load(path)
    torch.manual_seed(SAMPLE_SEED)
    batches = []
    for done in range(0, SAMPLES, SAMPLE_BATCH):
        print(f"samples: {done}/{SAMPLES} texts of the target", flush=True)
        batches.append(_sample(model, SAMPLE_BATCH))
    samples = np.concatenate(batches)
    np.save(path, samples)
    return samples


def target_logits(model: LlamaForCausalLM, windows: np.ndarray, path: Path) -> np.ndarray:
    """Return the target's logits for windows, float16 (n, context, V), as a memory map of `path`."""
    shape = (len(windows), pair.CONTEXT, model.config.vocab_size)
    if not path.exists():
        partial = path.with_suffix(".partial")
        logits = np.memmap(partial, np.float16, "w+", shape=shape)
        for first in range(0, len(windows), SCORE_BATCH):
            batch = torch.from_numpy(windows[first : first + SCORE_BATCH, :-1])
            with torch.inference_mode():
                logits[first : first + SCORE_BATCH] = pair.logits(model, batch).half().numpy()
            if first % (32 * SCORE_BATCH) == 0:
                print(f"logits: {first}/{len(windows)} windows", flush=True)
        logits.flush()
        partial.replace(path)
    return np.memmap(path, np.float16, "r", shape=shape)


@torch.inference_mode()
def _sample(model: LlamaForCausalLM, batch: int) -> np.ndarray:
    ids = torch.full((batch, 1), BOS)
    columns, cache = [ids], DynamicCache(config=model.config)
    for _ in range(pair.CONTEXT):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(input_ids=ids, cache=cache, use_cache=True, logits_to_keep=1).logits
        ids = torch.multinomial(logits[:, -1].float().softmax(-1), 1)
        columns.append(ids)
    return torch.cat(columns, dim=1).numpy()
