"""Races of exponentials whose times are unknown: each question about who is first cuts the possible times in two.

In: comparisons of p(a) / E(a) with p(b) / E(b). Out: answers, each with its exact probability. Divided by their sum, n
independent exponentials are a uniform point of the simplex; such a comparison is a plane through it; so what is known
is a set of simplices, and every probability a ratio of their volumes: rational numbers only.
"""

from collections.abc import Callable
from fractions import Fraction

__all__ = ["Contestant", "Race"]

Corner = tuple[Fraction, ...]
Piece = tuple[Fraction, tuple[Corner, ...]]
"""A volume, as part of the whole simplex, and the n corners."""


class Race:
    """n exponentials of mean 1, known as far as questions were answered.

    Args:
        size: n.
        decide: chooses a side of a split, given the probability of the first.
    """

    def __init__(self, size: int, decide: Callable[[Fraction], bool]) -> None:
        corners = tuple(tuple(Fraction(int(i == j)) for j in range(size)) for i in range(size))
        self.pieces: list[Piece] = [(Fraction(1), corners)]
        self._decide = decide

    def is_ahead(self, one: int, weight: Fraction, other: int, other_weight: Fraction) -> bool:
        """Return whether weight / E(one) > other_weight / E(other); both weights are positive."""
        yes: list[Piece] = []
        no: list[Piece] = []
        for piece in self.pieces:
            _cut(piece, lambda corner: weight * corner[other] - other_weight * corner[one], yes, no)
        chance = sum((volume for volume, _ in yes), Fraction(0))
        total = chance + sum((volume for volume, _ in no), Fraction(0))
        if chance in (total, 0):
            return chance == total
        ahead = self._decide(chance / total)
        self.pieces = yes if ahead else no
        return ahead


class Contestant:
    """The unknown time E(token); a law divided by it is a `_Speed`, which can be compared with another."""

    def __init__(self, race: Race, token: int) -> None:
        self.race, self.token = race, token

    def __rtruediv__(self, weight: Fraction) -> "_Speed":
        return _Speed(self, Fraction(weight) if isinstance(weight, float) else weight)


class _Speed:
    """weight / E(token): the larger, the earlier."""

    def __init__(self, time: Contestant, weight: Fraction) -> None:
        self.time, self.weight = time, weight

    def __gt__(self, other: "_Speed") -> bool:
        if self.weight == 0 or other.weight == 0 or self.time.token == other.time.token:
            return self.weight > other.weight
        return self.time.race.is_ahead(self.time.token, self.weight, other.time.token, other.weight)

    def __lt__(self, other: "_Speed") -> bool:
        return other > self


def _cut(piece: Piece, side: Callable[[Corner], Fraction], yes: list[Piece], no: list[Piece]) -> None:
    """Sort a piece to where `side` is positive or negative, cutting it at an edge that crosses, as often as needed."""
    volume, corners = piece
    values = [side(corner) for corner in corners]
    above = next((i for i, value in enumerate(values) if value > 0), None)
    below = next((i for i, value in enumerate(values) if value < 0), None)
    if above is None or below is None:
        (no if above is None else yes).append(piece)
        return
    part = values[below] / (values[below] - values[above])
    middle = tuple(part * a + (1 - part) * b for a, b in zip(corners[above], corners[below], strict=True))
    for share, replaced in ((part, above), (1 - part, below)):
        corner_list = list(corners)
        corner_list[replaced] = middle
        _cut((volume * share, tuple(corner_list)), side, yes, no)
