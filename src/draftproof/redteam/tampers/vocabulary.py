"""Two vocabularies taken for one: ids that mean something else, are out of range, or cannot be said.

In: an honest engine. Out: the same, whose draft and target disagree about ids.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from draftproof.arrays import array_namespace
from draftproof.engine.loop import Engine
from draftproof.redteam.altered import AlteredToken, drawn_from, ruled
from draftproof.redteam.base import Tamper
from draftproof.rules.base import Place, drawn
from draftproof.types import Array, Probs, Tokens
from draftproof.warpers.base import RowKind, normalise
from draftproof.warpers.pipeline import Pipeline

__all__ = ["TAMPERS"]

FAMILY = "vocabulary"
SEEN = ("exact", "sequence")


def _without_last(law: Probs) -> Probs:
    """Return laws (..., V) without their last id; those that have no other stay as they are."""
    xp = array_namespace(law)
    shorter = xp.concat([law[..., :-1], xp.zeros_like(law[..., -1:])], axis=-1)
    empty = xp.sum(shorter, axis=-1, keepdims=True) == 0
    return normalise(xp.where(empty, law, shorter))


def _one_more_id(law: Probs) -> Probs:
    """Return the law (V + 1,) of a draft that knows one id more, of the mass of the others together by eight."""
    return np.concatenate([law, law[:1] * 0 + np.sum(law) / 8])


@dataclass(frozen=True)
class _Cropped:
    """See `Pipeline`: the honest laws as far as the draft's vocabulary goes."""

    honest: Pipeline
    reads_text: bool = True

    def laws(self, rows: Array, kind: RowKind, texts: list[Tokens]) -> Probs:
        """See `Pipeline.laws`."""
        return _without_last(self.honest.laws(rows, kind, texts))


def _mapped(law_of: Callable[[Probs], Array], token_of: Callable[[int, int], int]) -> Callable[[Engine], Engine]:
    """Return what draws from law_of(law) and hands token_of(token, V) on, with the law as it was."""

    def draw(law: Probs, place: Place) -> list[int]:
        return [token_of(token, len(law)) for token in drawn(law_of(law), place)]

    return ruled(AlteredToken(draw=draw))


def _as_it_is(law: Probs) -> Array:
    return law


TAMPERS = (
    Tamper(
        "target-cropped-to-the-draft",
        FAMILY,
        "Cuts the target's rows to the draft's smaller vocabulary, so that its last id is never emitted.",
        "A124, vllm-ascend PR #16166",
        lambda engine: replace(engine, pipeline=_Cropped(engine.pipeline)),
        caught_by=SEEN,
    ),
    Tamper(
        "draft-cannot-say-the-last-id",
        FAMILY,
        "Draws drafts without the last id, which the draft's output lacks, and records its law with that id.",
        "A124, vllm-ascend PR #16166",
        ruled(AlteredToken(draw=drawn_from(_without_last))),
        caught_by=SEEN,
    ),
    Tamper(
        "id-out-of-range-wrapped",
        FAMILY,
        "Takes a draft's id that is out of range modulo the vocabulary, and records no mass for it.",
        "A125, llama.cpp #17480",
        _mapped(_one_more_id, lambda token, size: token % size),
        caught_by=SEEN,
    ),
    Tamper(
        "id-out-of-range-clipped",
        FAMILY,
        "Takes the last id for a draft's id that is out of range, and records no mass for it.",
        "A125, transformers PR #46936",
        _mapped(_one_more_id, lambda token, size: min(token, size - 1)),
        caught_by=SEEN,
    ),
    Tamper(
        "ids-shifted-by-one",
        FAMILY,
        "Shifts drafted ids by one, as after a special token, and records the law of the ids before the shift.",
        "A121, sglang PR #23838",
        _mapped(_as_it_is, lambda token, size: (token + 1) % size),
        caught_by=SEEN,
    ),
    Tamper(
        "two-ids-exchanged",
        FAMILY,
        "Takes the first two ids of the draft for each other; the law that is recorded does not.",
        "A121, sglang PR #23838",
        _mapped(_as_it_is, lambda token, size: 1 - token if token < 2 else token),
        caught_by=SEEN,
    ),
)
