"""The attention of rows of several texts, each to its own text, as an attention function of transformers.

In: one row after another, of any number of texts (a `Pass`). Out: what each sees. Nothing is padded and no cache is
copied: the rows of a query head lie beside those of the other heads that share its keys. It must never guess: what it
does not understand of a family of models it refuses, and that family is read without it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, PreTrainedModel

from draftproof.models.hf.cache import TextCache

__all__ = ["NotUnderstoodError", "Part", "Pass", "attention_of_texts", "configs_of"]

NAME = "draftproof"
HARMLESS = {
    "position_ids",
    "use_cache",
    "cache_position",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
}
"""What is handed to attention without changing it; anything else that is not known must be None."""


class NotUnderstoodError(Exception):
    """A family of models wants something of its attention that is not known here."""


class Part(NamedTuple):
    """Tokens of one text that are read in one pass."""

    cache: TextCache
    ids: Sequence[int]
    positions: Sequence[int]
    hidden: Tensor | None
    """(n, n) added to the scores of the new tokens among themselves; None for a chain."""
    wanted: int
    """So many of the last rows are asked for."""


class Pass:
    """What is read in one forward; idle rows may come after all parts."""

    def __init__(self, parts: Sequence[Part], windows: Sequence[int | None]) -> None:
        self.parts = parts
        self.windows = windows
        """Of each layer, how far back it sees; None is without end."""
        self._masks = dict[tuple[int, int | None, int], Tensor | None]()

    def mask(self, place: int, window: int | None, copies: int, like: Tensor) -> Tensor | None:
        """Return what is added to the scores of a part (copies * n, length + n); None if every row sees everything.

        Of a window the positions before it are left out.
        """
        key = place, window, copies
        if key not in self._masks:
            self._masks[key] = _mask(self.parts[place], window, copies)
        found = self._masks[key]
        if found is not None and (found.dtype, found.device) != (like.dtype, like.device):
            found = self._masks[key] = found.to(like)
        return found


def configs_of(module: PreTrainedModel) -> list[Any]:
    """Return the configurations in which the parts of a module look their attention up."""
    found = {id(config): config for part in module.modules() if (config := getattr(part, "config", None)) is not None}
    return [config for config in found.values() if hasattr(config, "_attn_implementation")]


@contextmanager
def attention_of_texts(configs: Sequence[Any]) -> Iterator[None]:
    """Let modules of these configurations attend by this function, and as before afterwards."""
    before = [config._attn_implementation for config in configs]  # noqa: SLF001 (transformers has no other way)
    try:
        for config in configs:
            config._attn_implementation = NAME  # noqa: SLF001
        yield
    finally:
        for config, name in zip(configs, before, strict=True):
            config._attn_implementation = name  # noqa: SLF001


class _Scores(NamedTuple):
    """How the scores of a layer become weights."""

    scale: float | None
    cap: float | None
    sinks: Tensor | None
    """(heads,) a score of each query head that takes weight away."""

    def __call__(self, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """Return (1, kv_heads, copies * n, size): what the rows of the query heads that share a key head see."""
        if self.cap is None and self.sinks is None:
            return scaled_dot_product_attention(query, keys, values, mask, scale=self.scale)
        scores = (query @ keys.transpose(2, 3)) * (self.scale or query.shape[3] ** -0.5)
        if self.cap is not None:
            scores = torch.tanh(scores / self.cap) * self.cap
        if mask is not None:
            scores = scores + mask
        if self.sinks is not None:
            rows = self.sinks.view(keys.shape[1], -1, 1).expand(
                -1, -1, query.shape[2] * keys.shape[1] // len(self.sinks)
            )
            scores = torch.cat([scores, rows.reshape(1, *query.shape[1:3], 1).to(scores)], dim=-1)
        weights = torch.softmax(scores, dim=-1, dtype=torch.float32).to(values)
        return weights[..., : keys.shape[2]] @ values


def _attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    _mask: Tensor | None = None,
    *,
    scaling: float | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    sliding_window: int | None = None,
    texts: Pass | None = None,
    dropout: float = 0.0,
    is_causal: bool | None = None,
    **others: Any,
) -> tuple[Tensor, None]:
    """Return (1, rows, heads, size) of queries (1, heads, rows, size), and write the keys into the caches."""
    unknown = [name for name, given in others.items() if given is not None and name not in HARMLESS]
    if texts is None or unknown or dropout or is_causal is False or query.shape[0] != 1:
        raise NotUnderstoodError(", ".join(unknown))
    if texts.windows[module.layer_idx] != sliding_window:
        raise NotUnderstoodError("windows")
    found = query.new_zeros(1, query.shape[2], query.shape[1], value.shape[3])
    start, copies, scores = 0, query.shape[1] // key.shape[1], _Scores(scaling, softcap, s_aux)
    for place, part in enumerate(texts.parts):
        end = start + len(part.ids)
        keys, values = part.cache.append(module.layer_idx, key[:, :, start:end], value[:, :, start:end])
        first = _first_seen(part.cache.length, sliding_window)
        asked = query[:, :, start:end].reshape(1, key.shape[1], copies * (end - start), query.shape[3])
        seen = scores(asked, keys[:, :, first:], values[:, :, first:], texts.mask(place, sliding_window, copies, query))
        found[0, start:end] = seen.view(query.shape[1], end - start, -1).transpose(0, 1)
        start = end
    return found, None


def _mask(part: Part, window: int | None, copies: int) -> Tensor | None:
    rows, base = len(part.ids), part.cache.length
    if rows == 1:
        return None
    first = _first_seen(base, window)
    mask = torch.zeros(rows, base - first + rows)
    mask[:, base - first :] = torch.full((rows, rows), -torch.inf).triu(1) if part.hidden is None else part.hidden
    if window is not None and max(part.positions) >= window:
        places = torch.tensor([*range(first, base), *part.positions])
        mask[places[base - first :, None] - places >= window] = -torch.inf
    return mask.repeat(copies, 1)


def _first_seen(length: int, window: int | None) -> int:
    """Return what a token that comes after `length` others, and all after it, cannot see before."""
    return 0 if window is None else max(0, length + 1 - window)


AttentionInterface.register(NAME, _attend)
