"""Logits processors of Hugging Face as a step: any callable(input_ids, scores) -> scores of torch tensors.

In: rows and texts. Out: rows. It is called for one row at a time, with the whole text before that row, which is all
that such a callable may depend on. Rows of torch stay on their device. torch is needed only when there is a processor.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from draftproof.arrays import is_numpy_array
from draftproof.errors import ContractError, MissingExtraError, UsageError
from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind

__all__ = ["Processor"]


@dataclass(frozen=True)
class Processor:
    """Run `process` on each row: input_ids is a LongTensor (1, t), scores and the result are DoubleTensors (1, V).

    Speculative decoding asks for rows after drafts that are rejected later, and asks for some rows twice. A processor
    with counters of its own, fed by its calls, would go wrong: it must be a pure function of `input_ids` and `scores`.
    So the 1st, 2nd, 4th, 8th .. row is asked for twice, with another text in between, and two answers are refused.

    The scores of a law are its logarithms; Fractions become float64.

    Args:
        process: for example a `LogitsProcessor`, or a list of them.
        check: whether rows are asked for twice.
    """

    process: Callable[[Any, Any], Any]
    check: bool = True
    _asked: list[int] = field(default_factory=lambda: [0], compare=False, repr=False)
    """How many rows were asked for: it decides what is checked, and never what is answered."""
    reads_text = True

    def __post_init__(self) -> None:
        if not callable(self.process):
            raise UsageError(f"got {self.process!r}; allowed are warpers and callables of Hugging Face", "processors")

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """See `Warper.warp`.

        Raises:
            ContractError: if an answer has another shape than the scores, or is another one when asked again.
        """
        torch, at_home = _torch(), is_numpy_array(rows)
        changed = torch.from_numpy(rows.astype(np.float64)) if at_home else rows.to(torch.float64, copy=True)
        if kind == "laws":
            changed = torch.where(changed > 0, changed.log(), -math.inf)
        for row, text in enumerate(texts or ()):
            changed[row] = self._checked(text, changed[row])
        if kind == "laws":
            best = changed.amax(-1, keepdim=True).clamp(min=torch.finfo(torch.float64).min)
            changed = (changed - best).exp()
        return changed.numpy() if at_home else changed, kind

    def _checked(self, text: Tokens, scores: Any) -> Any:
        answer = self._answer(text, scores)
        self._asked[0] = number = self._asked[0] + 1
        if self.check and number & (number - 1) == 0:
            self._answer(text[: max(1, len(text) // 2)], scores)
            if not _same(answer, self._answer(text, scores)):
                raise ContractError(
                    f"the logits processor {type(self.process).__name__} is not a pure function of the prefix: asked "
                    "twice for one row it gave two answers; with speculation it would go wrong"
                )
        return answer

    def _answer(self, text: Tokens, scores: Any) -> Any:
        torch = _torch()
        tokens = torch.tensor([list(text)], dtype=torch.long, device=scores.device)
        answer = torch.as_tensor(self.process(tokens, scores[None].clone()))
        if tuple(answer.shape) != (1, len(scores)):
            name = type(self.process).__name__
            raise ContractError(f"the logits processor {name} made {tuple(answer.shape)} of (1, {len(scores)}) scores")
        return answer[0].to(torch.float64)


def _same(one: Any, other: Any) -> bool:
    return bool(((one == other) | (one.isnan() & other.isnan())).all())


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise MissingExtraError("needs torch; install it with: pip install torch", "processors") from None
    return torch
