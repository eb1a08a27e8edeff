"""One forward of a transformers module over new tokens of any number of texts. In: parts of texts. Out: their logits.

The linear layers see one sequence, the rows of all texts one after another; attention keeps the texts apart. A single
row may be read in the company of an idle one where that is faster. It must never move logits between devices.
"""

import inspect
from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from statistics import median
from time import perf_counter
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import Embedding
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

from draftproof.models.hf.attention import Part, Pass, attention_of_texts, configs_of
from draftproof.models.hf.cache import TextCache

__all__ = ["Forward", "device_of"]

ROUNDS = 3
"""How often one row and two rows are timed, in turns."""
CLEARLY = 0.9
"""Two rows must take less than this share of the time of one."""


class Forward:
    """A module, ready to be called: what models that may be read together share.

    Args:
        module: a causal language model.
        pad_rows: whether a single row is read in the company of an idle one; None measures at the first single row.
    """

    def __init__(self, module: PreTrainedModel, pad_rows: bool | None = None) -> None:
        self.module, self.pad_rows = module, pad_rows
        parameters = inspect.signature(module.forward).parameters
        self.windows = _windows(module) if {"cache", "position_ids"} <= parameters.keys() else None
        """Of each layer, how far back it sees; None if some do not attend to what was read, or to given positions."""
        self.exits = dict[int, Forward]()
        """Those of its first layers, by how many."""
        self._configs = configs_of(module)
        self._device = device_of(module)
        self._cuts = "logits_to_keep" in parameters

    def __call__(self, parts: Sequence[Part]) -> list[Tensor]:
        """Read the parts, each of another text, and return the wanted logits (n, V) of each, where they are."""
        texts = Pass(parts, self.windows or ())
        ids = list(chain.from_iterable(part.ids for part in parts))
        places = list(chain.from_iterable(part.positions for part in parts))
        ends = [*accumulate(len(part.ids) for part in parts)]
        wanted = [row for part, end in zip(parts, ends, strict=True) for row in range(end - part.wanted, end)]
        if len(ids) == 1 and self._pads():
            ids, places, wanted = ids * 2, places * 2, [0, 1]
        logits = self._logits(texts, ids, places, wanted or [0])
        for part in parts:
            part.cache.length += len(part.ids)
        bounds = [0, *accumulate(part.wanted for part in parts)]
        return [logits[first:last] for first, last in pairwise(bounds)]

    def _logits(self, texts: Pass, ids: list[int], places: list[int], wanted: list[int]) -> Tensor:
        more: dict[str, Any] = {}
        if self._cuts:
            more["logits_to_keep"] = 0 if len(wanted) == len(ids) else torch.tensor(wanted, device=self._device)
        with torch.inference_mode(), attention_of_texts(self._configs):
            found = self.module(
                input_ids=torch.tensor([ids], device=self._device),
                position_ids=torch.tensor([places], device=self._device),
                cache=_NewKeys(layers=[]),
                use_cache=True,
                texts=texts,
                **more,
            ).logits[0]
        return found if self._cuts else found[wanted]

    def _pads(self) -> bool:
        """Return whether a row is never read alone.

        Of 16-bit numbers a CPU may multiply matrices faster than vectors. 32-bit ones have no such gap, and their bits
        should not depend on a clock.
        """
        if self.pad_rows is None:
            slow = self._device.type == "cpu" and self.module.dtype in {torch.bfloat16, torch.float16}
            self.pad_rows = slow and self._two_are_faster()
        return self.pad_rows

    def _two_are_faster(self) -> bool:
        seconds: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(ROUNDS):
            for rows, found in seconds.items():
                text = Pass([Part(TextCache(), (0,), (0,), None, 1)], self.windows or ())
                start = perf_counter()
                self._logits(text, [0] * rows, [0] * rows, list(range(rows)))
                found.append(perf_counter() - start)
        return median(seconds[2]) < CLEARLY * median(seconds[1])


def device_of(module: PreTrainedModel) -> torch.device:
    """Return the device that turns tokens into states: tokens go there."""
    embedding = cast("Embedding", module.get_input_embeddings())
    device = embedding.weight.device
    if device.type == "meta":  # weights are brought from elsewhere when they are needed
        device = torch.device(cast("Any", embedding)._hf_hook.execution_device)  # noqa: SLF001 (of accelerate)
    return device


def _windows(module: PreTrainedModel) -> list[int | None] | None:
    layers = DynamicCache(config=module.config).layers
    known = all(type(layer) in {DynamicLayer, DynamicSlidingWindowLayer} for layer in layers)
    return [getattr(layer, "sliding_window", None) for layer in layers] if known else None


class _NewKeys(Cache):
    """Lets new keys and values through: the attention of texts writes them into the caches of its own."""

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        return key_states, value_states
