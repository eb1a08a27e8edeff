"""Engines of whose pipeline one step is another, or reads other texts: what tampers of controls are built from.

In: a kind of step and what is done to it. Out: what changes an engine. It must never know the witnesses.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from draftproof.engine.loop import Engine
from draftproof.types import Array, Text, Tokens
from draftproof.warpers.base import RowKind, Step, Warper, output_of
from draftproof.warpers.masks import BadWords, MinTokens
from draftproof.warpers.penalties import FrequencyPenalty, PresencePenalty, RepetitionPenalty
from draftproof.warpers.pipeline import Pipeline

__all__ = ["Reading", "Retext", "as_output", "frozen", "grammar_changed", "reading", "stepped"]

Retext: TypeAlias = Callable[[list[Text]], list[Text]]
"""The text before each row -> the text that is read for it."""


@dataclass(frozen=True)
class Reading:
    """See `Warper`: a step that reads other texts."""

    step: Warper
    retext: Retext
    reads_text: bool = True

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """See `Warper.warp`."""
        whole = [Text(text, len(text) - len(output_of(text))) for text in texts or ()]
        return self.step.warp(rows, kind, self.retext(whole))


def stepped(kind: Any, change: Callable[[Any], Step | None]) -> Callable[[Engine], Engine]:
    """Return what changes the steps of one kind, or drops them."""

    def apply(engine: Engine) -> Engine:
        steps = [change(step) if isinstance(step, kind) else step for step in engine.pipeline.steps]
        return replace(engine, pipeline=Pipeline(tuple(step for step in steps if step is not None)))

    return apply


def reading(kind: Any, retext: Retext) -> Callable[[Engine], Engine]:
    """Return what makes the steps of one kind read other texts."""
    return stepped(kind, lambda step: Reading(step, retext))


def as_output(texts: list[Text]) -> list[Text]:
    """Return the texts without the word which of their tokens are the prompt."""
    return [Text(text) for text in texts]


def frozen(texts: list[Text]) -> list[Text]:
    """Return the text before the pass, for every row."""
    return [texts[0]] * len(texts)


def _is_grammar(step: Step) -> bool:
    penalties = FrequencyPenalty, PresencePenalty, RepetitionPenalty, BadWords, MinTokens
    return not callable(step) and step.reads_text and not isinstance(step, penalties)


def grammar_changed(change: Callable[[Any], Step]) -> Callable[[Engine], Engine]:
    """Return what changes the grammar of an engine."""

    def apply(engine: Engine) -> Engine:
        steps = tuple(change(step) if _is_grammar(step) else step for step in engine.pipeline.steps)
        return replace(engine, pipeline=Pipeline(steps))

    return apply
