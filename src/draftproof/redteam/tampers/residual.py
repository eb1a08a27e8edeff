"""Tampers of the residual: the law of the token after a rejection. The first is the source's own.

In: p, q and at times the rejected token. Out: other weights. It must never touch how a draft was drawn.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from draftproof.arrays import array_namespace
from draftproof.redteam.altered import AlteredToken, ruled
from draftproof.redteam.base import Tamper
from draftproof.rules.base import Rule, surplus
from draftproof.rules.node import without
from draftproof.rules.token import TokenRule
from draftproof.types import Array, Probs
from draftproof.warpers.top_k import TopK

__all__ = ["TAMPERS"]

FAMILY = "residual"
SEEN_IN_LAW, SEEN = ("exact", "sequence"), ("exact", "sequence", "identity")
SEEN_IN_ALL = (*SEEN, "oracles")
TINY = Fraction(1, 2**126)
"""The smallest normal number of float32."""


def _shipped(rest: Callable[[Probs, Probs], Array]) -> TokenRule:
    """Return the shipped rule with this residual; the bonus, where the draft's row is all zeros, is left alone."""

    def residual(p: Probs, q: Probs) -> Array:
        xp = array_namespace(p, q)
        return xp.where(xp.sum(q, axis=-1, keepdims=True) > 0, rest(p, q), p)

    return TokenRule(residual)


def _clamped(p: Probs, q: Probs) -> Array:
    return array_namespace(p, q).maximum(p, q) - q


def _completed(weights: Array, token: int) -> Array:
    """Return weights (..., V) with what they lack to 1 added to `token`."""
    xp = array_namespace(weights)
    lacking = 1 - xp.sum(weights, axis=-1, keepdims=True)
    return xp.where(xp.arange(weights.shape[-1]) == token, weights + lacking, weights)


def _first_crossings(p: Probs, q: Probs) -> Array:
    """Return weights (..., V) of a search for u in the cumulative sum of p - q, which rises and falls."""
    xp = array_namespace(p, q)
    cumulative = xp.cumulative_sum(p - q, axis=-1)
    highest, weights = xp.zeros_like(p[..., 0]), list[Array]()
    for j in range(p.shape[-1]):
        risen = xp.where(cumulative[..., j] > highest, cumulative[..., j], highest)
        weights.append(risen - highest)
        highest = risen
    return _completed(xp.stack(weights, axis=-1), p.shape[-1] - 1)


def _squared(law: Probs) -> Probs:
    xp = array_namespace(law)
    total = xp.sum(law * law, axis=-1, keepdims=True)
    return law * law / xp.where(total > 0, total, xp.ones_like(total))


def _absolute(p: Probs, q: Probs) -> Array:
    xp = array_namespace(p, q)
    apart = xp.abs(p - q)
    return xp.where(xp.sum(apart, axis=-1, keepdims=True) > 0, apart, p)


def _exponential(weights: Array) -> Array:
    if weights.dtype != object:
        return array_namespace(weights).exp(weights)
    return np.vectorize(lambda weight: Fraction(math.exp(weight)), otypes=[object])(weights)


def _likeliest(weights: Array) -> Array:
    xp = array_namespace(weights)
    first = xp.argmax(weights, axis=-1)[..., None] == xp.arange(weights.shape[-1])
    return xp.where(first, xp.ones_like(weights), xp.zeros_like(weights))


def _floored(p: Probs, q: Probs) -> Array:
    xp = array_namespace(p, q)
    return xp.maximum(_clamped(p, q), xp.zeros_like(p) + (TINY if p.dtype == object else float(TINY)))


def _tamper(
    name: str,
    story: str,
    rule: Rule,
    fixture: str | None = None,
    seen_in: str = "derived",
    caught_by: tuple[str, ...] = SEEN,
) -> Tamper:
    return Tamper(name, FAMILY, story, seen_in, ruled(rule), fixture=fixture, caught_by=caught_by)


TAMPERS = (
    _tamper(
        "residual-is-the-target",
        "After a rejection draws from p itself: the target's own law, so it looks as if nothing could be wrong.",
        TokenRule(lambda p, q: p),
        "S01",
        "the source; a table of wrong rules made from public reports",
    ),
    _tamper(
        "residual-is-the-draft",
        "After a rejection draws once more from q.",
        _shipped(lambda p, q: q),
        "S02",
        caught_by=SEEN_IN_ALL,
    ),
    _tamper(
        "residual-absolute",
        "Takes the absolute value of p - q for what the target has too much: the emitted law is (p + q) / 2.",
        _shipped(_absolute),
        "S03a",
        "a table of wrong rules made from public reports",
        SEEN_IN_ALL,
    ),
    _tamper(
        "residual-upside-down",
        "Draws from max(0, q - p), the arguments exchanged: what comes out is the draft's law q.",
        _shipped(lambda p, q: surplus(q, p)),
        caught_by=SEEN_IN_ALL,
    ),
    _tamper(
        "residual-falls-through-to-the-last",
        "Does not normalise max(0, p - q): where u exceeds its sum the search ends at the last token.",
        _shipped(lambda p, q: _completed(_clamped(p, q), p.shape[-1] - 1)),
        "S03b",
    ),
    _tamper(
        "residual-falls-through-to-the-first",
        "Does not normalise max(0, p - q): where u exceeds its sum the search answers 0.",
        _shipped(lambda p, q: _completed(_clamped(p, q), 0)),
        "S03c",
    ),
    _tamper(
        "residual-neither-clamped-nor-normalised",
        "Searches for u in the cumulative sum of p - q as it is, and ends at the last token.",
        _shipped(_first_crossings),
        "S03d",
    ),
    _tamper(
        "residual-of-another-temperature",
        "Subtracts the draft's law at half the temperature, the one a second code path computes.",
        _shipped(lambda p, q: surplus(p, _squared(q))),
        "S04a",
    ),
    _tamper(
        "residual-softmax",
        "Normalises max(0, p - q) by softmax, as if it were logits.",
        _shipped(lambda p, q: _exponential(_clamped(p, q))),
        None,
        "a table of wrong rules made from public reports",
        SEEN_IN_ALL,
    ),
    _tamper(
        "residual-argmax",
        "Emits the token that the target misses most, instead of drawing.",
        _shipped(lambda p, q: _likeliest(surplus(p, q))),
    ),
    _tamper(
        "residual-floored",
        "Raises each entry of max(0, p - q) to the smallest normal float32, so that the sum is never 0.",
        _shipped(_floored),
        None,
        "A28, vllm PR #2336",
        SEEN_IN_LAW,
    ),
    _tamper(
        "residual-of-the-top-three",
        "The drafter sends its three largest probabilities only; the residual takes the others for 0.",
        _shipped(lambda p, q: surplus(p, TopK(3)(q))),
        "S23",
        caught_by=("exact", "identity"),
    ),
    _tamper(
        "residual-without-the-rejected",
        "Draws from p without the rejected token, the residual of a certain draft, after the test of a drawn one.",
        AlteredToken(rest=lambda p, q, rejected: without(p, rejected)),
        "S19",
        "a table of wrong rules made from public reports",
        SEEN_IN_LAW,
    ),
    _tamper(
        "rejected-stays-in-the-residual",
        "Takes each draft for certain, keeps it with probability p, and forgets to take it out after a rejection.",
        AlteredToken(lambda p, q: p, lambda p, q, rejected: p),
        None,
        "A22, the variant that is wrong: mlx-swift-lm PR #459",
        SEEN_IN_LAW,
    ),
)
