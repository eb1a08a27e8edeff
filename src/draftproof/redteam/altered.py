"""Rules of which a part can be replaced: what tampers of rules are built from.

In: the replaced part. Out: a rule that does what the part says, and says of itself what the honest rule says. It must
never know the witnesses.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from draftproof.arrays import array_namespace
from draftproof.engine.loop import Engine
from draftproof.rules.base import Place, Rule, Verdict, drawn, pick, surplus
from draftproof.rules.coupled import winner
from draftproof.rules.node import most_probable
from draftproof.rules.token import TokenRule, acceptance_probabilities
from draftproof.types import Array, Draws, Probs, Purpose, Uniform

__all__ = ["AlteredToken", "AlteredWalk", "drawn_from", "each_row", "greedily", "matched", "picked", "ruled", "won"]

Keeps: TypeAlias = Callable[[Probs, Probs], Array]
"""(p, q) -> (V,) with which probability each token stays if it was drafted."""
Rest: TypeAlias = Callable[[Probs, Probs, int], Array]
"""(p, q, rejected token) -> weights (V,) of the token that is emitted instead."""
Draw: TypeAlias = Callable[[Probs, Place], list[int]]
"""See `Rule.children`."""
Step: TypeAlias = Callable[[Probs, Probs, int, Draws, int], tuple[bool, int]]
"""(p, q, drafted token, draws, depth) -> whether it stays, and the token emitted there."""
Bonus: TypeAlias = Callable[[Probs, Draws, int], int]
"""(p, draws, depth) -> the target's own token there."""
Verify: TypeAlias = Callable[[Probs, Probs, Array, Draws], Verdict]
"""See `Rule.verify`."""


def ruled(rule: Rule) -> Callable[[Engine], Engine]:
    """Return what puts `rule` in the place of an engine's own."""
    return lambda engine: replace(engine, rule=rule)


@dataclass(frozen=True)
class _RowDraws:
    """The random numbers of one row of a batch: see `Draws`."""

    draws: Draws
    row: int

    def uniforms(self, purpose: Purpose, count: int, first: int = 0) -> Uniform:
        """See `Draws.uniforms`."""
        return self.draws.uniforms(purpose, count, first)[self.row]

    def exponentials(self, depth: int, vocab_size: int) -> Array:
        """See `Draws.exponentials`."""
        return self.draws.exponentials(depth, vocab_size)[self.row]


def each_row(verify: Verify, target: Probs, draft: Probs, drafted: Array, draws: Draws) -> Verdict:
    """Return the verdict of a rule that is written for one row, on one row or on each of a batch."""
    if drafted.ndim == 1:
        return verify(target, draft, drafted, draws)
    rows = range(drafted.shape[0])
    done = [each_row(verify, target[i, ...], draft[i, ...], drafted[i, ...], _RowDraws(draws, i)) for i in rows]
    stack = array_namespace(drafted).asarray
    return Verdict(stack([verdict.accepted for verdict in done]), stack([int(verdict.token) for verdict in done]))


def drawn_from(warp: Callable[[Probs], Array]) -> Draw:
    """Return a draw of children from another law than the one that is recorded."""
    return lambda law, place: drawn(warp(law), place)


def greedily(law: Probs, place: Place) -> list[int]:
    """Draft the most probable tokens: a draw of children."""
    return most_probable(law, len(place.children))


def picked(p: Probs, draws: Draws, depth: int) -> int:
    """Return a token drawn from weights p (V,) with the uniform for what is emitted there undrafted."""
    return int(pick(p, draws.uniforms(Purpose.FINAL, 1, depth)[0, ...]))


def won(p: Probs, draws: Draws, depth: int) -> int:
    """Return the winner under p (V,) and the noise of that position."""
    return int(winner(p, draws.exponentials(depth, p.shape[-1])))


def matched(own: Bonus) -> Step:
    """Return the step of the rules in which the target draws: its own token, and whether the draft was that."""

    def step(p: Probs, _q: Probs, guess: int, draws: Draws, depth: int) -> tuple[bool, int]:
        token = own(p, draws, depth)
        return token == guess, token

    return step


def _surplus(p: Probs, q: Probs, _rejected: int) -> Array:
    return surplus(p, q)


def _itself(law: Probs) -> Probs:
    return law


@dataclass(frozen=True)
class AlteredToken:
    """The token rule, of which one part or another is replaced.

    Args:
        keeps: the accept test.
        rest: what follows a rejection.
        draw: how tokens are drafted.
        sees: the draft's row (V,) -> what the test and the residual take it for.
    """

    keeps: Keeps = acceptance_probabilities
    rest: Rest = _surplus
    draw: Draw = drawn
    sees: Callable[[Probs], Array] = _itself
    name = TokenRule.name
    lossless = True
    branches = False

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `Rule.children`."""
        return self.draw(law, place)

    def verify(self, target: Probs, draft: Probs, drafted: Array, draws: Draws) -> Verdict:
        """See `Rule.verify`; nothing is checked at the door."""
        return each_row(self._verify, target, draft, drafted, draws)

    def _verify(self, target: Probs, draft: Probs, drafted: Array, draws: Draws) -> Verdict:
        tokens = drafted.tolist()
        coins = draws.uniforms(Purpose.ACCEPT, len(tokens))
        final = draws.uniforms(Purpose.FINAL, 1)[0, ...]
        for i, token in enumerate(tokens):
            p, q = target[i, :], self.sees(draft[i, :])
            if not coins[i] < self.keeps(p, q)[token]:
                return Verdict(i, pick(self.rest(p, q, token), final))
        return Verdict(len(tokens), pick(target[len(tokens), :], final))

    def identity(self, target: Probs, draft: Probs, drafted: Array) -> tuple[Probs, Probs]:
        """See `Rule.identity`: the honest one."""
        return TokenRule().identity(target, draft, drafted)

    def expected_accepted(self, target: Probs, draft: Probs, drafted: Array, accepted: int) -> float:
        """See `Rule.expected_accepted`: the honest one."""
        return TokenRule().expected_accepted(target, draft, drafted, accepted)


@dataclass(frozen=True)
class AlteredWalk:
    """A rule that decides position by position, in another way than the honest one.

    Args:
        honest: speaks for this rule.
        step: decides on a drafted token.
        bonus: draws the token after the last one.
        draw: how tokens are drafted, if not as the honest rule does it.
    """

    honest: Rule
    step: Step
    bonus: Bonus
    draw: Draw | None = None
    lossless = True
    branches = False

    @property
    def name(self) -> str:
        """The honest one."""
        return self.honest.name

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `Rule.children`."""
        return self.draw(law, place) if self.draw else self.honest.children(law, place)

    def verify(self, target: Probs, draft: Probs, drafted: Array, draws: Draws) -> Verdict:
        """See `Rule.verify`."""
        return each_row(self._verify, target, draft, drafted, draws)

    def _verify(self, target: Probs, draft: Probs, drafted: Array, draws: Draws) -> Verdict:
        tokens = drafted.tolist()
        for i, guess in enumerate(tokens):
            stays, token = self.step(target[i, :], draft[i, :], guess, draws, i)
            if not stays:
                return Verdict(i, token)
        return Verdict(len(tokens), self.bonus(target[len(tokens), :], draws, len(tokens)))

    def identity(self, target: Probs, draft: Probs, drafted: Array) -> tuple[Probs, Probs]:
        """See `Rule.identity`: the honest one."""
        return self.honest.identity(target, draft, drafted)

    def expected_accepted(self, target: Probs, draft: Probs, drafted: Array, accepted: int) -> float | None:
        """See `Rule.expected_accepted`: the honest one."""
        return self.honest.expected_accepted(target, draft, drafted, accepted)
