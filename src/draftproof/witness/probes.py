"""Probes as greedy tables (see `models/probes.py`), their right texts, and drafts that are right for so long.

In: nothing. Out: laws by context, a drafter, and draft lengths that change.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self

import numpy as np

from draftproof.models import probes
from draftproof.types import Array, Tokens

__all__ = ["PROBES", "PROBE_PROMPT", "PROBE_VOCABULARY", "ProbeDrafter", "SweptLength", "one_hot", "plain_text"]

PROBE_VOCABULARY = probes.VOCABULARY
PROBE_PROMPT = (3, 1, 4)

Next = Callable[[Tokens], int]

PROBES: dict[str, Next] = {
    "sum probe": probes.weighted_sum,
    "recurrent probe": probes.recurrence,
    "window probe": probes.window,
}


def one_hot(following: Next) -> Callable[[tuple[int, ...]], list[Fraction]]:
    """Return the law of a probe: all mass on its next token."""
    return lambda context: [*probes.one_hot(following(context))]


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
        return np.array(probes.one_hot(token), dtype=object)

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
