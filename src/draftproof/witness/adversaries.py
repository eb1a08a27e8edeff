"""Drafters that guess as badly as can be: whatever they propose, the text must be the target's own.

In: a target, or a token. Out: drafters. They make passes reject all drafts, or the last of some, which is where caches
go wrong.
"""

from dataclasses import dataclass, replace
from typing import Self

from draftproof.arrays import array_namespace
from draftproof.drafters.base import one_hot
from draftproof.models.base import Model
from draftproof.types import Array, Probs, Tokens
from draftproof.warpers.pipeline import Pipeline

__all__ = ["Misled", "Stubborn", "least_likely"]


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
class Misled:
    """See `Drafter`: the target's own law, and at every so many places the token that it finds least likely.

    Args:
        model: the target; it has read nothing.
        pipeline: the target's warpers.
        every: at places that this divides the guess is wrong; 1 is everywhere.
    """

    model: Model
    pipeline: Pipeline
    every: int = 1

    def law(self, context: Tokens) -> Probs | None:
        """See `Drafter.law`."""
        if not 0 < len(context) <= self.model.context_limit:
            return None
        self.rewind(len(context) - 1)
        rows = self.model.extend(context[self.model.length :], rows=1)
        law = self.pipeline.laws(rows, self.model.row_kind, [context])[0, ...]
        if len(context) % self.every == 0:
            law = array_namespace(law).zeros_like(law)
            law[least_likely(rows)] = 1
        return law

    def rewind(self, length: int) -> None:
        """See `Drafter.rewind`."""
        self.model.rewind(min(length, self.model.length))

    def fresh(self) -> Self:
        """See `Drafter.fresh`."""
        return replace(self, model=self.model.fresh())


def least_likely(rows: Array) -> int:
    """Return the token of the lowest score in the last of the rows (n, V)."""
    return int(array_namespace(rows).argmin(rows[-1, :]))
