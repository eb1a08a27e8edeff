"""What every drafter promises. In: the text so far. Out: the law it proposes. It must never draw a token itself."""

from typing import Protocol, Self

import numpy as np

from draftproof.types import Probs, TokenId, Tokens

__all__ = ["Drafter", "one_hot"]


class Drafter(Protocol):
    """Proposes laws. What it returns is what the engine draws from, so no q can differ from the law of the draw."""

    def law(self, context: Tokens) -> Probs | None:
        """Return (V,), the law proposed for the token after `context`, or None to propose nothing here.

        It depends on the context alone. Between two calls `context` only grows, except after `rewind`; so a drafter
        reads what is new and no more. The list lives during the call only: what is needed of it later is copied.
        """
        ...

    def rewind(self, length: int) -> None:
        """Forget everything after the first `length` tokens of the context (fewer may have been read)."""
        ...

    def fresh(self) -> Self:
        """Return the same drafter with nothing read."""
        ...


def one_hot(token: TokenId, vocab_size: int) -> Probs | None:
    """Return (V,) whole numbers, 1 at `token`: a law in floats and in Fractions alike. None if there is no such token.

    >>> one_hot(1, 3)
    array([0, 1, 0])
    """
    if token >= vocab_size:
        return None
    law = np.zeros(vocab_size, dtype=np.int64)
    law[token] = 1
    return law
