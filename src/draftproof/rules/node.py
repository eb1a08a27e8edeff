"""What a rule for several drafts at one position promises. `tree.py` takes it down a tree, `multidraft.py` has members.

In: one target row, one draft row, the tokens drafted from it. Out: which of them stays, or the token that replaces all.
"""

from typing import NamedTuple, Protocol

from draftproof.arrays import array_namespace
from draftproof.rules.base import Place, normalised
from draftproof.types import Array, Probs, TokenId

__all__ = ["Choice", "NodeRule", "most_probable", "without"]


class Choice(NamedTuple):
    """What happens at one node."""

    kept: int | None
    """Which child stays, counted in the order of drafting; None if none does."""
    token: TokenId
    """The child's token, or the token that is emitted instead."""


class NodeRule(Protocol):
    """Chooses among k tokens drafted for one position so that the chosen or emitted token has law p."""

    def children(self, law: Probs, place: Place) -> list[int]:
        """Draw the tokens drafted at `place` from the law (V,)."""
        ...

    def choose(self, p: Probs, q: Probs, tokens: list[int], place: Place) -> Choice:
        """Return what stays of `tokens`, drawn by `children` from q (V,), where the target's row is p (V,)."""
        ...

    def bonus(self, p: Probs, place: Place) -> TokenId:
        """Return the token that follows where nothing was drafted, with law p (V,)."""
        ...

    def rounds(self, p: Probs, q: Probs, tokens: list[int]) -> list[tuple[Array, Array]]:
        """Return for each step of `choose` two (V,): what it emits by its parts, and what it must."""
        ...


def without(law: Probs, token: int) -> Array:
    """Return weights (V,): the law with one token taken out and the rest normalised; all zeros if nothing remains."""
    xp = array_namespace(law)
    rest = xp.where(xp.arange(law.shape[-1], device=law.device) == token, xp.zeros_like(law), law)
    return normalised(rest) if xp.sum(rest) > 0 else rest


def most_probable(law: Probs, count: int) -> list[int]:
    """Return up to `count` tokens of law (V,) that have mass, the most probable first, the lowest id among equals."""
    xp = array_namespace(law)
    order = xp.argsort(law, axis=-1, descending=True, stable=True)[:count]
    return [int(token) for token in order if law[int(token)] > 0]
