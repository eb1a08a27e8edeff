"""The arithmetic and the paths that a proof stands on, checked against Fractions and against paths counted by hand."""

import operator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import needs
from draftproof.rules.token import TokenRule
from draftproof.witness.paths import Found, Paths, claim
from draftproof.witness.polynomial import Polynomial, constant, unknown
from draftproof.witness.proof import prove
from draftproof.witness.smt import Z3
from draftproof.witness.statements import chain_identity
from draftproof.witness.symbolic import Quotient, laws, laws_at

needs("z3")

UNKNOWNS = 3
numbers = st.fractions(-3, 3, max_denominator=4)
points = st.tuples(*[numbers] * UNKNOWNS)
monomials = st.lists(st.integers(0, UNKNOWNS - 1), max_size=3).map(lambda found: tuple(sorted(found)))
polynomials = st.dictionaries(monomials, numbers.filter(bool), max_size=4).map(Polynomial)


def deciding_at(point):
    return lambda polynomial: polynomial.at(point) > 0


@st.composite
def quotients(draw, point):
    below = draw(polynomials)
    below += constant(max(0, 1 - below.at(point)))  # which makes it positive there
    return Quotient(draw(polynomials), below, deciding_at(point))


def value(quotient, point):
    return quotient.above.at(point) / quotient.below.at(point)


@given(polynomials, polynomials, points)
def test_a_polynomial_computes_as_its_value_does(one, other, point):
    assert (one + other).at(point) == one.at(point) + other.at(point)
    assert (one * other).at(point) == one.at(point) * other.at(point)
    assert (-one).at(point) == -one.at(point)


@given(polynomials, polynomials.filter(lambda found: found.terms))
def test_a_product_can_be_divided_again(one, other):
    assert (one * other).over(other) == one


def test_what_does_not_divide_is_not_divided():
    assert (unknown(0) * unknown(0) + constant(1)).over(unknown(0) + constant(1)) is None


@given(polynomials.filter(lambda found: found.terms), st.fractions(Fraction(1, 4), 4), points)
def test_all_multiples_share_a_direction(one, factor, point):
    like, same = one.direction
    assert one.scaled(factor).direction == (like, same)
    assert one.scaled(-factor).direction == (like, not same)
    assert (like.at(point) > 0) == ((one.at(point) > 0) if same else (one.at(point) < 0))


@given(st.data(), points)
def test_a_quotient_computes_and_compares_as_its_value_does(data, point):
    one, other = data.draw(quotients(point)), data.draw(quotients(point))
    a, b = value(one, point), value(other, point)
    for act in (operator.add, operator.sub, operator.mul, *([operator.truediv] if b else [])):
        assert value(act(one, other), point) == act(a, b)
    for question in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
        assert question(one, other) == question(a, b)
        assert question(one, 1) == question(a, 1)
        assert question(0.5, one) == question(0.5, a)
    assert (one < float("inf"), one > float("-inf"), one > float("inf")) == (True, True, False)
    assert value(abs(one), point) == abs(a)
    assert value((1 - one) ** 2, point) == (1 - a) ** 2


def test_a_division_by_zero_is_not_passed_over():
    zero = Quotient(unknown(0), constant(1), deciding_at([Fraction(0)]))
    with pytest.raises(ZeroDivisionError):
        1 / zero


def test_a_formula_cannot_turn_into_a_float():
    with pytest.raises(TypeError):
        float(laws(range(1), 2, None)[0, 0])


@given(points)
def test_the_laws_at_a_point_are_the_laws_there(point):
    symbolic = laws(range(1, 2), UNKNOWNS - 1, None)
    assert [entry.above.at(point) for entry in symbolic[0]] == list(laws_at(point, range(1, 2), UNKNOWNS - 1)[0])
    assert sum(laws_at(point, range(1), UNKNOWNS)[0]) == 1


def outcomes(program, vocab_size=2):
    """Return what `program` makes of a law (V,), on every path."""
    entries = [entry.above for entry in laws(range(1), vocab_size, None)[0]]
    assumed = [claim(entry, 0, 1) for entry in entries]
    paths = Paths(Z3(vocab_size - 1, assumed), assumed)
    return list(paths.of(lambda decide: program(laws(range(1), vocab_size, decide)[0])))


def test_both_answers_are_followed_and_impossible_ones_are_not():
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    assert sorted(outcomes(lambda p: (p[0] > half, p[0] > quarter))) == [(False, False), (False, True), (True, True)]


def test_what_is_known_is_not_asked_again():
    assert outcomes(lambda p: (p[0] >= 0, p[1] <= 1, p[0] + p[1] == 1)) == [(True, True, True)]
    assert outcomes(lambda p: (p[0] > p[1], p[1] < p[0], 2 * p[0] > 2 * p[1])) in (
        [(True,) * 3, (False,) * 3],
        [(False,) * 3, (True,) * 3],
    )


def test_a_path_can_be_a_single_point():
    assert sorted(outcomes(lambda p: (p[0] >= p[1], p[1] >= p[0]))) == [(False, True), (True, False), (True, True)]


def test_numpy_takes_every_order_of_three_numbers():
    orders = outcomes(lambda p: tuple(np.argsort(p, kind="stable").tolist()), vocab_size=3)
    assert len(set(orders)) == 6


def test_a_point_that_is_irrational_is_possible_but_not_returned():
    square = unknown(0) * unknown(0) + constant(Fraction(-1, 2))
    assert Z3(1, [claim(unknown(0), 1)]).find([claim(square, 0)]) == Found(possible=True, point=None)
    assert Z3(1, [claim(unknown(0), -1)]).find([claim(unknown(0), 0, 1)]) == Found(possible=False)


class KnowsNothing:
    """A solver that never knows."""

    def __init__(self, unknowns, assumed):
        pass

    def push(self, one):
        pass

    def pop(self):
        pass

    def find(self, some):
        return Found(possible=None)


def test_what_a_solver_does_not_know_is_a_doubt():
    lossy = TokenRule(residual=lambda p, q: p)
    proof = prove(chain_identity(lossy, (0,)), 1, 2, KnowsNothing, [], 100)
    assert proof.counterexample is None
    assert proof.doubt
