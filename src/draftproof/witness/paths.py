"""Every path of a program through its comparisons: at each, both answers are followed, unless one is impossible.

In: a program that asks whether polynomials are positive, and a solver that knows what is possible. Out: the outcome of
each path, all of which together are all cases. It must never know the program, nor how the solver solves.
"""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple, Protocol, TypeVar

from draftproof.witness.polynomial import Polynomial
from draftproof.witness.symbolic import Decide

__all__ = ["Claim", "Found", "Paths", "Point", "Solver", "claim"]

Outcome = TypeVar("Outcome")
Point = tuple[Fraction, ...]
"""A value for every unknown."""
Signs = frozenset[int]
ANY = frozenset((-1, 0, 1))


class Claim(NamedTuple):
    """That a polynomial, a `direction`, has one of these signs: -1, 0, 1."""

    polynomial: Polynomial
    signs: Signs


def claim(polynomial: Polynomial, *signs: int) -> Claim:
    """Return the claim that any polynomial has one of these signs."""
    like, same = polynomial.direction
    return Claim(like, frozenset(sign if same else -sign for sign in signs))


class Found(NamedTuple):
    """What a solver says."""

    possible: bool | None
    """None if it cannot say."""
    point: Point | None = None
    """Where it is so; None if it is not, or if the solver knows no rational point of reasonable size."""


class Solver(Protocol):
    """Knows what a stack of claims allows."""

    def push(self, one: Claim) -> None:
        """Claim one more."""
        ...

    def pop(self) -> None:
        """Take the last claim back."""
        ...

    def find(self, some: Iterable[Claim]) -> Found:
        """Return whether one of some more claims can be true; of none, whether those on the stack can."""
        ...


class _Step(NamedTuple):
    """An answer, and the other one where it is possible and was not followed yet."""

    answer: Claim
    other: tuple[Claim, Point | None] | None
    pushed: bool


class _ImpossibleError(Exception):
    """A path on which the solver, once unsure, now sees that it cannot be."""


class Paths:
    """The paths of a program, in depth-first order.

    Args:
        solver: holds what is assumed, and from then on the answers of the current path.
        assumed: the same assumptions, so that the solver need not be asked about them.
    """

    def __init__(self, solver: Solver, assumed: Iterable[Claim]) -> None:
        self.solver, self._assumed = solver, dict(assumed)
        self.point = solver.find(()).point
        """Somewhere on the current path; None where the solver knows no rational point."""
        self._steps: list[_Step] = []
        self._taken = 0
        self._signs: dict[Polynomial, Signs] = {}

    def of(self, program: Callable[[Decide], Outcome]) -> Iterator[Outcome]:
        """Yield the outcome of every path; while one is looked at, `solver` and `point` are about it."""
        while True:
            self._taken, self._signs = 0, dict(self._assumed)
            try:
                outcome = program(self._decide)
            except _ImpossibleError:
                pass
            else:
                yield outcome
            if not self._turn():
                return

    def denied(self, one: Claim) -> bool:
        """Return whether a claim is false by the answers on the current path, without asking the solver."""
        value = one.polynomial.value
        known = self._signs.get(one.polynomial, ANY) if value is None else {_sign(value)}
        return not one.signs & known

    def _decide(self, polynomial: Polynomial) -> bool:
        """Answer whether a polynomial is positive: by what is known on this path, or else both ways in turn."""
        if (value := polynomial.value) is not None:
            return value > 0
        like, positive = claim(polynomial, 1)
        known = self._signs.get(like, ANY)
        yes, no = known & positive, known - positive
        if not (yes and no):
            return bool(yes)
        if self._taken == len(self._steps):
            self._steps.append(self._step(Claim(like, yes), Claim(like, no)))
        answer = self._steps[self._taken].answer
        self._taken += 1
        self._signs[like] = answer.signs
        return answer.signs <= positive

    def _step(self, *answers: Claim) -> _Step:
        possible: list[tuple[Claim, Point | None]] = []
        for answer in answers:
            if self.point is not None and _sign(answer.polynomial.at(self.point)) in answer.signs:
                possible.append((answer, self.point))
            elif (found := self.solver.find([answer])).possible is not False:
                possible.append((answer, found.point))
        if not possible:
            raise _ImpossibleError
        answer, self.point = possible[0]
        if len(possible) == 1:
            return _Step(answer, None, pushed=False)
        self.solver.push(answer)
        return _Step(answer, possible[1], pushed=True)

    def _turn(self) -> bool:
        """Go back to the last answer whose other side was not followed yet; return whether there is one."""
        while self._steps:
            step = self._steps.pop()
            if step.pushed:
                self.solver.pop()
            if step.other is not None:
                answer, self.point = step.other
                self.solver.push(answer)
                self._steps.append(_Step(answer, None, pushed=True))
                return True
        return False


def _sign(value: Fraction | int) -> int:
    return (value > 0) - (value < 0)
