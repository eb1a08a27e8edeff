"""What a module of transformers is: its limits and sizes. In: a module. Out: numbers, and rows in the form promised."""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers import PreTrainedModel

from draftproof.errors import UsageError
from draftproof.models.base import Size
from draftproof.types import Array

__all__ = ["Facts", "facts_of"]

NO_LIMIT = 1 << 20
"""For models whose configuration names no limit: recurrent ones, and those without positions."""
LIMITS = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "seq_length")
STRETCHED = ("dynamic", "longrope")
"""Rotary positions that turn the whole text differently once it is longer than the model was trained for."""


class Facts(NamedTuple):
    """What every model of one module shares."""

    vocab_size: int
    context_limit: int
    size: Size
    host: bool

    def with_cache(self, bytes_per_token: int) -> "Facts":
        """Return the same, with what a token takes in the cache."""
        return self._replace(size=self.size._replace(per_token=bytes_per_token))

    def rows(self, pieces: list[Tensor]) -> Array:
        """Return the logits of several passes as one array: of NumPy if they are on the host and wanted there."""
        with torch.inference_mode():
            whole = (pieces[0] if len(pieces) == 1 else torch.cat(pieces)).float()
        return whole.numpy() if self.host and whole.device.type == "cpu" else whole


def facts_of(module: PreTrainedModel, context_limit: int | None, host: bool) -> Facts:
    """Return the facts of a module.

    Raises:
        UsageError: if it is no causal language model, or `context_limit` is more than it can hold.
    """
    head, config = module.get_output_embeddings(), module.config.get_text_config(decoder=True)
    if head is None or module.config.is_encoder_decoder:
        raise UsageError(f"{type(module).__name__} is no causal language model")
    limit = _limit(config)
    if context_limit is not None and not 1 <= context_limit <= limit:
        raise UsageError(f"got {context_limit}; allowed are 1 to {limit}, what the model can hold", "context_limit")
    weights = sum(weight.nbytes for weight in module.parameters())
    return Facts(head.weight.shape[0], context_limit or limit, Size(weights), host)


def _limit(config: Any) -> int:
    """Return how many tokens a text may have whose rows depend on nothing else."""
    limit = next((found for name in LIMITS if isinstance(found := getattr(config, name, None), int)), NO_LIMIT)
    rope = getattr(config, "rope_parameters", None) or {}
    if rope.get("rope_type") in STRETCHED:
        for place in (
            rope.get("original_max_position_embeddings"),
            getattr(config, "original_max_position_embeddings", None),
        ):
            limit = min(limit, place or limit)
    return limit
