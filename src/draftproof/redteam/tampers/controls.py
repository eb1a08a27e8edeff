"""Sampling controls dropped, on some rows only, or over another text than the one before the row.

In: an honest engine. Out: the same, one of whose steps is another. It must never touch the draft.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from draftproof.engine.loop import Engine
from draftproof.redteam.base import Tamper
from draftproof.redteam.stepped import as_output, reading, stepped
from draftproof.types import Array, Probs, Text, Tokens
from draftproof.warpers.base import RowKind, Warper, output_of
from draftproof.warpers.bias import LogitBias
from draftproof.warpers.masks import AllowedTokens, BadWords
from draftproof.warpers.min_p import MinP
from draftproof.warpers.penalties import FrequencyPenalty, PresencePenalty, RepetitionPenalty
from draftproof.warpers.typical_p import TypicalP
from draftproof.witness.base import Decoder

__all__ = ["TAMPERS"]

FAMILY = "controls"

Choose: TypeAlias = Callable[[Array, Array], Array]
"""(rows before the step, rows after it) -> the rows that are used."""


@dataclass(frozen=True)
class _OnSomeRows:
    """See `Warper`: a step that is applied to some rows."""

    step: Warper
    choose: Choose

    @property
    def reads_text(self) -> bool:
        """See `Warper.reads_text`."""
        return self.step.reads_text

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """See `Warper.warp`."""
        warped, kind = self.step.warp(rows, kind, texts)
        return self.choose(rows, warped), kind


@dataclass(frozen=True)
class _FilterOnSomeRows:
    """See `LawFilter`: a filter that is applied to some rows."""

    step: Any
    choose: Choose

    def __call__(self, law: Probs, out: Array | None = None) -> Array:
        """See `LawFilter.__call__`."""
        return self.choose(law, self.step(law))


def _last_only(before: Array, after: Array) -> Array:
    return np.concatenate([before[:-1], after[-1:]])


def _first_only(before: Array, after: Array) -> Array:
    return np.concatenate([after[:1], before[1:]])


def without_prompt(texts: list[Text]) -> list[Text]:
    return [Text(output_of(text)) for text in texts]


def _early(texts: list[Text]) -> list[Text]:
    return [texts[0], *(Text(text[:-1], text.prompt_length) for text in texts[1:])]


def _late(texts: list[Text]) -> list[Text]:
    return [*texts[1:], texts[-1]]


def _tamper(name: str, story: str, seen_in: str, apply: Callable[[Engine], Decoder]) -> Tamper:
    return Tamper(name, FAMILY, story, seen_in, apply, caught_by=("sequence",))


TAMPERS = (
    _tamper(
        "min-p-on-the-bonus-only",
        "Applies min-p where the sampler always did, to the last row, and tests drafts against the whole law.",
        "A37, vllm #42744",
        stepped(MinP, lambda step: _FilterOnSomeRows(step, _last_only)),
    ),
    _tamper(
        "min-p-dropped",
        "Accepts min-p and does not apply it to the target.",
        "A37, vllm #42744",
        stepped(MinP, lambda _: None),
    ),
    _tamper(
        "typical-p-dropped",
        "Accepts typical-p and does not apply it to the target.",
        "derived; A36, ml-explore/mlx-examples #1255",
        stepped(TypicalP, lambda _: None),
    ),
    _tamper(
        "logit-bias-dropped",
        "Accepts a bias on single tokens and leaves the target's scores as they are.",
        "A38, vllm #38202",
        stepped(LogitBias, lambda _: None),
    ),
    _tamper(
        "logit-bias-on-the-bonus-only",
        "Adds a bias on single tokens to the last row of a block.",
        "derived; A38, vllm #38202, with the cure of A37, vllm #42744",
        stepped(LogitBias, lambda step: _OnSomeRows(step, _last_only)),
    ),
    _tamper(
        "mask-on-the-first-row-only",
        "Masks the first row of a block; drafts beyond the first are tested against an open row.",
        "A46, TensorRT-LLM #7878",
        stepped(AllowedTokens, lambda step: _OnSomeRows(step, _first_only)),
    ),
    _tamper(
        "repetition-over-the-output-only",
        "Counts the output for the repetition penalty, whose definition has the prompt too.",
        "derived; A33, sglang #28180",
        reading(RepetitionPenalty, without_prompt),
    ),
    _tamper(
        "presence-over-the-prompt-too",
        "Counts the prompt for the presence penalty, whose definition has the output only.",
        "derived",
        reading(PresencePenalty, as_output),
    ),
    _tamper(
        "presence-taken-for-frequency",
        "Penalises a token for each time that it stands in the output.",
        "derived; A34, vllm PR #33251, counts twice",
        stepped(PresencePenalty, lambda step: FrequencyPenalty(step.factor)),
    ),
    _tamper(
        "bad-word-a-token-early",
        "Looks for the beginning of a bad word in a text that lacks the last draft.",
        "A41, vllm PR #52311",
        reading(BadWords, _early),
    ),
    _tamper(
        "bad-word-a-token-late",
        "Looks for the beginning of a bad word in a text that has the next draft already.",
        "A41, vllm PR #52311",
        reading(BadWords, _late),
    ),
    _tamper(
        "bad-word-without-the-prompt",
        "Looks for the beginning of a bad word in the output, and not where the prompt ends.",
        "derived; A41, vllm PR #52311",
        reading(BadWords, without_prompt),
    ),
)
