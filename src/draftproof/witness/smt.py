"""A proof for all laws at once: the shipped rule runs on formulas, and z3 settles every path of it.

In: a rule, the size of a vocabulary. Out: a finding: proven, or refuted by laws in Fractions on which the rule was run
again. It must never hold a formula of a rule. What is proven is about real numbers, so not about rounding, and trusts
z3 as well as `polynomial.py`: where two sides are the same polynomial on a path, z3 is not asked.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from draftproof.errors import MissingExtraError
from draftproof.records import Conclusion, Finding
from draftproof.rules.base import Rule
from draftproof.types import Probs
from draftproof.witness.paths import Claim, Found
from draftproof.witness.polynomial import Polynomial
from draftproof.witness.proof import Counterexample, Proof, prove
from draftproof.witness.statements import Statement, chain_identity, one_pass, tree_identity
from draftproof.witness.symbolic import entries

__all__ = ["Z3", "prove_identity", "prove_pass"]

EFFORT = 5_000_000
"""After so many of its own steps z3 counts as not knowing an answer: no clock, so it is the same everywhere."""
MOST_PATHS = 20_000
RELATIONS = {
    frozenset((1,)): "__gt__",
    frozenset((0,)): "__eq__",
    frozenset((-1,)): "__lt__",
    frozenset((0, 1)): "__ge__",
    frozenset((-1, 0)): "__le__",
    frozenset((-1, 1)): "__ne__",
}
"""What signs mean, as a comparison with zero."""


def prove_identity(
    rule: Rule, vocab_size: int, branching: tuple[int, ...] = (1,), most_paths: int = MOST_PATHS
) -> Finding:
    """Return whether `Rule.identity` holds for all laws, each row of a depth independent of all others.

    Args:
        rule: the shipped rule, or a tampered one.
        vocab_size: V.
        branching: how many tokens are drafted at each depth; K ones for a chain. A chain's tokens are any to which the
            draft gives mass; those of a tree any that the rule can draw.
        most_paths: where to give up.

    Raises:
        MissingExtraError: if z3 is not installed.
    """
    depth, proofs = len(branching), list[Proof]()
    for statement, positive in _identities(rule, vocab_size, branching):
        proofs.append(prove(statement, depth, vocab_size, Z3, positive, most_paths))
        if proofs[-1].counterexample:
            break
    return _finding(rule, "identity", vocab_size, branching, proofs)


def prove_pass(rule: Rule, vocab_size: int, branching: tuple[int, ...] = (1,), most_paths: int = MOST_PATHS) -> Finding:
    """Return whether a pass of the engine emits the target's law, for all laws at each depth: see `one_pass`.

    Drafting and `Rule.verify` themselves run, integrated over their random numbers, so this also decides about rules
    whose identity compares rows with themselves. It is slower: with one drafted token, two tokens of vocabulary take a
    second and three half a minute, so that larger ones are left to `prove_identity`, whose arguments and errors it has.
    """
    proof = prove(one_pass(rule, branching), len(branching), vocab_size, Z3, (), most_paths)
    return _finding(rule, "whole pass", vocab_size, branching, [proof])


class Z3:
    """z3 as a `Solver`: its incremental solver where all is linear, else its solver for polynomials.

    Args:
        unknowns: how many there are.
        assumed: what is claimed from the start.
    """

    def __init__(self, unknowns: int, assumed: Sequence[Claim]) -> None:
        try:
            import z3
        except ImportError as error:
            raise MissingExtraError("z3 is not installed; it comes with: pip install 'draftproof[proof]'") from error
        self._z3: Any = z3
        self._unknowns = [z3.Real(f"x{i}") for i in range(unknowns)]
        self._terms: dict[Polynomial, Any] = {}
        self._claims: list[Claim] = []
        self._linear = z3.Solver()
        self._others = z3.Then("simplify", "solve-eqs", "qfnra-nlsat")
        for one in assumed:
            self.push(one)

    def push(self, one: Claim) -> None:
        """See `Solver.push`."""
        self._claims.append(one)
        self._linear.push()
        if _is_linear(one):
            self._linear.add(self._formula(one))

    def pop(self) -> None:
        """See `Solver.pop`."""
        self._claims.pop()
        self._linear.pop()

    def find(self, some: Iterable[Claim]) -> Found:
        """See `Solver.find`."""
        asked = list(some)
        formulas = [self._z3.Or([self._formula(one) for one in asked])] if asked else []
        if all(map(_is_linear, [*asked, *self._claims])):
            return self._found(self._linear, formulas)
        other = self._others.solver()
        other.set("rlimit", EFFORT)
        return self._found(other, [*map(self._formula, self._claims), *formulas])

    def _found(self, solver: Any, formulas: list[Any]) -> Found:
        solver.push()
        solver.add(formulas)
        answer = solver.check()
        model = solver.model() if answer == self._z3.sat else None
        solver.pop()
        if model is None:
            return Found(False if answer == self._z3.unsat else None)
        values = [model.eval(one, model_completion=True) for one in self._unknowns]
        if not all(self._z3.is_rational_value(value) for value in values):
            return Found(possible=True)
        return Found(True, tuple(Fraction(value.as_string()) for value in values))

    def _formula(self, one: Claim) -> Any:
        if one.polynomial not in self._terms:
            products = [
                self._z3.Product([self._z3.RealVal(str(factor)), *(self._unknowns[number] for number in monomial)])
                for monomial, factor in one.polynomial.terms.items()
            ]
            self._terms[one.polynomial] = self._z3.Sum([self._z3.RealVal(0), *products])
        return getattr(self._terms[one.polynomial], RELATIONS[one.signs])(0)


def _is_linear(one: Claim) -> bool:
    return all(len(monomial) <= 1 for monomial in one.polynomial.terms)


def _identities(
    rule: Rule, vocab_size: int, branching: tuple[int, ...]
) -> Iterable[tuple[Statement, list[Polynomial]]]:
    """Yield statements that together say that the identity holds, and what each assumes to be positive."""
    if rule.branches:
        yield tree_identity(rule, branching), []
        return
    rows = range(len(branching) + 1, 2 * len(branching) + 1)
    for tokens in product(range(vocab_size), repeat=len(branching)):
        drawn = [entries(row, vocab_size)[token] for row, token in zip(rows, tokens, strict=True)]
        yield chain_identity(rule, tokens), drawn


def _finding(rule: Rule, what: str, vocab_size: int, branching: tuple[int, ...], proofs: Sequence[Proof]) -> Finding:
    drafted = " x ".join(map(str, branching))
    subject = f"{rule.name} rule, {what}, {vocab_size} tokens, {drafted} drafted"
    paths = sum(proof.paths for proof in proofs)
    for proof in proofs:
        if (refuted := proof.counterexample) is not None:
            return Finding("smt", subject, Conclusion.LOSSY, refuted.deviation, _shown(refuted))
    doubts = [proof.doubt for proof in proofs if proof.doubt is not None]
    if doubts:
        return Finding("smt", subject, Conclusion.UNDECIDED, None, doubts[0])
    if not any(proof.compared for proof in proofs):
        return Finding(
            "smt", subject, Conclusion.UNDECIDED, None, "the rule compares the target's rows with themselves"
        )
    reason = f"proved for all laws over {vocab_size} tokens, {paths} paths"
    return Finding("smt", subject, Conclusion.LOSSLESS, 0.0, reason)


def _shown(refuted: Counterexample) -> str:
    laws = f"target {_rows(refuted.target)}, draft {_rows(refuted.draft)}"
    if refuted.emitted is None:
        return f"divides by zero at {laws}"
    return f"comes to {refuted.emitted} instead of {refuted.wanted} at {laws}"


def _rows(laws: Probs) -> str:
    return " ".join(f"({', '.join(map(str, row))})" for row in laws)
