"""Polynomials with rational coefficients, in one normal form. In: numbers and unknowns. Out: sums, products, quotients.

It must never know what the unknowns stand for.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from math import gcd, lcm
from typing import TypeAlias

__all__ = ["Monomial", "Polynomial", "constant", "unknown"]

Monomial: TypeAlias = tuple[int, ...]
"""The numbers of the unknowns that are multiplied, sorted, each as often as its power: x0 x2^2 is (0, 2, 2)."""
Rational: TypeAlias = Fraction | int
"""Whole numbers stay `int`, which is several times as fast."""
remembered = lru_cache(2**16)
"""Replaying a program computes the same again and again."""


class Polynomial:
    """A sum of monomials; two are equal if and only if their terms are.

    Args:
        terms: the coefficient of each monomial, none of them zero.
    """

    def __init__(self, terms: Mapping[Monomial, Rational]) -> None:
        self.terms = terms

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(frozenset(self.terms.items()))

    @property
    def value(self) -> Rational | None:
        """The number that it is; None if there is an unknown in it."""
        return None if any(self.terms) else self.terms.get((), 0)

    @remembered
    def __add__(self, other: "Polynomial") -> "Polynomial":
        terms = dict(self.terms)
        for monomial, factor in other.terms.items():
            terms[monomial] = terms.get(monomial, 0) + factor
        return _without_zeros(terms)

    @remembered
    def __neg__(self) -> "Polynomial":
        return self.scaled(-1)

    @remembered
    def __mul__(self, other: "Polynomial") -> "Polynomial":
        terms: dict[Monomial, Rational] = {}
        for one, factor in self.terms.items():
            for two, other_factor in other.terms.items():
                monomial = tuple(sorted(one + two)) if one and two else one or two
                terms[monomial] = terms.get(monomial, 0) + factor * other_factor
        return _without_zeros(terms)

    def scaled(self, factor: Rational) -> "Polynomial":
        """Return it times a number other than zero."""
        return Polynomial({monomial: factor * value for monomial, value in self.terms.items()})

    @cached_property
    def direction(self) -> tuple["Polynomial", bool]:
        """One polynomial for all multiples of this one, in whole numbers, and whether it is a positive multiple."""
        if not self.terms:
            return self, True
        same = self.terms[max(self.terms)] > 0
        whole = lcm(*(factor.denominator for factor in self.terms.values())) * (1 if same else -1)
        factors = [int(factor * whole) for factor in self.terms.values()]
        common = gcd(*factors)
        terms = {monomial: factor // common for monomial, factor in zip(self.terms, factors, strict=True)}
        return Polynomial(terms), same

    @remembered
    def over(self, divisor: "Polynomial") -> "Polynomial | None":
        """Return self / divisor if that is a polynomial, otherwise None; the divisor is not zero."""
        lead = max(divisor.terms, key=_rank)
        rest, found = self, constant(0)
        while rest.terms:
            highest = max(rest.terms, key=_rank)
            if (monomial := _quotient(highest, lead)) is None:
                return None
            step = Polynomial({monomial: _ratio(rest.terms[highest], divisor.terms[lead])})
            found, rest = found + step, rest + -(step * divisor)
        return found

    def at(self, point: Sequence[Fraction]) -> Fraction:
        """Return its value where unknown i is point[i]."""
        total = Fraction(0)
        for monomial, factor in self.terms.items():
            product = Fraction(factor)
            for number in monomial:
                product *= point[number]
            total += product
        return total


def constant(value: Rational) -> Polynomial:
    """Return a number as a polynomial."""
    return Polynomial({(): value} if value else {})


def unknown(number: int) -> Polynomial:
    """Return the unknown that has this number.

    >>> square = (unknown(0) + constant(1)) * (unknown(0) + constant(1))
    >>> square.terms
    {(0, 0): 1, (0,): 2, (): 1}
    >>> square.over(unknown(0) + constant(1)).terms
    {(0,): 1, (): 1}
    """
    return Polynomial({(number,): 1})


def _without_zeros(terms: dict[Monomial, Rational]) -> Polynomial:
    return Polynomial({monomial: factor for monomial, factor in terms.items() if factor})


def _rank(monomial: Monomial) -> tuple[int, Monomial]:
    """Return what monomials are ordered by; division needs an order that products keep."""
    return len(monomial), tuple(-number for number in monomial)


def _quotient(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    rest = list(monomial)
    for number in divisor:
        if number not in rest:
            return None
        rest.remove(number)
    return tuple(rest)


def _ratio(above: Rational, below: Rational) -> Rational:
    ratio = Fraction(above) / below
    return ratio.numerator if ratio.denominator == 1 else ratio
