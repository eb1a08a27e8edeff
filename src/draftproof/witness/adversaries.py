"""Drafters that guess as badly as can be: whatever they propose, the text must be the target's own.

In: a target, or a token. Out: drafters. They make every pass reject all its drafts, which is where caches go wrong.
"""

from dataclasses import dataclass
from typing import Self

from draftproof.arrays import array_namespace
from draftproof.drafters.base import one_hot
from draftproof.models.base import Model
from draftproof.types import Array, Probs, Tokens

__all__ = ["LeastLikely", "Stubborn", "least_likely"]


@dataclass(frozen=True)
class Stubborn:
    """See `Drafter`: always the same token."""

    token: int
    vocab_size: int

    def law(self, context: Tokens) -> Probs | None:
        """See `Drafter.law`."""
        return one_hot(self.token, self.vocab_size)

    def rewind(self, length: int) -> None:
        """See `Drafter.rewind`: it remembers nothing."""

    def fresh(self) -> Self:
        """See `Drafter.fresh`."""
        return self


@dataclass(frozen=True)
class LeastLikely:
    """See `Drafter`: the token that the target itself finds least likely.

    Args:
        model: the target, or another reading of it; it has read nothing.
    """

    model: Model

    def law(self, context: Tokens) -> Probs | None:
        """See `Drafter.law`."""
        if not 0 < len(context) <= self.model.context_limit:
            return None
        self.rewind(len(context) - 1)
        rows = self.model.extend(context[self.model.length :], rows=1)
        return one_hot(least_likely(rows), self.model.vocab_size)

    def rewind(self, length: int) -> None:
        """See `Drafter.rewind`."""
        self.model.rewind(min(length, self.model.length))

    def fresh(self) -> Self:
        """See `Drafter.fresh`."""
        return type(self)(self.model.fresh())


def least_likely(rows: Array) -> int:
    """Return the token of the lowest score in the last of the rows (n, V)."""
    return int(array_namespace(rows).argmin(rows[-1, :]))
