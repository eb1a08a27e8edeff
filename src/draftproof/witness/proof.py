"""A statement about a rule, proven or refuted for all laws. In: a statement, a solver. Out: how far the proof came.

It must never hold a formula of a rule, nor believe a solver that it can check: a counterexample is a pair of laws in
Fractions on which the statement was run again.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from draftproof.types import Probs
from draftproof.witness.paths import Claim, Found, Paths, Solver, claim
from draftproof.witness.polynomial import Polynomial, constant
from draftproof.witness.statements import Pair, Statement
from draftproof.witness.symbolic import Quotient, entries, laws, laws_at

__all__ = ["Counterexample", "Proof", "SolverOf", "prove"]

SolverOf: TypeAlias = Callable[[int, Sequence[Claim]], Solver]
"""From how many unknowns there are, and what is assumed of them, to a solver."""


class Counterexample(NamedTuple):
    """Laws (K + 1, V) and (K, V) of Fractions on which a statement fails, and the pair that differs most there."""

    target: Probs
    draft: Probs
    emitted: Fraction | None
    """None if the rule divides by zero."""
    wanted: Fraction | None

    @property
    def deviation(self) -> float:
        """How far the two are from each other; infinite if the rule divides by zero."""
        return float("inf") if self.emitted is None or self.wanted is None else float(abs(self.emitted - self.wanted))


class Proof(NamedTuple):
    """How far it came: proven if there is neither a counterexample nor a doubt, and something was compared."""

    paths: int
    compared: int
    """Pairs that were not one and the same number from the start."""
    counterexample: Counterexample | None = None
    doubt: str | None = None


def prove(
    statement: Statement,
    depth: int,
    vocab_size: int,
    solver_of: SolverOf,
    positive: Iterable[Polynomial],
    most_paths: int,
) -> Proof:
    """Prove or refute a statement for all laws.

    Args:
        statement: what is to be proven.
        depth: K; the laws are rows 0 to K of the target, numbered first, and K rows of the draft.
        vocab_size: V.
        solver_of: makes the solver.
        positive: which `entries` are assumed not to be zero.
        most_paths: where to give up.
    """
    rows = range(depth + 1), range(depth + 1, 2 * depth + 1)
    assumed = _assumed(2 * depth + 1, vocab_size, positive)
    paths = Paths(solver_of((2 * depth + 1) * (vocab_size - 1), assumed), assumed)
    count, compared, doubt = 0, 0, None
    for pairs in paths.of(lambda decide: _outcome(statement, *(laws(some, vocab_size, decide) for some in rows))):
        if count == most_paths:
            return Proof(count, compared, doubt=f"gave up after {most_paths} paths")
        count += 1
        compared += 1 if pairs is None else sum(emitted is not wanted for emitted, wanted in pairs)
        found = _difference(paths, pairs)
        if found.point and (
            refuted := _refutation(statement, *(laws_at(found.point, some, vocab_size) for some in rows))
        ):
            return Proof(count, compared, refuted)
        if found.possible is not False:
            doubt = f"path {count}: the solver found no rational point, nor that there is none"
    return Proof(count, compared, doubt=doubt)


def _assumed(rows: int, vocab_size: int, positive: Iterable[Polynomial]) -> list[Claim]:
    signs = dict(claim(entry, 0, 1) for row in range(rows) for entry in entries(row, vocab_size))
    signs.update(claim(entry, 1) for entry in positive)
    return [Claim(*item) for item in signs.items()]


def _outcome(statement: Statement, target: Probs, draft: Probs) -> list[Pair] | None:
    """Return what the statement compares; None if it divides by zero."""
    try:
        return statement(target, draft)
    except ZeroDivisionError:
        return None


def _difference(paths: Paths, pairs: list[Pair] | None) -> Found:
    """Return whether any pair can differ on the current path; None, a division by zero, does."""
    if pairs is None:
        return paths.solver.find(())
    gaps = [emitted - wanted for emitted, wanted in pairs if emitted is not wanted]
    claims = {claim(gap.above if isinstance(gap, Quotient) else constant(gap), -1, 1) for gap in gaps}
    unsettled = [one for one in claims if not paths.denied(one)]
    return paths.solver.find(unsettled) if unsettled else Found(possible=False)


def _refutation(statement: Statement, target: Probs, draft: Probs) -> Counterexample | None:
    """Run the statement on Fractions; return the pair that differs most, or None if all agree."""
    if (pairs := _outcome(statement, target, draft)) is None:
        return Counterexample(target, draft, None, None)
    emitted, wanted = max(pairs, key=lambda pair: abs(pair[0] - pair[1]))
    return None if emitted == wanted else Counterexample(target, draft, emitted, wanted)
