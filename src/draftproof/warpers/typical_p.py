"""Typical-p: keep the tokens whose surprise is nearest to the expected one, down to a mass. In: a law. Out: weights.

Source: `meister2023`. Logarithms are no fractions: which tokens of a law of Fractions stay is found in float64, what
stays is exact.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from draftproof.arrays import array_namespace
from draftproof.errors import UsageError
from draftproof.types import Array, Probs
from draftproof.warpers.base import real

__all__ = ["TypicalP"]


@dataclass(frozen=True)
class TypicalP:
    """Keep the smallest set of tokens of mass `p` whose -log(law) is nearest to the entropy.

    Args:
        p: above 0, at most 1 (1 keeps everything). Tokens as near as the last that is kept are kept too.

    >>> import numpy as np
    >>> TypicalP(0.3)(np.array([0.5, 0.4, 0.1])).tolist()
    [0.0, 0.4, 0.0]
    """

    p: float | Fraction

    def __post_init__(self) -> None:
        if not 0 < real(self.p) <= 1:
            raise UsageError(f"got {self.p}; allowed are numbers above 0 and at most 1 (1 = no limit)", "typical_p")

    def __call__(self, law: Probs, out: Array | None = None) -> Array:
        """See `LawFilter.__call__`: 0 in place of the least typical tokens."""
        if self.p == 1:
            return law
        xp = array_namespace(law)
        chances = law.astype(np.float64) if law.dtype == object else law
        possible = chances > 0
        surprise = -xp.log(xp.where(possible, chances, xp.ones_like(chances)))
        far = xp.abs(surprise - xp.sum(chances * surprise, axis=-1, keepdims=True))
        far = xp.where(possible, far, far + float("inf"))
        order = xp.argsort(far, axis=-1, stable=True)
        mass = xp.cumulative_sum(xp.take_along_axis(law, order, axis=-1), axis=-1)
        p = self.p if law.dtype == object else float(self.p)
        last = xp.sum(xp.astype(mass[..., :-1] < p, xp.int64), axis=-1, keepdims=True)
        farthest = xp.take_along_axis(far, xp.take_along_axis(order, last, axis=-1), axis=-1)
        return xp.where(far <= farthest, law, xp.zeros_like(law))
