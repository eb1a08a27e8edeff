"""The drafter that asks others in turn. In: a context. Out: the law of the first of them that proposes one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from draftproof.drafters.base import Drafter
from draftproof.types import Probs, Tokens

__all__ = ["ChainDrafter"]


@dataclass(frozen=True)
class ChainDrafter:
    """Propose what the first of `members` proposes that proposes anything.

    A member that was not asked reads what it missed when it is.
    """

    members: Sequence[Drafter]

    def law(self, context: Tokens) -> Probs | None:
        """Return (V,), or None where none proposes anything."""
        return next((law for member in self.members if (law := member.law(context)) is not None), None)

    def rewind(self, length: int) -> None:
        """See `Drafter.rewind`: all of them forget."""
        for member in self.members:
            member.rewind(length)

    def fresh(self) -> Self:
        """See `Drafter.fresh`."""
        return type(self)(tuple(member.fresh() for member in self.members))
