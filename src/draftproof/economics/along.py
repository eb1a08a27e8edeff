"""How many passes a given text takes, exactly, from the laws along it: no acceptance is assumed to be independent.

In: for each token of texts that the target wrote, how likely target and draft found it. Out: expected passes and their
variance, for every rule and draft length at once, without generating anything again.

A lossless rule emits the target's own text, so one can ask the other way round: given the text, how far did a pass that
began at s get? With u_i = q(x_i) / p(x_i) along the text, k tokens or more are kept with probability

    token    prod_(i <= k) min(1, u_i)              block    min_(j <= k) prod_(i <= j) u_i, with j = 0 giving 1
    match    prod_(i <= k) q(x_i)                   coupled  prod_(i <= k) P(the draft's winner is x_i | the target's)

and what the next pass does depends on the text from there on alone. Exactness: tests/economics/test_along.py.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from draftproof.types import Array

__all__ = ["Along", "Passes", "acceptance_along", "mean_acceptance", "passes_of", "survival_along"]


@dataclass(frozen=True)
class Along:
    """What models said of N texts of L tokens that the target drew.

    Args:
        target: (N, L) p(x), above 0.
        draft: (N, L) q(x); 0 where the draft rules x out.
        coupled: (N, L) the probability that both winners are x under common noise.
        reach: (N, L) how many tokens in a row the drafter proposes from there if it follows its own proposals, 0 where
            it is silent. A drafter that looks a text up often is; and where it has begun, it goes on past its first
            error, which the text does not.
    """

    target: Array
    draft: Array
    coupled: Array
    reach: Array

    @property
    def proposed(self) -> Array:
        """(N, L) whether the drafter has a law there at all."""
        return self.reach > 0


class Passes(NamedTuple):
    """What N texts take.

    Args:
        by_length: (N, K + 1) expected passes that draft 0..K tokens.
        variance: (N,) of the number of passes, given the text.
        starts: (N, L) the probability that a pass begins at each token.
    """

    by_length: Array
    variance: Array
    starts: Array


def acceptance_along(rule: str, along: Along) -> Array:
    """Return (N, L) with which probability a token was drafted and kept, tested alone, given that it was emitted."""
    if rule == "match":
        return along.draft
    if rule == "coupled":
        return along.coupled / along.target
    return np.minimum(along.draft, along.target) / along.target


def mean_acceptance(rule: str, along: Along) -> float:
    """Return the mean of it over all places where a token is proposed; 0 if there is none."""
    proposed = along.proposed
    return float(acceptance_along(rule, along)[proposed].mean()) if proposed.any() else 0.0


def survival_along(rule: str, along: Along, longest: int) -> Array:
    """Return (N, L, longest + 1): with which probability a pass that begins at a token keeps k tokens or more.

    Past the end of a text, and where the drafter proposes nothing, nothing is kept.
    """
    count, length = along.target.shape
    factors = along.draft / along.target if rule == "block" else acceptance_along(rule, along)
    factors = np.where(along.proposed, factors, factors * 0)
    kept = np.zeros((count, length, longest + 1), dtype=factors.dtype) + factors[:1, :1, None] * 0
    kept[:, :, 0] += 1
    product = kept[:, :, 0].copy()
    for k in range(1, min(longest, length) + 1):
        product = product[:, :-1] * factors[:, k - 1 :] if k > 1 else product * factors
        shorter = kept[:, : product.shape[1], k - 1]
        kept[:, : product.shape[1], k] = np.minimum(shorter, product) if rule == "block" else product
    return kept


def passes_of(kept: Array, along: Along, longest: int) -> Passes:
    """Return the passes that the texts take with draft length K = `longest`, given `survival_along` (N, L, >= K + 1).

    As in the engine, a pass drafts until the drafter is silent, and no more than fits before the end of the text, with
    one token to follow.
    """
    count, length = kept.shape[:2]
    room = length - 1 - np.arange(length)
    drafted = np.minimum(np.minimum(along.reach, room), longest)
    stops = [_stopping(kept[:, s], drafted[:, s], longest) for s in range(length)]
    zero = kept[:, :, 0] * 0
    starts = np.concatenate([zero, zero[:, :1]], axis=1)
    starts[:, 0] += 1
    by_length = kept[:, 0, : longest + 1] * 0
    for s, stop in enumerate(stops):
        by_length[np.arange(count), drafted[:, s]] += starts[:, s]
        ends = starts[:, s + 1 : s + longest + 2]
        ends += starts[:, s, None] * stop[:, : ends.shape[1]]
    return Passes(by_length, _variance(stops, starts * 0, longest), starts[:, :-1])


def _stopping(kept: Array, drafted: Array, longest: int) -> Array:
    """Return (N, K + 1) the probability that a pass keeps exactly k tokens, so that it emits k + 1."""
    reached = np.where(np.arange(longest + 1) <= drafted[:, None], kept[:, : longest + 1], kept[:, : longest + 1] * 0)
    reached = np.concatenate([reached, reached[:, :1] * 0], axis=1)
    return reached[:, :-1] - reached[:, 1:]


def _variance(stops: list[Array], zeros: Array, longest: int) -> Array:
    """Return (N,) the variance of the number of passes, from its first two moments backwards along the text.

    The difference of moments can round to just below 0 where nothing varies, as with a perfect draft; it is 0 then.
    """
    first, second = zeros.copy(), zeros.copy()
    for s in reversed(range(len(stops))):
        after = slice(s + 1, s + longest + 2)
        stop = stops[s][:, : first[:, after].shape[1]]
        first[:, s] = 1 + (stop * first[:, after]).sum(axis=1)
        second[:, s] = 1 + (stop * (2 * first[:, after] + second[:, after])).sum(axis=1)
    return np.maximum(second[:, 0] - first[:, 0] ** 2, zeros[:, 0])
