"""Engines whose laws do not depend on what was written, only on the depth: the world of a single pass.

In: a rule and laws. Out: an engine of honest parts, in the arithmetic of the laws. It must never look at a result.
"""

import numpy as np

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.models.table import TableModel
from draftproof.rules.base import Rule
from draftproof.types import Array, Probs
from draftproof.warpers.pipeline import Pipeline

__all__ = ["PROMPT", "by_depth", "flat"]

PROMPT = (0,)
"""One token, since a model reads before it speaks."""


def by_depth(rule: Rule, target: Array, draft: Array, branching: tuple[int, ...] = ()) -> Engine:
    """Return an engine whose target has law target[i] after i tokens of a pass, and whose draft has law draft[i].

    Args:
        rule: any.
        target: (K + 1, V) laws; after more tokens the last row holds.
        draft: (K, V) laws.
        branching: see `Engine`.
    """
    drafter = ModelDrafter(_model(draft))
    return Engine(_model(target), drafter, rule, Pipeline(), FixedLength(len(draft)), branching)


def flat(rule: Rule, p: Probs, q: Probs, length: int = 1, branching: tuple[int, ...] = ()) -> Engine:
    """Return an engine that drafts `length` tokens a pass, with the laws p and q (V,) at every position."""
    return by_depth(rule, np.stack([p] * (length + 1)), np.stack([q] * length), branching)


def _model(laws: Array) -> TableModel:
    rows = list(laws)
    return TableModel(lambda text: rows[min(len(text), len(rows)) - 1], laws.shape[-1])
