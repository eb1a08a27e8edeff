"""The rows of a transformers call, each a text of its own. In: ids and masks. Out: `Prompt`s.

Padding is no part of a text: the models never see it. Only what transformers would show it to does (processors,
criteria).
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from draftproof.errors import UsageError

__all__ = ["Prompt", "prompts_of"]


@dataclass(frozen=True)
class Prompt:
    """A text to be gone on with, once or several times."""

    row: int
    """The first of its rows in the call."""
    padding: tuple[int, ...]
    """What stands before the text in that row."""
    ids: tuple[int, ...]


def prompts_of(input_ids: Tensor, mask: Tensor | None, positions: Any, copies: int) -> list[Prompt]:
    """Return the texts of rows (B, T), of which every `copies` following ones are the same.

    Args:
        input_ids: (B, T).
        mask: (B, T), 0 where there is padding, on the left only; None if there is none.
        positions: what each token's position is said to be; must be what its text says.
        copies: the number of samples of each text.

    Raises:
        UsageError: if a mask or the positions are others.
    """
    if input_ids.ndim != 2:
        raise UsageError(f"got {input_ids.ndim} dimensions; allowed are rows of token ids", "input_ids")
    real = torch.ones_like(input_ids) if mask is None else mask.to(input_ids.device, torch.long)
    if real.shape != input_ids.shape or not torch.equal(real, (real.cummax(-1).values == 1).long()):
        raise UsageError(
            "allowed are ones, after zeros for padding on the left; set padding_side='left'", "attention_mask"
        )
    if not bool((real[:, -1] == 1).all()):
        raise UsageError("got a row without a token; every row must end with its text", "attention_mask")
    counted = (real.cumsum(-1) - 1).clamp(min=0)
    if positions is not None and not _same(torch.as_tensor(positions), counted):
        raise UsageError("got others than a text counts; leave them out", "position_ids")
    padded = (input_ids.shape[1] - real.sum(-1)).tolist()
    rows: list[list[int]] = input_ids.tolist()
    return [
        Prompt(row, tuple(rows[row][: padded[row]]), tuple(rows[row][padded[row] :]))
        for row in range(0, len(rows), copies)
    ]


def _same(positions: Tensor, counted: Tensor) -> bool:
    """Return whether positions, of every row or of one for all, are those that were counted."""
    return positions.shape in {counted.shape, counted[:1].shape} and bool((positions.to(counted) == counted).all())
