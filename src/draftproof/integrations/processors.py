"""The logits processors of a transformers call as a draftproof warper: the same objects, asked as they expect it.

In: a `LogitsProcessorList` as `generate` prepared it, a prompt. Out: a `Warper`. Processors get float32 scores and the
ids before them, padding included, in their order; nothing is added. Whoever reads the ids gets one row at a time; the
rest, which come last, get all rows of a pass at once. Equal to what transformers samples from:
tests/integrations/test_laws.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from transformers import LogitsProcessorList
from transformers.generation import logits_process as known

from draftproof.arrays import is_numpy_array
from draftproof.errors import ContractError
from draftproof.integrations.prompts import Prompt
from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind

__all__ = ["Processed"]

_READS_NO_TEXT = (
    known.EpsilonLogitsWarper, known.EtaLogitsWarper, known.InfNanRemoveLogitsProcessor, known.LogitNormalization,
    known.MinPLogitsWarper, known.SuppressTokensLogitsProcessor, known.TemperatureLogitsWarper,
    known.TopHLogitsWarper, known.TopKLogitsWarper, known.TopPLogitsWarper, known.TypicalLogitsWarper,
)  # fmt: skip
_ROW_BY_ROW = (
    known.ExponentialDecayLengthPenalty, known.ForcedBOSTokenLogitsProcessor, known.ForcedEOSTokenLogitsProcessor,
    known.MinLengthLogitsProcessor, known.MinNewTokensLengthLogitsProcessor, known.NoBadWordsLogitsProcessor,
    known.NoRepeatNGramLogitsProcessor, known.SequenceBiasLogitsProcessor,
    known.SuppressTokensAtBeginLogitsProcessor, known.WatermarkLogitsProcessor, *_READS_NO_TEXT,
)  # fmt: skip
"""Do with a row what they would do with it alone, whichever row of the batch it is, and remember nothing."""


@dataclass(frozen=True)
class Processed:
    """See `Warper`.

    Speculation asks for rows after drafts that are rejected later. A processor that counts its calls would go wrong, so
    the 1st, 2nd, 4th, 8th .. row is asked for twice, with another text in between, and two answers are refused.

    Args:
        processors: of the call.
        prompt: whose rows they are.
        rows: how many rows the call has.
    """

    processors: LogitsProcessorList
    prompt: Prompt
    rows: int
    _asked: list[int] = field(default_factory=lambda: [0], compare=False, repr=False)

    @property
    def reads_text(self) -> bool:
        """See `Warper.reads_text`."""
        return bool(self._reading)

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """See `Warper.warp`; the scores of a law are its logarithms.

        Raises:
            ContractError: if a processor gives another answer when it is asked again.
        """
        scores = torch.as_tensor(rows)
        scores = (scores.log() if kind == "laws" else scores).to(torch.float32, copy=True)
        for row, text in enumerate(texts or ()):
            scores[row] = self._checked(text, scores[row : row + 1])
        if self._rest:
            scores = _asked(self._rest, torch.empty((len(scores), 0), dtype=torch.long), scores)
        return (scores.numpy() if is_numpy_array(rows) else scores), "logits"

    @cached_property
    def _reading(self) -> LogitsProcessorList:
        """Those up to the last that reads ids, or might."""
        last = max((i for i, each in enumerate(self.processors) if type(each) not in _READS_NO_TEXT), default=-1)
        return LogitsProcessorList(self.processors[: last + 1])

    @cached_property
    def _rest(self) -> LogitsProcessorList:
        return LogitsProcessorList(self.processors[len(self._reading) :])

    @cached_property
    def _shown(self) -> int:
        """How many rows processors are shown: all of them the one that is asked for, if one might care which it is."""
        return 1 if all(_row_by_row(each) for each in self._reading) else self.rows

    def _checked(self, text: Tokens, scores: Tensor) -> Tensor:
        answer = self._answer(text, scores)
        self._asked[0] = number = self._asked[0] + 1
        if number & (number - 1) == 0:
            self._answer(text[: max(1, len(text) // 2)], scores)
            if not torch.equal(answer.nan_to_num(), self._answer(text, scores).nan_to_num()):
                names = ", ".join(type(each).__name__ for each in self._reading)
                raise ContractError(
                    f"of the logits processors {names} one is not a pure function of the prefix: asked twice for one "
                    "row they gave two answers; with speculation it would go wrong"
                )
        return answer

    def _answer(self, text: Tokens, scores: Tensor) -> Tensor:
        ids = torch.tensor([[*self.prompt.padding, *text]], dtype=torch.long, device=scores.device)
        shown = ids.expand(self._shown, -1), scores.repeat(self._shown, 1)
        return _asked(self._reading, *shown)[self.prompt.row if self._shown > 1 else 0]


def _row_by_row(processor: Any) -> bool:
    if type(processor) is known.RepetitionPenaltyLogitsProcessor:
        return not isinstance(processor.prompt_ignore_length, Tensor)
    return type(processor) in _ROW_BY_ROW


def _asked(processors: LogitsProcessorList, ids: Tensor, scores: Tensor) -> Tensor:
    found = processors(ids, scores)  # pyright: ignore[reportArgumentType] (it says LongTensor, and takes any)
    if found.shape != scores.shape:
        raise ContractError(f"logits processors made {tuple(found.shape)} of {tuple(scores.shape)} scores")
    return found
