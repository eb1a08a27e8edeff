"""Top-p (nucleus): keep the smallest set of most probable tokens whose mass reaches p.

In: a law. Out: weights. Source: `holtzman2020`.
"""

from dataclasses import dataclass
from fractions import Fraction

from array_api_compat import array_namespace

from draftproof.errors import UsageError
from draftproof.types import Array, Probs

__all__ = ["TopP"]


@dataclass(frozen=True)
class TopP:
    """Keep tokens from the most probable down while the mass before them is less than `p`.

    Args:
        p: above 0, at most 1 (1 keeps everything). Among equally probable tokens the lowest ids are kept first.

    >>> import numpy as np
    >>> TopP(0.7)(np.array([0.5, 0.1, 0.4])).tolist()
    [0.5, 0.0, 0.4]
    """

    p: float | Fraction

    def __post_init__(self) -> None:
        if not 0 < self.p <= 1:
            raise UsageError(f"got {self.p}; allowed are numbers above 0 and at most 1 (1 = no limit)", "top_p")

    def __call__(self, law: Probs) -> Array:
        """Return the law (..., V) with 0 in place of everything outside the nucleus."""
        xp = array_namespace(law)
        if self.p == 1:
            return law
        ordered = xp.flip(xp.sort(law, axis=-1), axis=-1)
        cumulative = xp.cumulative_sum(ordered, axis=-1)
        inside = xp.astype(cumulative - ordered < self.p * cumulative[..., -1:], xp.int64)
        size = xp.sum(inside, axis=-1, keepdims=True)
        cutoff = xp.take_along_axis(ordered, size - 1, axis=-1)
        above, level = law > cutoff, law == cutoff
        room = size - xp.sum(xp.astype(above, xp.int64), axis=-1, keepdims=True)
        first_equals = level & (xp.cumulative_sum(xp.astype(level, xp.int64), axis=-1) <= room)
        return xp.where(above | first_equals, law, xp.zeros_like(law))
