"""What every drafter promises. In: the text so far. Out: the law it proposes. It must never draw a token itself."""

from typing import Protocol, Self

from draftproof.types import Probs, Tokens

__all__ = ["Drafter"]


class Drafter(Protocol):
    """Proposes laws. What it returns is what the engine draws from, so no q can differ from the law of the draw."""

    def law(self, context: Tokens) -> Probs | None:
        """Return (V,), the law proposed for the token after `context`, or None to propose nothing here.

        Between two calls `context` only grows, except after `rewind`.
        """
        ...

    def rewind(self, length: int) -> None:
        """Forget everything after the first `length` tokens of the context (fewer may have been read)."""
        ...

    def fresh(self) -> Self:
        """Return the same drafter with nothing read."""
        ...
