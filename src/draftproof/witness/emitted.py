"""What the statistical witness is shown: emitted tokens in order, each with the law it should have been drawn from.

In: arrays of NumPy or torch. Out: the same, checked. All but the tokens themselves was known before they were drawn.
Whether a token was accepted or took the place of a rejected draft was not: a correct engine fails a test that looks
only at the ones or the others, so it has no place here.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import array_namespace
from draftproof.errors import ContractError
from draftproof.types import Array, Probs

__all__ = ["Emitted"]


@dataclass(frozen=True)
class Emitted:
    """B emitted tokens.

    Args:
        tokens: (B,) ids.
        target: (B, V) the target's law where each was drawn, from a pass of its own that shares no cache with the
            engine.
        draft: (B, V) the law drafts were drawn from there, or any guess of it; None if unknown. It only decides what is
            bet on.
        bonus: (B,) whether every draft of the pass had been accepted before; None if unknown.
        after_reject: (B,) whether the token before took the place of a rejected draft; None if unknown.
        rejected: (B,) that rejected draft, -1 where there is none; None if unknown.
    """

    tokens: NDArray[np.int64]
    target: Probs
    draft: Probs | None = None
    bonus: NDArray[np.bool_] | None = None
    after_reject: NDArray[np.bool_] | None = None
    rejected: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        count, size = self.target.shape
        if self.draft is not None and tuple(self.draft.shape) != (count, size):
            raise ContractError(f"draft laws are {tuple(self.draft.shape)} where target laws are {(count, size)}")
        for name in ("tokens", "bonus", "after_reject", "rejected"):
            given = getattr(self, name)
            if given is not None and given.shape != (count,):
                raise ContractError(f"{name} is {given.shape}; {count} target laws need ({count},)")
        if count and not (self.tokens.min() >= 0 and self.tokens.max() < size):
            raise ContractError(f"tokens are from 0 to {size - 1}; got {self.tokens.min()} to {self.tokens.max()}")

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, part: slice) -> Self:
        return type(self)(
            self.tokens[part],
            self.target[part, :],
            None if self.draft is None else self.draft[part, :],
            None if self.bonus is None else self.bonus[part],
            None if self.after_reject is None else self.after_reject[part],
            None if self.rejected is None else self.rejected[part],
        )

    def at_tokens(self, laws: Array) -> NDArray[np.float64]:
        """Return (B,) the entries of laws (B, V) at the tokens, in main memory."""
        xp = array_namespace(laws)
        places = xp.asarray(self.tokens)[:, None] if xp is not np else self.tokens[:, None]
        return np.asarray(xp.take_along_axis(laws, places, axis=-1)[:, 0])
