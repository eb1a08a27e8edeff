"""Which tokens can come at all, if scores are known to within rounding: asked before a token is looked at.

In: rows of the target, the sampling settings, how far a score may be off. Out: for each row the tokens that some row as
near as that keeps, and whether they depend on which. Where they do, nothing may be bet on: a token at the edge would be
a proof on one machine and plain on another. To leave out tokens, not places, would make a correct engine look wrong.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import array_namespace, beside
from draftproof.errors import UsageError
from draftproof.types import Array, Probs, Tokens
from draftproof.warpers.base import RowKind, Step, normalise
from draftproof.warpers.min_p import MinP
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.processor import Processor
from draftproof.warpers.temperature import Temperature
from draftproof.warpers.top_k import TopK
from draftproof.warpers.top_p import TopP
from draftproof.witness.edges import Edges
from draftproof.witness.emitted import Emitted

__all__ = ["ETA", "Support", "support"]

ETA = 1e-5
"""How far a score may be off where the same numbers are added up in another order; between machines it is measured."""
HOST = np.empty(0)
CACHED = 2**17
"""So many scores are looked at at a time, whole rows."""


@dataclass(frozen=True)
class Support:
    """What can come at B places."""

    possible: NDArray[np.bool_]
    """(B, V) tokens that some rows within reach keep, and perhaps a few more."""
    ambiguous: NDArray[np.bool_]
    """(B,) whether other rows within reach may keep others."""

    def impossible(self, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of those tokens (B,) that no rows within reach keep: each is a proof."""
        return np.flatnonzero(~np.take_along_axis(self.possible, tokens[:, None], axis=-1)[:, 0])

    def bettable(self, emitted: Emitted, end: int | None = None) -> Emitted:
        """Return those of B tokens that may be bet on, of the first `end` of them."""
        places = np.flatnonzero(~self.ambiguous[:end])
        xp = array_namespace(emitted.target)

        def taken(laws: Probs) -> Probs:
            return xp.take(laws, xp.asarray(places, device=laws.device), axis=0)

        return type(emitted)(
            emitted.tokens[places],
            taken(emitted.target),
            None if emitted.draft is None else taken(emitted.draft),
            None if emitted.bonus is None else emitted.bonus[places],
            None if emitted.after_reject is None else emitted.after_reject[places],
            None if emitted.rejected is None else emitted.rejected[places],
        )


def support(
    pipeline: Pipeline, rows: Array, kind: RowKind, eta: float = ETA, texts: Sequence[Tokens] | None = None
) -> Support:
    """Return what can come where each score, or each logarithm of a probability, may be off by `eta` at most.

    Args:
        pipeline: the settings. Warpers may come in any order before the filters, temperature anywhere.
        rows: (B, V) what the target returned.
        kind: what that is.
        eta: above 0. Whatever the engine itself rounds, its own sums of probabilities included, is to be within it.
        texts: see `Pipeline.laws`.

    Raises:
        UsageError: if the settings have typical-p or a processor, of which it is not known what rounding does to them,
            or a warper after a filter.
    """
    first = next((i for i, step in enumerate(pipeline.steps) if _cuts(step)), len(pipeline.steps))
    _refuse_unknown(pipeline.steps)
    found = list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]()
    together = max(1, CACHED // rows.shape[-1])
    for begin in range(0, len(rows), together):
        some = slice(begin, begin + together)
        given = beside(rows[some, :], HOST), kind, eta, None if texts is None else texts[some]
        edges = Edges(*_scores(pipeline.steps[:first], *given))
        for step in pipeline.steps[first:]:
            edges = _filtered(edges, step)
        found.append(edges.sets())
    return Support(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _filtered(edges: Edges, step: Step) -> Edges:
    match step:
        case Temperature(value=value):
            return edges.greedy() if value == 0 else edges.sharpened(1 / float(value))
        case TopK(k=k):
            return edges.top_k(k)
        case TopP(p=p):
            return edges.top_p(float(p))
        case MinP(p=p):
            return edges.min_p(float(p))
        case _:
            raise UsageError(f"got {type(step).__name__} after a filter; only temperature may come there", "order")


def _refuse_unknown(steps: Sequence[Step]) -> None:
    for step in steps:
        if isinstance(step, Processor) or (callable(step) and not isinstance(step, TopK | TopP | MinP)):
            name = "processors" if isinstance(step, Processor) else "typical_p"
            raise UsageError("got one; which tokens it keeps if scores are off by rounding is not known", name)


def _cuts(step: Step) -> bool:
    """Whether a step takes tokens away by how probable they are."""
    return callable(step) or (isinstance(step, Temperature) and step.value == 0)


def _scores(
    steps: Sequence[Step], rows: Array, kind: RowKind, eta: float, texts: Sequence[Tokens] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return scores (B, V) after warpers, of which each moves a score by itself, and how far off they may be (B, 1).

    A law is as far off as its logarithms, and as far again by what it is divided by.
    """
    count, given = len(rows), rows.astype(np.float64)
    if kind == "logits":
        every = np.concatenate([given, given + eta, given - eta])
    else:
        given = normalise(given)
        every = np.concatenate([given, given * math.exp(2 * eta), given * math.exp(-2 * eta)])
    repeated = None if texts is None else [*texts, *texts, *texts]
    for step in steps:
        if isinstance(step, Temperature):
            every = every / float(step.value) if kind == "logits" else every ** (1 / float(step.value))
        elif not callable(step):
            every = np.asarray(step.warp(every, kind, repeated)[0], dtype=np.float64)
        if kind == "laws":
            every = every / np.concatenate([every[:count].sum(axis=-1, keepdims=True)] * 3)
    with np.errstate(divide="ignore"):  # a mask
        logs = every if kind == "logits" else np.log(every)
    scores, most, least = logs[:count], logs[count : 2 * count], logs[2 * count :]
    known = scores > -math.inf
    pairs = pairwise([most, scores, least])
    off = [np.subtract(one, other, where=known, out=np.zeros(scores.shape)) for one, other in pairs]
    return scores, np.maximum(*off).max(axis=-1, keepdims=True)
