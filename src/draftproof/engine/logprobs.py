"""Log-probabilities of what a pass emitted: raw, as the model said, and after warping, as the token was drawn.

In: a `Pass`. Out: numbers for each emitted token and for the N most probable beside it. Their sum over a text is the
log-probability of the text scored plainly: tests/engine/test_logprobs.py.
"""

from typing import NamedTuple

import numpy as np

from draftproof.arrays import array_namespace, is_numpy_array
from draftproof.engine.passes import Pass
from draftproof.types import Probs
from draftproof.warpers.base import RowKind
from draftproof.warpers.pipeline import Pipeline

__all__ = ["Scored", "scored"]

Alternatives = tuple[tuple[int, float], ...]
"""(token id, log-probability), the most probable first; the lower id first among equals."""


class Scored(NamedTuple):
    """An emitted token with its natural log-probabilities; -inf where a law gives a token nothing."""

    token: int
    logprob: float
    """Under the law it was drawn from, after all warpers."""
    raw_logprob: float
    """Under the model's own law, at temperature 1 and before any warper."""
    top: Alternatives
    """The most probable tokens after all warpers."""
    raw_top: Alternatives
    """The most probable tokens by the model's own law."""


def scored(done: Pass, kind: RowKind, top: int = 0) -> list[Scored]:
    """Return the emitted tokens of a pass with their log-probabilities.

    Args:
        done: the pass.
        kind: the `row_kind` of the target.
        top: how many of the most probable tokens to name beside each.
    """
    raw = Pipeline().laws(done.rows, kind)
    found: list[Scored] = []
    for row, token in zip(done.emitted_rows, done.emitted, strict=True):
        laws = done.target[row], raw[row]
        own = [_log(law[token]) for law in laws]
        found.append(Scored(token, own[0], own[1], *(_best(law, top) for law in laws)))
    return found


def _best(law: Probs, count: int) -> Alternatives:
    if count == 0:
        return ()
    if is_numpy_array(law):
        order = np.argsort(-np.asarray(law, dtype=np.float64), kind="stable")[:count]
    else:
        order = array_namespace(law).argsort(-law, stable=True)[:count]
    found = zip(order.tolist(), law[order].tolist(), strict=True)
    return tuple((token, _log(chance)) for token, chance in found if chance > 0)


def _log(chance: float) -> float:
    return float(np.log(float(chance))) if chance > 0 else -np.inf
