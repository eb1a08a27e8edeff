"""How far drafts get, learnt from pass to pass: position by position, because acceptance is not i.i.d., and forgetting.

In: how many tokens in a row each pass was to draft, drafted and kept. Out: estimates for the next. It knows no time.
"""

from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Acceptance", "Position"]

REMEMBERED = 0.97
"""What is left of an observation after each further pass: texts change, so that the last 30 passes count."""
REMEMBERED_PLAINLY = 0.993
"""What is left of it after each pass of plain decoding: it teaches nothing, and bad luck must not last for ever."""
EXPECTED = 0.8
"""The acceptance of a first token before anything is known. Too high costs a few rejected drafts, once; too low costs
whoever waits for the first try."""
TRUST = 2.0
"""So many passes weigh as much as what was expected of a position."""
HOPE = 0.5
"""A position that was not reached lately is expected to be like the one before, but not worse than this: a drafter that
repeats a text errs most at its first token, and nobody would find out."""


class Position(NamedTuple):
    """What to expect of a position, given that the ones before were drafted and kept.

    Args:
        drafted: the probability that the drafter proposes a token.
        kept: the probability that this token is kept.
    """

    drafted: float
    kept: float


class Acceptance:
    """Estimates for positions 1 to `most` of a block."""

    def __init__(self, most: int) -> None:
        self._asked, self._drafted, self._tested, self._kept = ([0.0] * most for _ in range(4))

    def add(self, wanted: int, drafted: int, kept: int) -> None:
        """Take in a pass that was to draft `wanted` tokens, 1 or more.

        A pass without a draft says nothing about what is kept, so that it leaves those memories alone.
        """
        _note(self._asked, self._drafted, min(wanted, drafted + 1), drafted)
        if drafted:
            _note(self._tested, self._kept, min(drafted, kept + 1), kept)

    def age(self) -> None:
        """Forget a little, because the text goes on."""
        for sums in (self._tested, self._kept):
            sums[:] = [REMEMBERED_PLAINLY * value for value in sums]

    def positions(self) -> Iterator[Position]:
        """Yield what to expect of each position."""
        chance = EXPECTED
        for asked, drafted, tested, kept in zip(self._asked, self._drafted, self._tested, self._kept, strict=True):
            chance = (kept + TRUST * max(chance, HOPE)) / (tested + TRUST)
            yield Position((drafted + 1) / (asked + 1), chance)


def _note(trials: list[float], successes: list[float], tried: int, succeeded: int) -> None:
    """Forget a little, then count trials at the first `tried` positions and successes at the first `succeeded`."""
    for i in range(len(trials)):
        trials[i] = REMEMBERED * trials[i] + (i < tried)
        successes[i] = REMEMBERED * successes[i] + (i < succeeded)
