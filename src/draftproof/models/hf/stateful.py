"""A module of transformers that cannot be read as texts: recurrent layers, or attention of a kind of its own.

In: a module and a cache that transformers makes for it. Out: a `StatefulModel`; `snapshots.py` makes a `Model` of it.
It must never read several tokens after others at once where the module would forget its state: that was probed.
"""

import copy
import inspect
from collections.abc import Callable
from typing import Any, Self

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.cache_utils import DynamicCache, DynamicLayer

from draftproof.errors import UsageError
from draftproof.models.base import Size
from draftproof.models.hf.facts import Facts
from draftproof.models.hf.forward import embedding_of
from draftproof.models.hf.probe import PROBE, REFUSALS, agree, whole_rows
from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind

__all__ = ["HfStateful", "stateful_of"]

MOST_ROWS = 512
"""Rows of a pass."""


def stateful_of(module: PreTrainedModel, facts: Facts) -> "HfStateful":
    """Return a model of any module whose cache gives the rows that it gives without one.

    Raises:
        UsageError: if there is no way of reading that does.
    """
    parameters = inspect.signature(module.forward).parameters
    name = next((name for name in ("cache", "past_key_values") if name in parameters), None)
    if name is None:
        raise UsageError(f"{type(module).__name__} has no cache that transformers knows")

    def call(ids: Tokens, cache: DynamicCache) -> Tensor:
        with torch.inference_mode():
            given: Any = {name: cache, "input_ids": torch.tensor([list(ids)], device=embedding_of(module).weight.device)}
            return module(**given, use_cache=True).logits[0]

    for stride in (MOST_ROWS, 1):
        model = HfStateful(call, module, facts, stride)
        try:
            found = [model.extend(PROBE[:1], 1), model.extend(PROBE[1:3], 2), model.extend(PROBE[3:])]
        except REFUSALS:
            continue
        rows = torch.cat([torch.as_tensor(piece) for piece in found])
        if agree(rows, whole_rows(module, PROBE)):
            return model.fresh()
    raise UsageError(f"{type(module).__name__}: its cache does not give the rows that it gives without one")


class HfStateful:
    """See `StatefulModel`. Make one with `stateful_of`.

    Args:
        call: (ids, cache) -> logits (n, V) of all ids, which are read into the cache.
        module: whose cache it is.
        facts: of the module.
        stride: how many tokens may be read at once after others.
    """

    row_kind: RowKind = "logits"

    def __init__(
        self, call: Callable[[Tokens, DynamicCache], Tensor], module: PreTrainedModel, facts: Facts, stride: int
    ) -> None:
        self._call, self._module, self._facts, self._stride = call, module, facts, stride
        self.vocab_size, self.context_limit, self.size = facts.vocab_size, facts.context_limit, facts.size
        self.length, self._cache = 0, DynamicCache(config=module.config)

    def extend(self, tokens: Tokens, rows: int | None = None) -> Array:
        """See `StatefulModel.extend`."""
        first, found = len(tokens) - (rows or len(tokens)), list[Tensor]()
        start = 0
        while start < len(tokens):
            end = start + (self._stride if self.length else MOST_ROWS)
            logits = self._call(tokens[start:end], self._cache)
            self.length += len(logits)
            start += len(logits)
            if start > first:
                found.append(logits[max(0, len(logits) - (start - first)) :])
        return self._facts.rows(found)

    def try_rewind(self, length: int) -> bool:
        """See `StatefulModel.try_rewind`: attention that keeps everything goes back."""
        if not all(type(layer) is DynamicLayer for layer in self._cache.layers):
            return False
        self._cache.crop(length - self.length)
        self.length = length
        return True

    def snapshot(self) -> Any:
        """See `StatefulModel.snapshot`."""
        return self.length, _copy(self._cache)

    def restore(self, snapshot: Any) -> None:
        """See `StatefulModel.restore`."""
        self.length, cache = snapshot
        self._cache = _copy(cache)

    def fresh(self) -> Self:
        """See `StatefulModel.fresh`."""
        return type(self)(self._call, self._module, self._facts, self._stride)

    def steady(self) -> Self:
        """See `StatefulModel.steady`: one token at a time."""
        raise NotImplementedError

def _copy(cache: DynamicCache) -> DynamicCache:
    """Return a cache that goes its own way."""
    fork = copy.copy(cache)
    with torch.inference_mode():
        fork.layers = [_layer(layer) for layer in cache.layers]
    return fork


def _layer(layer: Any) -> Any:
    fork = copy.copy(layer)
    for name, held in vars(layer).items():
        if isinstance(layer, DynamicLayer) and name in {"keys", "values"}:
            continue  # transformers makes new ones in every pass and leaves the old as they are
        setattr(fork, name, _own(held))
    return fork


def _own(held: Any) -> Any:
    if isinstance(held, dict):
        return {key: _own(one) for key, one in held.items()}
    return held.clone() if isinstance(held, Tensor) else held
