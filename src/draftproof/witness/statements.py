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
    """Return the statement that a pass, and passes without a draft up to K + 1 tokens, emit a text of the target.

    The engine's own drafting, scoring and verification run, integrated over every value of their random numbers. The
    passes that complete a text share the noise of the first, as in `Engine.decode`: noise of a position is used again.
    """

    def statement(target: Probs, draft: Probs) -> list[Pair]:
        engine = _engine(rule, target, draft, branching)

        def program(noise: Noise) -> tuple[int, ...]:
            text, end, length = list(PROMPT), len(PROMPT) + len(target), len(draft)
            while len(text) < end:
                draws = PassNoise(noise, len(text))
                proposal = engine.propose(engine.drafter.fresh(), text, length, draws)
                rows = engine.score(engine.read(engine.target.fresh(), text, proposal), text, proposal)
                text += engine.emitted(proposal, engine.verify(rows, proposal, draws))
                length = 0
            return tuple(text[len(PROMPT) :])

        law = exact_law(program)
        texts = {*law, *product(*map(range, target.shape[-1:] * len(target)))}
        return [(law.get(text, 0), _chance(target, text) if len(text) == len(target) else 0) for text in sorted(texts)]

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
    return engine.propose(engine.drafter.fresh(), PROMPT, engine.length.begin().next(0), draws)


def _chance(target: Probs, text: tuple[int, ...]) -> Any:
    """Return the target's probability of a text."""
    chance = target[0, text[0]]
    for i in range(1, len(text)):
        chance = chance * target[i, text[i]]
    return chance


def _pairs(emitted: Array, wanted: Array) -> list[Pair]:
    return list(zip(emitted.reshape(-1), wanted.reshape(-1), strict=True))
