"""Uniforms that are unknown: each comparison splits them, and a program is replayed over every path of splits.

In: any program that takes a `Noise`. Out: its exact law, in Fractions. It must never know the program: the shipped
rules and the shipped decode loop run through it unchanged.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from draftproof.errors import DraftproofError
from draftproof.types import Array, Purpose, Uniform
from draftproof.witness.simplex import Contestant, Race

__all__ = ["ForkingNoise", "TooManyPathsError", "exact_law"]

Outcome = TypeVar("Outcome", bound=Hashable)
ONE = Fraction(1)


class ForkingNoise:
    """A `Noise` whose uniforms are undecided. One address is one unknown, so using it twice is seen as such."""

    def __init__(self, decisions: list[bool], one: Fraction | float = ONE) -> None:
        self.one = one
        self.decisions = decisions
        """Which side each split takes: given for the first splits, then appended, "below" first."""
        self.taken = 0
        self.probability = one
        self._unknowns: dict[tuple[int, int, int], _Unknown] = {}
        self._races: dict[int, Race] = {}

    def uniforms(self, purpose: Purpose, start: int, count: int, first: int = 0) -> Uniform:
        """See `Noise.uniforms`: an object array of unknowns."""
        found = np.empty(count, dtype=object)
        for i in range(count):
            unknown = self._unknowns.setdefault((purpose, start, first + i), _Unknown(self))
            found[i] = _Scaled(unknown, self.one)
        return found

    def exponentials(self, position: int, vocab_size: int) -> Array:
        """See `Noise.exponentials`: an object array of finishing times of which only the order can be asked."""
        race = self._races.setdefault(position, Race(vocab_size, self.split))
        found = np.empty(vocab_size, dtype=object)
        found[:] = [Contestant(race, token) for token in range(vocab_size)]
        return found

    def split(self, below: Fraction | float) -> bool:
        """Take the next decision of a split whose lower side has probability `below`; True is the lower side."""
        if self.taken == len(self.decisions):
            self.decisions.append(True)
        lower = self.decisions[self.taken]
        self.taken += 1
        self.probability *= below if lower else 1 - below
        return lower


class TooManyPathsError(DraftproofError):
    """The program has more paths than were allowed."""


def exact_law(
    program: Callable[[ForkingNoise], Outcome], most_paths: int | None = None, one: Fraction | float = ONE
) -> dict[Outcome, Fraction]:
    """Return the exact probability of every outcome of `program`, over all values of its uniforms.

    Args:
        program: is run once for each path of splits.
        most_paths: where to give up; never if not given.
        one: 1 in the arithmetic of the program. With 1.0 chances are floats, and exact to rounding only.

    Raises:
        TooManyPathsError: if it gave up.
    """
    paths = 0
    law: defaultdict[Outcome, Any] = defaultdict(type(one))
    decisions: list[bool] = []
    while True:
        paths += 1
        if most_paths is not None and paths > most_paths:
            raise TooManyPathsError(f"more than {most_paths} paths of random numbers")
        noise = ForkingNoise(decisions, one)
        law[program(noise)] += noise.probability
        while decisions and not decisions[-1]:
            decisions.pop()
        if not decisions:
            return dict(law)
        decisions[-1] = False


class _Unknown:
    """A number known to lie in [low, high), uniform there."""

    def __init__(self, noise: ForkingNoise) -> None:
        self.noise, self.low, self.high = noise, noise.one * 0, noise.one

    def is_below(self, bound: Fraction | float) -> bool:
        if bound >= self.high:
            return True
        if bound <= self.low:
            return False
        lower = self.noise.split((bound - self.low) / (self.high - self.low))
        self.low, self.high = (self.low, bound) if lower else (bound, self.high)
        return lower


class _Scaled:
    """scale * unknown, scale >= 0: what a rule makes of a uniform before it compares it with a number."""

    def __init__(self, unknown: _Unknown, scale: Any) -> None:
        self.unknown, self.scale = unknown, scale

    def __mul__(self, factor: Any) -> "_Scaled":
        return _Scaled(self.unknown, self.scale * factor)

    __rmul__ = __mul__

    def __lt__(self, other: Any) -> bool:
        if self.scale == 0:
            return other > 0
        exact = isinstance(other, float) and not isinstance(self.scale, float)
        bound = Fraction(other) if exact else other  # a formula must stay one: see symbolic.py
        return self.unknown.is_below(bound / self.scale)

    def __ge__(self, other: Any) -> bool:
        return not self < other
