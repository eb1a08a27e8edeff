"""What a batch of tokens shows, read a few laws at a time. In: emitted tokens. Out: the bets on them, where they lie.

A law of 150,000 tokens is read some thirty times; a few at a time stay in the cache. Where a truncating warper left few
tokens, the others are not read at all: they hold nothing that could be bet on.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import is_numpy_array
from draftproof.types import Probs
from draftproof.witness.emitted import Emitted
from draftproof.witness.events import draft_ratio
from draftproof.witness.experts import Bets, bets
from draftproof.witness.intervals import Intervals, intervals

__all__ = ["examined", "slot_classes"]

CACHED = 2**17
"""So many probabilities are read at a time, whole laws."""
SPARSE = 4
"""Tokens are left out if at most one in so many can be."""


def examined(emitted: Emitted, before: Probs | None) -> tuple[Bets, Intervals]:
    """Return what the experts make of tokens, and where they lie; the target gives mass to each.

    Args:
        emitted: B tokens.
        before: (V,) the target's law one token earlier, in the same library; None at the beginning.
    """
    size = emitted.target.shape[-1]
    found, where = list[Bets](), list[Intervals]()
    for whole in _pieces(emitted):
        part, possible = _condensed(whole)
        ratio = draft_ratio(part)
        found.append(bets(part, None if before is None else before[possible], ratio, size))
        where.append(intervals(part, ratio))
        before = whole.target[-1, :]
    joined = Bets(*(np.concatenate(columns) for columns in zip(*found, strict=True)))
    starts, widths = (np.concatenate([getattr(one, name) for one in where]) for name in ("starts", "widths"))
    return joined, Intervals(starts, widths, where[0].there)


def slot_classes(emitted: Emitted) -> NDArray[np.bool_]:
    """Return (B, 3) in which slot classes each token is: `SLOTS` in `mixture` names them."""
    nowhere = np.zeros(len(emitted), dtype=bool)
    flags = (emitted.bonus, emitted.after_reject)
    return np.stack([~nowhere, *(nowhere if flag is None else flag for flag in flags)], axis=-1)


def _pieces(emitted: Emitted) -> Iterator[Emitted]:
    count, size = emitted.target.shape
    step = max(1, CACHED // size) if is_numpy_array(emitted.target) else count
    for first in range(0, count, step):
        yield emitted[first : first + step]


def _condensed(emitted: Emitted) -> tuple[Emitted, NDArray[np.int64] | slice]:
    """Return the same tokens as numbers of those that a law here gives mass to, and these; or all, if they are many."""
    size = emitted.target.shape[-1]
    possible = np.flatnonzero((emitted.target > 0).any(axis=0)) if is_numpy_array(emitted.target) else np.arange(size)
    if SPARSE * len(possible) > size:
        return emitted, slice(None)
    numbers = np.full(size, -1)
    numbers[possible] = np.arange(len(possible))
    changed = {"tokens": numbers[emitted.tokens], "target": emitted.target[:, possible]}
    if emitted.draft is not None:
        changed["draft"] = emitted.draft[:, possible]
    if emitted.rejected is not None:
        changed["rejected"] = np.where(emitted.rejected >= 0, numbers[emitted.rejected], -1)
    return replace(emitted, **changed), possible
