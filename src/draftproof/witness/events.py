"""Sets of tokens that are fixed before a token is drawn, and how much of a law they hold.

In: laws, and a score of every token. Out: masses, the nucleus, draft ratios. Each is one pass or a few over the laws.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import array_namespace, is_numpy_array
from draftproof.types import Array, Probs
from draftproof.witness.emitted import Emitted

__all__ = ["draft_ratio", "earlier", "mass", "nucleus", "positive", "total"]

LEAST_NUMBER = 2.0**-1022
"""Smaller ones are slow to work with. Where the target gives no mass it does not matter which number stands for it."""
PIECE = 2**13
"""So many tokens of a law are worked with at a time where nothing but a sum is wanted."""
FEW = 4096
"""So many entries are sorted at once."""


def mass(law: Probs, event: Array) -> NDArray[np.float64]:
    """Return (B,) what laws (B, V) give to events (B, V), in main memory."""
    if is_numpy_array(law):
        return np.vecdot(law, event)  # it needs no floats in place of true and false
    xp = array_namespace(law)
    return np.asarray(xp.vecdot(law, xp.astype(event, law.dtype)))


def total(of: Callable[..., Array], *laws: Probs) -> Array:
    """Return (B, 1) the sum over tokens of a function of laws (B, V), some thousand tokens at a time.

    What is computed on the way then stays in the nearest cache, and needs no memory of its own.
    """
    xp, size = array_namespace(*laws), laws[0].shape[-1]
    pieces = (slice(first, first + PIECE) for first in range(0, size, PIECE))
    return sum(xp.sum(of(*(law[:, piece] for law in laws)), axis=-1, keepdims=True) for piece in pieces)


def draft_ratio(emitted: Emitted) -> Array | None:
    """Return (B, V) how many times as probable the draft makes each token as the target does; None without a draft."""
    if emitted.draft is None:
        return None
    with np.errstate(over="ignore"):  # more than there are numbers is more than any threshold, and comes last
        return emitted.draft / positive(emitted.target)


def nucleus(law: Probs, share: float) -> Array:
    """Return (B, V) which tokens belong to the most probable ones that hold a share of each law: those of `TopP`."""
    xp = array_namespace(law)
    if is_numpy_array(law) and law.shape[-1] > FEW:
        ends = [_end_of_long(row, share * float(row.sum())) for row in law]
        size, least = (np.array(column)[:, None] for column in zip(*ends, strict=True))
    else:
        size, least = _ends(law, share)
    inside = law >= least
    if not bool(xp.all(xp.count_nonzero(inside, axis=-1, keepdims=True) == size)):
        above, level = law > least, law == least  # of equals the lowest ids
        room = size - xp.count_nonzero(above, axis=-1, keepdims=True)
        inside = above | (level & (xp.cumulative_sum(xp.astype(level, xp.int64), axis=-1) <= room))
    return inside


def earlier(emitted: Emitted, score: Array | None, *, falling: bool = False) -> NDArray[np.float64]:
    """Return (B,) the target's mass of the tokens before each emitted one, by a score (B, V), then by id."""
    xp, law = array_namespace(emitted.target), emitted.target
    mine = xp.asarray(emitted.tokens, device=law.device)[:, None]
    before = _ids(xp, law.shape[-1], law.device) < mine
    if score is not None:
        own = xp.take_along_axis(score, mine, axis=-1)
        before &= score == own
        before |= (score > own) if falling else (score < own)
    return mass(law, before)


def positive(law: Probs) -> Array:
    """Return laws (B, V) with next to nothing in place of 0, to divide by and to take logarithms of."""
    return array_namespace(law).clip(law, LEAST_NUMBER)


@lru_cache(maxsize=8)
def _ids(xp: Any, size: int, device: Any) -> Array:
    return xp.arange(size, device=device)[None, :]


def _ends(law: Probs, share: float) -> tuple[Array, Array]:
    """Return (B, 1) how many tokens each nucleus has, and the probability of the last of them."""
    xp = array_namespace(law)
    falling = xp.flip(xp.sort(law, axis=-1, stable=False), axis=-1)
    short = xp.cumulative_sum(falling, axis=-1)[..., :-1] < share * xp.sum(law, axis=-1, keepdims=True)
    size = 1 + xp.count_nonzero(short, axis=-1, keepdims=True)
    return size, xp.take_along_axis(falling, size - 1, axis=-1)


def _end_of_long(part: NDArray[np.float64], goal: float) -> tuple[int, float]:
    """Return the same of a long row (V,), whose nucleus reaches a mass: it ends in one half or in the other."""
    count, held = 0, 0.0
    while len(part) > FEW:
        half = len(part) // 2
        part = np.partition(part, half)
        upper = float(part[half:].sum())
        if held + upper >= goal:
            part = part[half:]
        else:
            count, held, part = count + len(part) - half, held + upper, part[:half]
    falling = np.sort(part)[::-1]
    end = min(int(np.searchsorted(held + np.cumsum(falling), goal)), len(falling) - 1)
    return count + end + 1, float(falling[end])
