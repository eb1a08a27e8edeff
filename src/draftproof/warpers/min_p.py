"""Min-p: keep the tokens that are at least so many times as probable as the best. In: a law. Out: weights.

Source: `nguyen2024`.
"""

from dataclasses import dataclass
from fractions import Fraction

from draftproof.arrays import array_namespace
from draftproof.errors import UsageError
from draftproof.types import Array, Probs
from draftproof.warpers.base import real

__all__ = ["MinP"]


@dataclass(frozen=True)
class MinP:
    """Keep every token at least `p` times as probable as the most probable one.

    Args:
        p: from 0 (keeps everything) to 1 (keeps the best only, and what is level with it).

    >>> import numpy as np
    >>> MinP(0.5)(np.array([0.6, 0.35, 0.05])).tolist()
    [0.6, 0.35, 0.0]
    """

    p: float | Fraction

    def __post_init__(self) -> None:
        if not 0 <= real(self.p) <= 1:
            raise UsageError(f"got {self.p}; allowed are numbers from 0 to 1 (0 = no limit)", "min_p")

    def __call__(self, law: Probs, out: Array | None = None) -> Array:
        """See `LawFilter.__call__`: 0 in place of everything less probable than `p` times the best."""
        xp = array_namespace(law)
        p = self.p if law.dtype == object else float(self.p)
        return xp.where(law >= p * xp.max(law, axis=-1, keepdims=True), law, xp.zeros_like(law))
