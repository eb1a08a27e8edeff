"""Numbers that are formulas: quotients of polynomials, with which a rule computes as it does with Fractions.

In: unknowns, and somebody who decides whether a polynomial is positive. Out: exact sums, products, quotients, and the
answers to comparisons. It must never decide a comparison itself.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isinf
from typing import Any, ClassVar, TypeAlias

import numpy as np

from draftproof.types import Array, Probs
from draftproof.witness.polynomial import Polynomial, constant, unknown

__all__ = ["Decide", "Quotient", "entries", "laws", "laws_at"]

Decide: TypeAlias = Callable[[Polynomial], bool]
"""Whether a polynomial is positive."""
ONE, ZERO = constant(1), constant(0)


def entries(row: int, vocab_size: int) -> list[Polynomial]:
    """Return the V entries of a law of which nothing is known: V - 1 unknowns, and 1 - their sum."""
    first = [unknown(row * (vocab_size - 1) + i) for i in range(vocab_size - 1)]
    return [*first, sum((-entry for entry in first), ONE)]


def laws(rows: range, vocab_size: int, decide: Decide) -> Probs:
    """Return the laws (len(rows), V) that have these numbers."""
    return _array([[Quotient(entry, ONE, decide) for entry in entries(row, vocab_size)] for row in rows], vocab_size)


def laws_at(point: Sequence[Fraction], rows: range, vocab_size: int) -> Probs:
    """Return the same laws in Fractions, where unknown i is point[i]."""
    return _array([[entry.at(point) for entry in entries(row, vocab_size)] for row in rows], vocab_size)


class Quotient:
    """above / below. Who divides asks whether the divisor is positive, or negative; a zero raises ZeroDivisionError.

    Args:
        above: any polynomial.
        below: a polynomial that is positive.
        decide: answers each comparison.
    """

    __slots__ = ("above", "below", "decide")
    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride]  equal on one path only

    def __init__(self, above: Polynomial, below: Polynomial, decide: Decide) -> None:
        self.above, self.below, self.decide = above, below, decide

    def __add__(self, other: Any) -> "Quotient":
        if (number := self._read(other)) is None:
            return NotImplemented
        if self.below == number.below:
            return self._made(self.above + number.above, self.below)
        return self._made(self.above * number.below + number.above * self.below, self.below * number.below)

    __radd__ = __add__

    def __neg__(self) -> "Quotient":
        return Quotient(-self.above, self.below, self.decide)

    def __sub__(self, other: Any) -> "Quotient":
        number = self._read(other)
        return NotImplemented if number is None else self + -number

    def __rsub__(self, other: Any) -> "Quotient":
        return -self + other

    def __mul__(self, other: Any) -> "Quotient":
        if (number := self._read(other)) is None:
            return NotImplemented
        one, two = self._made(self.above, number.below), self._made(number.above, self.below)
        return Quotient(one.above * two.above, one.below * two.below, self.decide)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Quotient":
        number = self._read(other)
        return NotImplemented if number is None else self * number.inverse()

    def __rtruediv__(self, other: Any) -> "Quotient":
        return self.inverse() * other

    def __pow__(self, power: int) -> "Quotient":
        result = Quotient(ONE, ONE, self.decide)
        for _ in range(power):
            result *= self
        return result

    def __abs__(self) -> "Quotient":
        return -self if self < 0 else self

    def __gt__(self, other: Any) -> bool:
        number = self._read(other)
        return NotImplemented if number is None else self.exceeds(number)

    def __lt__(self, other: Any) -> bool:
        number = self._read(other)
        return NotImplemented if number is None else number.exceeds(self)

    def __ge__(self, other: Any) -> bool:
        number = self._read(other)
        return NotImplemented if number is None else not number.exceeds(self)

    def __le__(self, other: Any) -> bool:
        number = self._read(other)
        return NotImplemented if number is None else not self.exceeds(number)

    def __eq__(self, other: object) -> bool:
        number = self._read(other)
        return NotImplemented if number is None else not (self.exceeds(number) or number.exceeds(self))

    def __bool__(self) -> bool:
        return self != 0

    def exceeds(self, other: "Quotient") -> bool:
        """Ask whether it is larger."""
        return self.decide((self - other).above)

    def inverse(self) -> "Quotient":
        """Return 1 / itself."""
        if self.decide(self.above):
            return Quotient(self.below, self.above, self.decide)
        if self.decide(-self.above):
            return Quotient(-self.below, -self.above, self.decide)
        raise ZeroDivisionError("the divisor is zero")

    def _read(self, other: Any) -> "Quotient | None":
        """Return a number as a quotient; None for what is none, such as a uniform of the forking kind."""
        if isinstance(other, Quotient):
            return other
        if isinstance(other, (float, np.floating)):
            if isinf(other):
                return Quotient(constant(1 if other > 0 else -1), ZERO, self.decide)  # good for comparisons only
            return Quotient(constant(Fraction(float(other))), ONE, self.decide)
        if isinstance(other, (int, np.integer, Fraction)):
            return Quotient(constant(other if isinstance(other, Fraction) else int(other)), ONE, self.decide)
        return None

    def _made(self, above: Polynomial, below: Polynomial) -> "Quotient":
        """Return above / below, without the divisor where it divides."""
        whole = above if below is ONE else above.over(below) if below.terms else None
        return Quotient(above, below, self.decide) if whole is None else Quotient(whole, ONE, self.decide)


def _array(rows: list[list[Any]], vocab_size: int) -> Array:
    found = np.empty((len(rows), vocab_size), dtype=object)
    for i, row in enumerate(rows):
        found[i, :] = row
    return found
