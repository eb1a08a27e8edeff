"""The drafter that proposes nothing: speculation off. In: a context. Out: None."""

from dataclasses import dataclass
from typing import Self

from draftproof.types import Tokens

__all__ = ["NoDrafter"]


@dataclass(frozen=True)
class NoDrafter:
    """Propose nothing, so that every pass emits one token from the target's own row."""

    def law(self, context: Tokens) -> None:
        """Return None whatever the context."""

    def rewind(self, length: int) -> None:
        """Forget nothing: nothing was read."""

    def fresh(self) -> Self:
        """Return itself: it has no state."""
        return self
