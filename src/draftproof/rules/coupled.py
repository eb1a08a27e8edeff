"""The coupled rule: the noise of a position decides, for draft and target alike. Same seed, same text, whatever drafts.

In: target rows, drafted tokens, noise by position. Out: a verdict. Each token v runs a race that it finishes at time
E(v) / p(v), E exponential: the first has law p. The draft runs with the same E and so mostly guesses the winner. Every
emitted token is the target's own winner. Source: `daliri2024`. Exactness: tests/laws/test_coupled_law.py.
"""

from dataclasses import dataclass

from draftproof.arrays import array_namespace
from draftproof.rules.base import Place, Verdict
from draftproof.rules.contract import check_chain
from draftproof.rules.node import Choice
from draftproof.rules.run import run_of_matches
from draftproof.types import Array, Draws, Probs

__all__ = ["CoupledNode", "CoupledRule", "matching_probability", "same_winner", "winner"]


def winner(law: Probs, exponentials: Array) -> Array:
    """Return (...) the token of law (..., V) with the largest p / E, the first to finish; the lowest id among equals.

    Tokens without mass never win. Temperature 0 is a one-hot law and needs no case of its own.
    """
    xp = array_namespace(law)
    return xp.argmax(law / exponentials, axis=-1)


def matching_probability(p: Probs, q: Probs) -> float:
    """Return the probability that the winners under laws p and q (V,) are the same token.

    It is sum_x 1 / sum_y max(p(y) / p(x), q(y) / q(x)), over x that both allow: between (1 - TV) / (1 + TV) and 1 - TV.
    """
    both = (p > 0) & (q > 0)
    if not both.any():
        return 0.0
    xp = array_namespace(p, q)
    order = xp.argsort(-p[both] / q[both], stable=True)
    ps, qs = p[both][order], q[both][order]
    # Tokens that p favours at least as much as x count by p(y) / p(x), the others by q(y) / q(x).
    above = xp.cumulative_sum(ps) + p[~both].sum()
    below = q.sum() - xp.cumulative_sum(qs)
    return float(xp.sum(1 / (above / ps + below / qs)))


def same_winner(p: Probs, q: Probs, token: int) -> Array:
    """Return the probability that `token` wins both races, under laws p and q (V,): its part of the sum above."""
    if p[token] == 0 or q[token] == 0:
        return p[token] * 0
    xp = array_namespace(p, q)
    return 1 / xp.sum(xp.maximum(p / p[token], q / q[token]))


@dataclass(frozen=True)
class CoupledRule:
    """Emit the target's winners; go on while the draft's winner, under the same noise, was the same token."""

    name = "coupled"
    lossless = True
    branches = False

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `Rule.children`: the winner under the noise of this position."""
        return _first(law, place)

    def verify(self, target: Probs, draft: Probs, drafted: Array, draws: Draws) -> Verdict:
        """See `Rule.verify`. Exponentials consumed: those of each position that is come to; no uniforms."""
        check_chain(target, draft, drafted)

        def draw(i: int) -> Array:
            return winner(target[..., i, :], draws.exponentials(i, target.shape[-1]))

        return run_of_matches(drafted, draw)

    def identity(self, target: Probs, draft: Probs, drafted: Array) -> tuple[Probs, Probs]:
        """See `Rule.identity`: what is emitted is drawn from the row itself, matched or not."""
        return target, target

    def expected_accepted(self, target: Probs, draft: Probs, drafted: Array, accepted: int) -> float:
        """See `Rule.expected_accepted`: the matching probability, added over the positions that the rule came to."""
        tested = min(accepted + 1, len(draft))
        return sum(matching_probability(target[i], draft[i]) for i in range(tested))


@dataclass(frozen=True)
class CoupledNode:
    """The coupled rule at a node of a tree: the draft's first k under the position's noise, then the target's one."""

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `NodeRule.children`."""
        return _first(law, place)

    def choose(self, p: Probs, q: Probs, tokens: list[int], place: Place) -> Choice:
        """See `NodeRule.choose`. Exponentials consumed: those of this position."""
        token = self.bonus(p, place)
        return Choice(tokens.index(token) if token in tokens else None, token)

    def bonus(self, p: Probs, place: Place) -> int:
        """See `NodeRule.bonus`. Exponentials consumed: those of this position."""
        return int(winner(p, place.draws.exponentials(place.depth, p.shape[-1])))

    def rounds(self, p: Probs, q: Probs, tokens: list[int]) -> list[tuple[Array, Array]]:
        """See `NodeRule.rounds`: what is emitted is the winner under p itself."""
        return [(p, p)]


def _first(law: Probs, place: Place) -> list[int]:
    """Return the first k tokens of the race at `place`, fewer if not so many have mass."""
    exponentials = place.draws.exponentials(place.depth, law.shape[-1])
    if len(place.children) == 1:
        return [int(winner(law, exponentials))]
    xp = array_namespace(law)
    order = xp.argsort(law / exponentials, descending=True, stable=True)[: len(place.children)]
    return [int(token) for token in order if law[int(token)] > 0]
