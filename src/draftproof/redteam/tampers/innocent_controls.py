"""Sampling controls and stops that look broken and are not: another order, a memory, a draft unlike the target.

In: an honest engine. Out: the same that goes about it in another way. No witness may call one of them LOSSY.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.redteam.base import Tamper
from draftproof.redteam.stepped import grammar_changed
from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind, Step, Warper, output_of
from draftproof.warpers.masks import AllowedTokens, BadWords, MinTokens
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.temperature import Temperature
from draftproof.witness.base import Decoder

__all__ = ["TAMPERS"]


@dataclass(frozen=True)
class _Remembering:
    """See `Warper`: keeps the row that it made after each text, and reads the text no more. By text, never by turn."""

    step: Warper
    kept: dict[tuple[object, ...], Array] = field(default_factory=dict)
    reads_text: bool = True

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """See `Warper.warp`."""
        made: list[Array] = []
        for number, text in enumerate(texts or ()):
            key = (len(output_of(text)), *text, *rows[number].tolist())
            if key not in self.kept:
                self.kept[key] = self.step.warp(rows[number : number + 1], kind, [text])[0][0]
            made.append(self.kept[key])
        return np.stack(made), kind


def _masks_backwards(engine: Engine) -> Engine:
    steps = engine.pipeline.steps
    masks = [step for step in steps if isinstance(step, AllowedTokens | BadWords | MinTokens)]
    turned = reversed(masks)
    return replace(engine, pipeline=Pipeline(tuple(next(turned) if step in masks else step for step in steps)))


def _drafting(change: Callable[[Pipeline], Pipeline]) -> Callable[[Engine], Engine]:
    def apply(engine: Engine) -> Engine:
        drafter = engine.drafter
        if not isinstance(drafter, ModelDrafter):
            return engine
        return replace(engine, drafter=replace(drafter, pipeline=change(drafter.pipeline)))

    return apply


def _unmasked(pipeline: Pipeline) -> Pipeline:
    return Pipeline(tuple(step for step in pipeline.steps if not _reads(step)))


def _hot(pipeline: Pipeline) -> Pipeline:
    return Pipeline(tuple(step for step in pipeline.steps if not isinstance(step, Temperature)))


def _reads(step: Step) -> bool:
    return not callable(step) and step.reads_text


def _innocent(name: str, story: str, seen_in: str, apply: Callable[[Engine], Decoder]) -> Tamper:
    return Tamper(name, "innocent controls", story, seen_in, apply, harmless=True)


TAMPERS = (
    _innocent(
        "masks-in-another-order",
        "Applies the masks from the last to the first; what is forbidden by one is forbidden by all.",
        "derived; A49, transformers #48390, is about where they are applied",
        _masks_backwards,
    ),
    _innocent(
        "grammar-states-remembered",
        "Remembers what a grammar said after each text, rejected drafts among them.",
        "A48, lmstudio-ai/mlx-engine PR #112, done right",
        grammar_changed(_Remembering),
    ),
    _innocent(
        "draft-without-masks-and-penalties",
        "Drafts as if no text had been read: what is forbidden is proposed, and rejected.",
        "A46, TensorRT-LLM #7878, and B22, vllm PR #48932, done right",
        _drafting(_unmasked),
    ),
    _innocent(
        "draft-at-another-temperature",
        "Leaves the temperature out of the draft's settings.",
        "A24, lattice #388, on the draft's side",
        _drafting(_hot),
    ),
    _innocent(
        "one-draft-where-many-were-asked",
        "Drafts one token a pass, so that a stop string is spread over more passes.",
        "derived; C04, charlie12345/ROCmFPX PR #31",
        lambda engine: replace(engine, length=FixedLength(1)),
    ),
)
