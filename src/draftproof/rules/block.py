"""The block rule: one decision over all drafted tokens together; keeps at least as many as the token rule.

In: target rows, draft rows, drafted tokens, draws. Out: a verdict.
With w_0 = 1 and w_i = min(1, w_{i-1} p(x_i) / q(x_i)), the first i tokens must be kept with probability w_i, whatever
follows them. Each i gets a coin of probability h_i; the longest prefix whose coin falls is kept; a token from
max(0, w_i p - q) follows. Source: `sun2024`. Exactness is checked in tests/laws/test_block_law.py.
"""

from dataclasses import dataclass

from draftproof.arrays import array_namespace
from draftproof.rules.base import (
    Place,
    Verdict,
    drawn,
    entries_at,
    normalised,
    pick,
    positive,
    row_at,
    row_or_zeros,
    unless_empty,
)
from draftproof.rules.contract import check_chain
from draftproof.rules.run import bonus_alone
from draftproof.types import Array, Draws, Probs, Purpose

__all__ = ["BlockRule", "prefix_weights", "stopping_probability"]


def prefix_weights(target: Probs, draft: Probs, tokens: Array) -> Array:
    """Return (..., K + 1) w: with which probability the first i drafted tokens must be kept, given that they came."""
    xp = array_namespace(target, draft)
    p, q = entries_at(target[..., :-1, :], tokens), entries_at(draft, tokens)
    weight = xp.ones_like(target[..., 0, 0])
    weights = [weight]
    for i in range(tokens.shape[-1]):
        goal = weight * p[..., i]
        weight = goal / xp.maximum(goal, q[..., i])  # the contract has q > 0
        weights.append(weight)
    return xp.stack(weights, axis=-1)


def stopping_probability(p: Probs, q: Probs, weight: Array) -> Array:
    """Return (...) h: the probability of the coin that stops at a row if nothing longer is kept, before the last row.

    h = S / (S + 1 - w), with S the mass of max(0, w p - q) that the row still has to emit itself. Where nothing is left
    to emit and nothing to reject (w = 1, p = q) the coin cannot matter; it is 1.
    """
    xp = array_namespace(p, q)
    left = xp.sum(_excess(p, q, weight), axis=-1)
    total = left + (1 - weight)
    one = xp.ones_like(total)
    return xp.where(total > 0, left / xp.where(total > 0, total, one), one)


@dataclass(frozen=True)
class BlockRule:
    """Block verification: the longest prefix that the coins allow, then the residual that belongs to it."""

    name = "block"
    lossless = True
    branches = False

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `Rule.children`: one DRAFT uniform a token."""
        return drawn(law, place)

    def verify(self, target: Probs, draft: Probs, drafted: Array, draws: Draws) -> Verdict:
        """See `Rule.verify`. Every row has a coin of its own, whatever became of the others; the longest prefix wins.

        Uniforms consumed: K ACCEPT and one FINAL.
        """
        check_chain(target, draft, drafted)
        count = drafted.shape[-1]
        if count == 0:
            return bonus_alone(target, drafted, draws)
        xp = array_namespace(target, draft)
        weights = prefix_weights(target, draft, drafted)
        uniforms = draws.uniforms(Purpose.ACCEPT, count)
        accepted = xp.zeros(drafted.shape[:-1], dtype=xp.int64, device=drafted.device)
        for i in range(count, 0, -1):
            uniform, weight = uniforms[..., i - 1], weights[..., i]
            fell = xp.astype(uniform < weight, xp.bool)  # of the last row the coin; of others more, as S <= w
            if i < count and bool(xp.any(fell)):
                coin = stopping_probability(target[..., i, :], draft[..., i, :], weight)
                fell = fell & xp.astype(uniform < coin, xp.bool)
            accepted = xp.where((accepted == 0) & fell, xp.full_like(accepted, i), accepted)
            if bool(xp.all(accepted > 0)):
                break
        p = row_at(target, accepted)
        left = _residual(p, row_or_zeros(draft, accepted, p), _entry(weights, accepted))
        return Verdict(accepted, pick(left, draws.uniforms(Purpose.FINAL, 1)[..., 0]))

    def identity(self, target: Probs, draft: Probs, drafted: Array) -> tuple[Probs, Probs]:
        """See `Rule.identity`: of what reaches row i with weight w_i, continued plus stopped must be w_i p."""
        xp = array_namespace(target, draft)
        weights = prefix_weights(target, draft, drafted)
        padded = xp.concat([draft, xp.zeros_like(target[..., :1, :])], axis=-2)
        scaled = weights[..., None] * target
        kept = xp.where(scaled < padded, scaled, padded)
        coins = stopping_probability(target[..., :-1, :], draft, weights[..., :-1])
        coins = xp.concat([coins, weights[..., -1:]], axis=-1)
        stopped = (1 - xp.sum(kept, axis=-1)) * coins
        return kept + stopped[..., None] * normalised(_residual(target, padded, weights)), scaled

    def expected_accepted(self, target: Probs, draft: Probs, drafted: Array, accepted: int) -> float:
        """See `Rule.expected_accepted`: sum over all rows of sum_x min(w p, q)."""
        xp = array_namespace(target, draft)
        weights = prefix_weights(target, draft, drafted)
        scaled = weights[..., :-1, None] * target[..., :-1, :]
        return float(xp.sum(xp.where(scaled < draft, scaled, draft)))


def _residual(p: Probs, q: Probs, weight: Array) -> Array:
    """Return (..., V) max(0, weight p - q); p itself where that leaves nothing."""
    return unless_empty(_excess(p, q, weight), p)


def _excess(p: Probs, q: Probs, weight: Array) -> Array:
    """Return (..., V) max(0, weight p - q)."""
    above = weight[..., None] * p
    above -= q  # in place: an array of V less to write
    return positive(above)


def _entry(values: Array, index: Array) -> Array:
    """Return (...), the entry of values (..., N) that index (...) names."""
    xp = array_namespace(values)
    if index.ndim == 0:
        return values[int(index), ...]
    return xp.take_along_axis(values, index[..., None], axis=-1)[..., 0]
