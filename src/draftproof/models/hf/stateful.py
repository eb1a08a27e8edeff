"""A module of transformers that cannot be read as texts: recurrent layers, or attention of a kind of its own.

In: a module and a cache that transformers makes for it. Out: a `StatefulModel`; `snapshots.py` makes a `Model` of it.
It must never read several tokens after others at once where the module would forget its state: that was probed.
"""

import copy
import inspect
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.cache_utils import DynamicCache, DynamicLayer

from draftproof.errors import UsageError
from draftproof.models.hf.facts import Facts
from draftproof.models.hf.forward import device_of
from draftproof.models.hf.probe import PROBE, REFUSALS, agree, whole_rows
from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind

__all__ = ["HfStateful", "stateful_of"]

MOST_ROWS = 512
"""Tokens that are read at once after others."""
MOST_AT_FIRST = 2048
"""More in the beginning: what cannot be read at once after that is read one by one."""


def stateful_of(module: PreTrainedModel, facts: Facts) -> "HfStateful":
    """Return a model of any module whose cache gives the rows that it gives without one.

    Raises:
        UsageError: if there is no way of reading that does.
    """
    parameters = inspect.signature(module.forward).parameters
    name = next((name for name in ("cache", "past_key_values") if name in parameters), None)
    if name is None:
        raise UsageError(f"{type(module).__name__} has no cache that transformers knows")

    for stride in (MOST_ROWS, 1):
        model = HfStateful(_Call(module, name, "logits_to_keep" in parameters), facts, stride)
        try:
            found = [model.extend(PROBE[:1], 1), model.extend(PROBE[1:3], 2), model.extend(PROBE[3:])]
        except REFUSALS:
            continue
        rows = torch.cat([torch.as_tensor(piece) for piece in found])
        if agree(module, rows, whole_rows(module, PROBE)) and (stride == 1 or model.heeds_its_state()):
            return model.fresh()
    raise UsageError(f"{type(module).__name__}: its cache does not give the rows that it gives without one")


class _Call(NamedTuple):
    """A module, how it calls its cache, and whether it can leave out the logits of the first tokens."""

    module: PreTrainedModel
    cache: str
    cuts: bool

    def __call__(self, ids: Tokens, cache: DynamicCache, wanted: int) -> Tensor:
        """Read the ids and return the logits (wanted, V) of the last of them."""
        given: dict[str, Any] = {self.cache: cache, "logits_to_keep": max(1, wanted)}
        if not self.cuts:
            del given["logits_to_keep"]
        with torch.inference_mode():
            given["input_ids"] = torch.tensor([list(ids)], device=device_of(self.module))
            logits = self.module(**given, use_cache=True).logits[0]
        return logits[len(logits) - wanted :]


class HfStateful:
    """See `StatefulModel`. Make one with `stateful_of`.

    Args:
        call: reads.
        facts: of the module.
        stride: how many tokens are read at once after others.
        first: how many are read at once in the beginning.
    """

    row_kind: RowKind = "logits"

    def __init__(self, call: _Call, facts: Facts, stride: int, first: int = MOST_AT_FIRST) -> None:
        self._call, self._facts, self._stride, self._first = call, facts, stride, first
        self.vocab_size, self.context_limit, self.size = facts.vocab_size, facts.context_limit, facts.size
        self.length, self._cache = 0, DynamicCache(config=call.module.config)

    def extend(self, tokens: Tokens, rows: int | None = None) -> Array:
        """See `StatefulModel.extend`."""
        unasked, found, start = len(tokens) - (rows or len(tokens)), list[Tensor](), 0
        while start < len(tokens):
            end = min(len(tokens), start + (self._stride if self.length else self._first))
            found.append(self._call(tokens[start:end], self._cache, min(end - start, max(0, end - unasked))))
            self.length += end - start
            start = end
        return self._facts.rows(found)

    def heeds_its_state(self) -> bool:
        """Whether several tokens at once read on from the recurrent state; some modules begin with an empty one.

        So another state must give other rows. How far off they are says nothing: a state may matter little.
        """
        found: list[Tensor] = []
        for other in (0, 1):
            model = self.fresh()
            model.extend(PROBE[:3], 1)
            states = model._recurrent_states()  # noqa: SLF001 (of its own class)
            with torch.inference_mode():
                for state in states:
                    state.add_(other)
            found.append(torch.as_tensor(model.extend(PROBE[3:])))
        return not states or not torch.equal(*found)

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
        return type(self)(self._call, self._facts, self._stride, self._first)

    def steady(self) -> Self:
        """See `StatefulModel.steady`: one token at a time, whatever is asked."""
        return type(self)(self._call, self._facts, 1, 1)

    def _recurrent_states(self) -> list[Tensor]:
        kept = [getattr(layer, "recurrent_states", {}) for layer in self._cache.layers]
        return [state for states in kept for state in states.values() if state is not None]


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
