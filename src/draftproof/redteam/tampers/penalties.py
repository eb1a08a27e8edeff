"""Penalties that count another text than the one before the row: frozen, late, early, twice, or by the pass.

In: an honest engine. Out: the same whose penalties are handed other texts. It must never touch temperature or filters.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.engine.stop import Stop
from draftproof.redteam.base import Tamper
from draftproof.types import Array, Noise, Text, Tokens
from draftproof.warpers.base import RowKind, Step, Warper
from draftproof.warpers.penalties import FrequencyPenalty
from draftproof.warpers.pipeline import Pipeline

__all__ = ["TAMPERS"]

FAMILY = "penalties"
SEEN = ("sequence", "replay")

Recount = Callable[[Sequence[Tokens]], Sequence[Tokens]]
"""The text before each row -> the text that is counted for it; row 0 comes first."""


@dataclass(frozen=True)
class _Recounted:
    """See `Warper`: a penalty that counts other texts."""

    penalty: Warper
    recount: Recount
    reads_text: bool = True

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """See `Warper.warp`; the prompt stays the prompt."""
        whole = texts or ()
        skipped = [text.prompt_length if isinstance(text, Text) else 0 for text in whole]
        return self.penalty.warp(rows, kind, [Text(*one) for one in zip(self.recount(whole), skipped, strict=True)])


def _is_penalty(step: Step) -> TypeGuard[Warper]:
    return not callable(step) and step.reads_text


def _recounted(pipeline: Pipeline, recount: Recount) -> Pipeline:
    return Pipeline(tuple(_Recounted(step, recount) if _is_penalty(step) else step for step in pipeline.steps))


def _counting(recount: Recount) -> Callable[[Engine], Engine]:
    return lambda engine: replace(engine, pipeline=_recounted(engine.pipeline, recount))


def _frozen(texts: Sequence[Tokens]) -> Sequence[Tokens]:
    return [texts[0]] * len(texts)


def _committed_twice(texts: Sequence[Tokens]) -> Sequence[Tokens]:
    committed = list(texts[0])
    return [committed, *([*committed, committed[-1], *text[len(committed) :]] for text in texts[1:])]


def _a_token_early(texts: Sequence[Tokens]) -> Sequence[Tokens]:
    return [texts[0], *(text[:-1] for text in texts[1:])]


def _a_token_late(texts: Sequence[Tokens]) -> Sequence[Tokens]:
    return [*texts[1:], texts[-1]]


def _bonus_row_only(texts: Sequence[Tokens]) -> Sequence[Tokens]:
    return [*([()] * (len(texts) - 1)), texts[-1]]


def _unpenalised(pipeline: Pipeline) -> Pipeline:
    return Pipeline(tuple(step for step in pipeline.steps if not _is_penalty(step)))


def _turned(step: Step) -> Step:
    return replace(step, factor=1 / step.factor) if isinstance(step, FrequencyPenalty) else step


@dataclass(frozen=True)
class _CountedByPass:
    """An engine whose counters get the last token of each pass only."""

    engine: Engine

    def decode(self, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[Pass]:
        """See `Engine.decode`."""
        counted = list(prompt)
        engine = _counting(lambda texts: [[*counted, *text[len(texts[0]) :]] for text in texts])(self.engine)
        for done in engine.decode(prompt, stop, noise):
            counted += done.emitted[-1:]
            yield done


TAMPERS = (
    Tamper(
        "penalties-frozen-for-the-block",
        FAMILY,
        "Counts the text before the pass for all rows of a block.",
        "A33, sglang #28180",
        _counting(_frozen),
        caught_by=SEEN,
    ),
    Tamper(
        "penalties-on-the-bonus-only",
        FAMILY,
        "Penalises the last row of a block only.",
        "A33, sglang PR #28200",
        _counting(_bonus_row_only),
        caught_by=SEEN,
    ),
    Tamper(
        "penalties-a-token-early",
        FAMILY,
        "Counts for a row of drafts one token too few.",
        "A41, vllm PR #52311",
        _counting(_a_token_early),
        caught_by=SEEN,
    ),
    Tamper(
        "penalties-a-token-late",
        FAMILY,
        "Counts for each row the draft that the row is about to test.",
        "A40, vllm #41758",
        _counting(_a_token_late),
        caught_by=SEEN,
    ),
    Tamper(
        "committed-token-counted-twice",
        FAMILY,
        "Counts the last committed token again for every row of drafts, since it heads the block.",
        "A34, vllm PR #33251",
        _counting(_committed_twice),
        caught_by=SEEN,
    ),
    Tamper(
        "one-token-a-pass-counted",
        FAMILY,
        "Hands the counters the last token of each pass only: the better the draft, the weaker the penalty.",
        "A32, sglang PR #33643",
        _CountedByPass,
        caught_by=SEEN,
    ),
    Tamper(
        "penalties-dropped",
        FAMILY,
        "Accepts penalties and does not apply them to the target.",
        "A36, ml-explore/mlx-examples #1255; A38, vllm #38202",
        lambda engine: replace(engine, pipeline=_unpenalised(engine.pipeline)),
        caught_by=SEEN,
    ),
    Tamper(
        "penalty-sign-turned",
        FAMILY,
        "Applies penalties with the other sign, so that repetition is rewarded.",
        "A30, vllm #18902, where the sign made no difference",
        lambda engine: replace(engine, pipeline=Pipeline(tuple(map(_turned, engine.pipeline.steps)))),
        caught_by=SEEN,
    ),
)
