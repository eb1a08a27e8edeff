"""Asks a module whether it can be read in a way, by reading a few tokens that way and at once. Out: yes or no.

It must never take a family's word for it: rows are compared.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel

from draftproof.models.hf.attention import NotUnderstoodError, Part
from draftproof.models.hf.cache import TextCache
from draftproof.models.hf.forward import Forward, device_of

__all__ = ["PROBE", "agree", "bytes_per_token", "reads_ahead", "whole_rows"]

PROBE = (1, 5, 2, 3, 7, 4, 6)
"""Tokens that every vocabulary has."""
REFUSALS = (NotUnderstoodError, TypeError, ValueError, RuntimeError, LookupError, AttributeError)
"""What modules raise that cannot be read in a way that they were not made for."""


def bytes_per_token(forward: Forward) -> int | None:
    """Return what a token takes in the cache if several texts can be read in one pass, each to itself; else None."""
    if forward.windows is None:
        return None
    texts, cut, caches = (PROBE[:5], PROBE[3:]), 2, (TextCache(), TextCache())
    both = list(zip(caches, texts, strict=True))
    try:
        forward([Part(cache, text[:cut], range(cut), None, 1) for cache, text in both])
        found = forward([Part(cache, text[cut:], range(cut, len(text)), None, len(text) - cut) for cache, text in both])
    except REFUSALS:
        return None
    agreed = all(
        agree(forward.module, rows, whole_rows(forward.module, text)[cut:])
        for rows, text in zip(found, texts, strict=True)
    )
    return caches[0].bytes_per_token if agreed and caches[0].layers == len(forward.windows) else None


def reads_ahead(module: PreTrainedModel) -> bool:
    """Return whether rows change with tokens that come after them: then it is no model of the next token.

    Both texts have one length, so that rows are rounded alike; experts alone may share their passes out otherwise.
    """
    try:
        one, other = (whole_rows(module, (*PROBE[:5], last))[:5].double() for last in PROBE[5:])
    except REFUSALS:
        return False  # what else it cannot do is found out by those who ask for it
    most = (1e-5 if _is_exact(module) else 0.05) * (one.max() - one.min())
    return bool((one - other).abs().max() > most)


def whole_rows(module: PreTrainedModel, ids: Sequence[int]) -> Tensor:
    """Return the logits (n, V) of a text that is read at once and without a cache."""
    with torch.inference_mode():
        device = device_of(module)
        return module(input_ids=torch.tensor([list(ids)], device=device), use_cache=False).logits[0]


def agree(module: PreTrainedModel, found: Tensor, expected: Tensor) -> bool:
    """Return whether rows are the same but for the rounding of a module; read in a wrong way they are further off.

    A real module of 135 million numbers of 32 bits was seen to round by 1.2e-4 of the range of its logits.
    """
    found, expected = found.double(), expected.double()
    most = (5e-3 if _is_exact(module) else 0.05) * (expected.max() - expected.min())
    return bool((found - expected).abs().max() <= most)


def _is_exact(module: PreTrainedModel) -> bool:
    return module.dtype in {torch.float32, torch.float64} and not hasattr(module.config, "quantization_config")
