"""The order of the warpers, as data. In: rows of a model, logits or laws, and the texts before them. Out: laws.

Laws are float64 or Fractions, each row normalised. Rows share nothing: row i depends on its scores and its text alone.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from draftproof.arrays import is_numpy_array
from draftproof.errors import ContractError, UsageError
from draftproof.types import Array, Probs, Tokens
from draftproof.warpers.base import RowKind, Step, Warper, filtered, normalise, real
from draftproof.warpers.bias import LogitBias
from draftproof.warpers.masks import AllowedTokens, BadWords, MinTokens
from draftproof.warpers.min_p import MinP
from draftproof.warpers.nucleus import Nucleus, joined
from draftproof.warpers.penalties import FrequencyPenalty, PresencePenalty, RepetitionPenalty
from draftproof.warpers.processor import Processor
from draftproof.warpers.temperature import Temperature
from draftproof.warpers.top_k import TopK
from draftproof.warpers.top_p import TopP
from draftproof.warpers.typical_p import TypicalP

__all__ = ["ORDER", "Pipeline", "sampling"]

CACHED = 2**17
"""So many entries are warped at a time, whole rows: what is written is still in the cache when it is read again."""

ORDER = (
    "logit_bias", "repetition_penalty", "presence_penalty", "frequency_penalty", "bad_words", "min_tokens",
    "allowed_tokens", "grammar", "processors", "temperature", "top_k", "top_p", "min_p", "typical_p",
)  # fmt: skip
"""The order of transformers, and what it lacks where its like stands; checked in tests/warpers/test_order.py."""


@dataclass(frozen=True)
class Pipeline:
    """Rows to laws: each step in turn. Without steps: the law that the rows stand for.

    Logits become a law at the first step that needs one, at the end at the latest; from there on every step sees a
    normalised law.
    """

    steps: tuple[Step, ...] = ()

    @property
    def reads_text(self) -> bool:
        """Whether `laws` needs the text before each row."""
        return any(not callable(step) and step.reads_text for step in self.steps)

    @cached_property
    def _joined(self) -> tuple[Step | Nucleus, ...]:
        return tuple(joined(self.steps))

    def check(self, vocab_size: int) -> None:
        """Raise UsageError if a step names a token that is none of the vocabulary."""
        for step in self.steps:
            if isinstance(step, LogitBias | AllowedTokens | BadWords):
                step.check(vocab_size)

    def laws(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None = None) -> Probs:
        """Return laws (..., V) of rows (..., V).

        Args:
            rows: what a model returned.
            kind: what that is.
            texts: for each of n rows the whole text before it; needed if `reads_text`. See `Warper.warp`.

        Raises:
            ContractError: if a row has no law (NaN, infinite or negative entries, nothing left); the message has its
                number. Also if texts are missing.
            UsageError: if a step names a token that is none of the vocabulary.
        """
        if not self.reads_text:
            texts = None
        elif texts is None or len(texts) != len(rows):
            raise ContractError(f"these warpers need the text before each of the {len(rows)} rows")
        floats = kind == "logits" or rows.dtype == np.float64
        if floats and is_numpy_array(rows) and rows.ndim == 2 and len(rows) > 1 and rows.size > CACHED:
            return self._a_few_at_a_time(rows, kind, texts)
        return self._warped(rows, kind, texts)

    def _a_few_at_a_time(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> Probs:
        laws, step = np.zeros(rows.shape), max(1, CACHED // rows.shape[-1])
        try:
            for first in range(0, len(rows), step):
                few = slice(first, first + step)
                self._warped(rows[few], kind, None if texts is None else texts[few], laws[few])
        except ContractError:
            return self._warped(rows, kind, texts)  # raises it again, now with the number of the row among all
        return laws

    def _warped(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None, out: Array | None = None) -> Probs:
        if kind == "laws":
            rows = normalise(rows)
        for step in self._joined:  # whatever is a law here was made here, and may be written to
            if callable(step):
                law = rows if kind == "laws" else Temperature().laws(rows, kind, out)
                rows, kind = filtered(step, law), "laws"
            elif isinstance(step, Temperature | Nucleus):
                rows, kind = step.laws(rows, kind, out), "laws"
            else:
                rows, kind = step.warp(rows, kind, texts)
                rows = normalise(rows) if kind == "laws" else rows
        law = rows if kind == "laws" else Temperature().laws(rows, kind, out)
        if out is not None and law is not out:
            out[...] = law
        return law


def sampling(
    temperature: float | Fraction = 1.0, top_k: int = 0, top_p: float | Fraction = 1.0, *,
    min_p: float | Fraction = 0, typical_p: float | Fraction = 1, repetition_penalty: float | Fraction = 1,
    presence_penalty: float = 0, frequency_penalty: float = 0, logit_bias: Mapping[int, float] | None = None,
    bad_words: Iterable[Sequence[int]] = (), min_tokens: int = 0, stop_tokens: Iterable[int] = (),
    allowed_tokens: Iterable[int] | None = None, grammar: Warper | None = None, processors: Iterable[Any] = (),
    order: Sequence[str] = ORDER,
) -> Pipeline:  # fmt: skip
    """Return the pipeline of the usual settings; docs/reference/sampling.md has the table. Neutral values add no step.

    Beside what is there: `stop_tokens` are what `min_tokens` forbids; `processors` are warpers, or callables as
    `Processor` takes them; `order` has the names of `ORDER`, each once.

    Raises:
        UsageError: if a setting is outside its range; it names the setting.
    """
    if len(order) != len(ORDER) or set(order) != set(ORDER):
        raise UsageError(
            f"got {', '.join(map(str, order))}; allowed is each of these once: {', '.join(ORDER)}", "order"
        )
    presence, frequency = _factor(presence_penalty, "presence_penalty"), _factor(frequency_penalty, "frequency_penalty")
    words, bias = tuple(tuple(word) for word in bad_words), logit_bias or {}
    steps: dict[str, Sequence[Step]] = {
        "logit_bias": [LogitBias.of(bias)] if bias else [],
        "repetition_penalty": [RepetitionPenalty(repetition_penalty)] if repetition_penalty != 1 else [],
        "presence_penalty": [PresencePenalty(presence)] if presence != 1 else [],
        "frequency_penalty": [FrequencyPenalty(frequency)] if frequency != 1 else [],
        "bad_words": [BadWords(words)] if words else [],
        "min_tokens": [MinTokens(min_tokens, frozenset(stop_tokens))] if min_tokens != 0 else [],
        "allowed_tokens": [] if allowed_tokens is None else [AllowedTokens(frozenset(allowed_tokens))],
        "grammar": [] if grammar is None else [grammar],
        "processors": [each if hasattr(each, "warp") else Processor(each) for each in processors],
        "temperature": [Temperature(temperature)] if temperature != 1 else [],
        "top_k": [TopK(top_k)] if top_k != 0 else [],
        "top_p": [TopP(top_p)] if top_p != 1 else [],
        "min_p": [MinP(min_p)] if min_p != 0 else [],
        "typical_p": [TypicalP(typical_p)] if typical_p != 1 else [],
    }
    return Pipeline(tuple(step for name in order for step in steps[name]))


def _factor(penalty: float, setting: str) -> float:
    if not -2 <= real(penalty) <= 2:
        raise UsageError(f"got {penalty}; allowed are numbers from -2 to 2 (0 = no penalty)", setting)
    return math.exp(-penalty)
