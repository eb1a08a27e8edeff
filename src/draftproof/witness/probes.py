"""Probes: greedy models whose next token depends on everything in the cache, so that a wrong cache shows at once.

In: nothing. Out: probes and a drafter that is right for a given number of positions. What lies in the cache is all a
probe knows: a rejected draft that stays, an entry too few or a state that is not taken back change its next token.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self

import numpy as np

from draftproof.types import Array, Tokens

__all__ = ["PROBES", "PROBE_PROMPT", "PROBE_VOCABULARY", "ProbeDrafter", "SweptLength", "one_hot", "plain_text"]

PROBE_VOCABULARY = 11
PROBE_PROMPT = (3, 1, 4)

Next = Callable[[Tokens], int]


def weighted_sum(context: Tokens) -> int:
    """Return the next token: each entry counts with its place."""
    return sum((place + 1) * token for place, token in enumerate(context)) % PROBE_VOCABULARY


def recurrence(context: Tokens) -> int:
    """Return the next token: the state of a recurrence that has read every entry in turn."""
    state = 0
    for token in context:
        state = (5 * state + token + 1) % 101
    return state % PROBE_VOCABULARY


def window(context: Tokens) -> int:
    """Return the next token: a weighted sum over the last four entries."""
    return weighted_sum(context[-4:])


PROBES: dict[str, Next] = {"sum probe": weighted_sum, "recurrent probe": recurrence, "window probe": window}


def one_hot(following: Next) -> Callable[[tuple[int, ...]], list[Fraction]]:
    """Return the law of a probe: all mass on its next token."""
    return lambda context: [Fraction(int(token == following(context))) for token in range(PROBE_VOCABULARY)]


def plain_text(following: Next, count: int) -> tuple[int, ...]:
    """Return the first `count` tokens after `PROBE_PROMPT`, from the definition."""
    text: list[int] = list(PROBE_PROMPT)
    for _ in range(count):
        text.append(following(text))
    return tuple(text[len(PROBE_PROMPT) :])


@dataclass
class ProbeDrafter:
    """Guesses right for the first `right` positions of a block, and then the token after the right one."""

    following: Next
    right: int
    drafted: int = field(default=0)

    def law(self, context: Tokens) -> Array:
        """See `Drafter.law`."""
        token = (self.following(context) + int(self.drafted >= self.right)) % PROBE_VOCABULARY
        self.drafted += 1
        return np.array([Fraction(int(token == other)) for other in range(PROBE_VOCABULARY)], dtype=object)

    def rewind(self, length: int) -> None:
        """See `Drafter.rewind`: the block is over."""
        self.drafted = 0

    def fresh(self) -> Self:
        """See `Drafter.fresh`."""
        return type(self)(self.following, self.right)


@dataclass(frozen=True)
class SweptLength:
    """Draft lengths that change from pass to pass, passes without a draft among them."""

    lengths: tuple[int, ...] = (3, 0, 1, 4, 0, 2)

    why = None

    def begin(self) -> Self:
        """See `DraftLength`."""
        return self

    def next(self, emitted: int) -> int:
        """See `Lengths`."""
        return self.lengths[emitted % len(self.lengths)]

    def learn(self, drafted: int, accepted: int) -> None:
        """See `Lengths`: nothing."""
