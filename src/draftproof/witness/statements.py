"""What is to be proven about a rule, as programs that run its shipped code on laws of any arithmetic.

In: a rule; then laws, in Fractions or in formulas. Out: pairs of what is emitted and what must be. It must never know
what comes of comparing them.
"""

from collections.abc import Callable
from itertools import product
from typing import Any, Self, TypeAlias

import numpy as np

from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.proposal import Proposal
from draftproof.models.table import TableModel
from draftproof.noise import PassNoise
from draftproof.rules.base import Rule
from draftproof.types import Array, Noise, Probs, Tokens, Tree
from draftproof.warpers.pipeline import Pipeline
from draftproof.witness.forking import exact_law

__all__ = ["Pair", "Statement", "chain_identity", "one_pass", "tree_identity"]

Pair: TypeAlias = tuple[Any, Any]
"""A number that comes out, and the number that it must be."""
Statement: TypeAlias = Callable[[Probs, Probs], list[Pair]]
"""From target rows (K + 1, V) and draft rows (K, V), by depth, to all that must agree."""
PROMPT = (0,)


def chain_identity(rule: Rule, tokens: tuple[int, ...]) -> Statement:
    """Return the statement of `Rule.identity` for these drafted tokens."""

    def statement(target: Probs, draft: Probs) -> list[Pair]:
        return _pairs(*rule.identity(target, draft, np.array(tokens)))

    return statement


def tree_identity(rule: Rule, branching: tuple[int, ...]) -> Statement:
    """Return the statement of `Rule.identity` for every tree that the engine can draft with this rule."""

    def statement(target: Probs, draft: Probs) -> list[Pair]:
        engine, drafted = _engine(rule, target, draft, branching), dict[Tree, Proposal]()

        def program(noise: Noise) -> Tree:
            proposal = _proposal(engine, noise)
            return drafted.setdefault(proposal.tree, proposal).tree

        exact_law(program)
        found: list[Pair] = []
        for tree, proposal in drafted.items():
            depths = [len(text) - len(PROMPT) for text in proposal.prefixes(PROMPT)]
            found += _pairs(*rule.identity(target[depths, :], proposal.laws, tree))
        return found

    return statement


def one_pass(rule: Rule, branching: tuple[int, ...]) -> Statement:
    """Return the statement that a pass, completed by draws from the target, is a text of the target.

    The engine's own drafting, scoring and verification run, integrated over every value of their random numbers. A text
    shorter than K + 1 is completed, so that one equation for each text of K + 1 tokens says it all.
    """

    def statement(target: Probs, draft: Probs) -> list[Pair]:
        engine = _engine(rule, target, draft, branching)

        def program(noise: Noise) -> tuple[int, ...]:
            proposal = _proposal(engine, noise)
            rows = engine.score(engine.target.fresh(), PROMPT, proposal)
            return tuple(engine.emitted(proposal, engine.verify(rows, proposal, PassNoise(noise, len(PROMPT)))))

        law = exact_law(program)
        return [
            (_completed(law, text, target), _chance(target, text, 0))
            for text in product(*map(range, target.shape[-1:] * len(target)))
        ]

    return statement


class _Rows:
    """A drafter whose law is that of its depth, as it comes; whether it is a law is asked often enough without it."""

    def __init__(self, laws: Probs) -> None:
        self.laws = laws

    def law(self, context: Tokens) -> Probs:
        return self.laws[len(context) - len(PROMPT)]

    def rewind(self, length: int) -> None:
        pass

    def fresh(self) -> Self:
        return self


def _engine(rule: Rule, target: Probs, draft: Probs, branching: tuple[int, ...]) -> Engine:
    model = TableModel(lambda text: target[len(text) - len(PROMPT)], target.shape[-1])
    return Engine(model, _Rows(draft), rule, Pipeline(), FixedLength(len(draft)), branching)


def _proposal(engine: Engine, noise: Noise) -> Proposal:
    draws = PassNoise(noise, len(PROMPT))
    return engine.propose(engine.drafter.fresh(), PROMPT, engine.length(0, 0, 0), draws)


def _completed(law: dict[tuple[int, ...], Any], text: tuple[int, ...], target: Probs) -> Any:
    """Return the probability of a text when every shorter one is continued from the target's rows."""
    begun = [(law[text[:n]], n) for n in range(1, len(text) + 1) if text[:n] in law]
    return sum(chance * _chance(target, text, n) for chance, n in begun)


def _chance(target: Probs, text: tuple[int, ...], first: int) -> Any:
    chance = 1
    for i in range(first, len(text)):
        chance = chance * target[i, text[i]]
    return chance


def _pairs(emitted: Array, wanted: Array) -> list[Pair]:
    return list(zip(emitted.reshape(-1), wanted.reshape(-1), strict=True))
