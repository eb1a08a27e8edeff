"""Sampling settings on some rows only, twice, in another order, or not at all.

In: an honest engine. Out: the same whose rows become laws in another way. It must never touch the drafter's settings.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from draftproof.arrays import array_namespace
from draftproof.engine.loop import Engine
from draftproof.redteam.base import Tamper
from draftproof.types import Array, Probs, Tokens
from draftproof.warpers.base import RowKind, Step, normalise
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.temperature import Temperature

__all__ = ["TAMPERS"]

FAMILY = "settings"
SEEN = ("sequence", "replay")

Warp = Callable[[Pipeline, Array, RowKind, Sequence[Tokens]], Probs]
"""(honest pipeline, rows, what they are, text before each) -> laws."""


@dataclass(frozen=True)
class _Warped:
    """See `Pipeline`."""

    honest: Pipeline
    warp: Warp
    reads_text: bool = True

    def laws(self, rows: Array, kind: RowKind, texts: Sequence[Tokens]) -> Probs:
        """See `Pipeline.laws`."""
        return self.warp(self.honest, rows, kind, texts)


def _warped(warp: Warp) -> Callable[[Engine], Engine]:
    return lambda engine: replace(engine, pipeline=_Warped(engine.pipeline, warp))


def _set(change: Callable[[Pipeline], Pipeline]) -> Callable[[Engine], Engine]:
    return lambda engine: replace(engine, pipeline=change(engine.pipeline))


def _bonus_only(honest: Pipeline, rows: Array, kind: RowKind, texts: Sequence[Tokens]) -> Probs:
    raw = Pipeline().laws(rows, kind)
    return np.concatenate([raw[:-1], honest.laws(rows, kind, texts)[-1:]])


def _verified_only(honest: Pipeline, rows: Array, kind: RowKind, texts: Sequence[Tokens]) -> Probs:
    raw = Pipeline().laws(rows, kind)
    return np.concatenate([honest.laws(rows, kind, texts)[:-1], raw[-1:]])


def _filters_first(pipeline: Pipeline) -> Pipeline:
    return Pipeline(tuple(sorted(pipeline.steps, key=lambda step: isinstance(step, Temperature))))


def _without_temperature(pipeline: Pipeline) -> Pipeline:
    return Pipeline(tuple(step for step in pipeline.steps if not isinstance(step, Temperature)))


def _without_filters(pipeline: Pipeline) -> Pipeline:
    return Pipeline(tuple(step for step in pipeline.steps if not callable(step)))


def _divided_twice(step: Step) -> Step:
    return Temperature(step.value**2) if isinstance(step, Temperature) else step


def _first_rows_mask(honest: Pipeline, rows: Array, kind: RowKind, texts: Sequence[Tokens]) -> Probs:
    open_laws = _without_filters(honest).laws(rows, kind, texts)
    xp = array_namespace(open_laws)
    masked = xp.where(honest.laws(rows, kind, texts)[:1] > 0, open_laws, xp.zeros_like(open_laws))
    empty = xp.sum(masked, axis=-1, keepdims=True) == 0
    return normalise(xp.where(empty, open_laws, masked))


TAMPERS = (
    Tamper(
        "target-with-default-settings",
        FAMILY,
        "Scores the target with temperature 1 and no filter while the draft is filtered.",
        "A29, vllm #9834",
        _set(lambda pipeline: Pipeline()),
        caught_by=SEEN,
    ),
    Tamper(
        "temperature-fixed-at-one",
        FAMILY,
        "Filters the target as asked but verifies at temperature 1.",
        "A24, lattice #388",
        _set(_without_temperature),
        caught_by=SEEN,
    ),
    Tamper(
        "temperature-applied-twice",
        FAMILY,
        "Divides by the temperature in the model and again in the sampler.",
        "derived",
        _set(lambda pipeline: Pipeline(tuple(map(_divided_twice, pipeline.steps)))),
        caught_by=SEEN,
    ),
    Tamper(
        "filters-dropped",
        FAMILY,
        "Applies the temperature to the target and forgets its filters.",
        "A29, vllm #9834",
        _set(_without_filters),
        caught_by=SEEN,
    ),
    Tamper(
        "filters-applied-twice",
        FAMILY,
        "Filters the target's law, and filters what is left again.",
        "derived",
        _set(lambda pipeline: Pipeline((*pipeline.steps, *filter(callable, pipeline.steps)))),
        caught_by=("replay",),
    ),
    Tamper(
        "filters-before-the-temperature",
        FAMILY,
        "Filters the target's law first and applies the temperature to what is left.",
        "derived",
        _set(_filters_first),
        caught_by=SEEN,
    ),
    Tamper(
        "first-rows-filter-for-all",
        FAMILY,
        "Filters all rows of a block by the tokens that the first row keeps.",
        "A49, transformers #48390",
        _warped(_first_rows_mask),
        caught_by=SEEN,
    ),
    Tamper(
        "settings-on-the-bonus-only",
        FAMILY,
        "Applies the settings where the sampler always did: to the last row of a block.",
        "A37, vllm #42744",
        _warped(_bonus_only),
        caught_by=SEEN,
    ),
    Tamper(
        "settings-on-tested-rows-only",
        FAMILY,
        "Applies the settings in the verifier and draws the bonus from the raw row.",
        "derived; the reverse of A37, vllm #42744",
        _warped(_verified_only),
        caught_by=SEEN,
    ),
)
