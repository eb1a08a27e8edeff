"""How far a rule keeps a block of drafted tokens, where every position has the same laws, or the same acceptance.

In: an acceptance, or two laws. Out: survival: for k = 1..K the expected share of passes that keep k tokens or more.
Exact in fractions, and in floats but for the block rule, whose error is stated. It knows nothing of time.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from draftproof.errors import UsageError
from draftproof.rules.coupled import matching_probability
from draftproof.rules.token import expected_acceptance
from draftproof.types import Array, Probs

__all__ = ["acceptance", "acceptance_rate", "block_survival", "iid_survival", "survival", "tokens_per_pass"]

GRID = 4001
"""Weights between 0 and 1 at which the block rule's future is tabulated in floats."""


def iid_survival(acceptance: float, length: int) -> list[float]:
    """Return a, a^2, .. a^K: each drafted token is kept with the same chance, if those before it were.

    Raises:
        UsageError: if acceptance is no probability or the length negative.
    """
    if not 0 <= acceptance <= 1:
        raise UsageError(f"got {acceptance}; allowed are numbers from 0 to 1", "acceptance")
    if length < 0:
        raise UsageError(f"got {length}; allowed are whole numbers from 0 up", "num_speculative_tokens")
    return [acceptance**k for k in range(1, length + 1)]


def tokens_per_pass(survival: Sequence[float]) -> float:
    """Return the tokens a pass emits: one, and each drafted token that is kept.

    With `iid_survival` it is (1 - a^(K + 1)) / (1 - a). Source: `leviathan2023` equation 1.
    """
    return 1 + sum(survival)


def acceptance_rate(survival: Sequence[float]) -> float:
    """Return accepted / drafted, which falls with the length by arithmetic alone: it ranks no lengths."""
    return sum(survival) / len(survival)


def acceptance(rule: str, p: Probs, q: Probs) -> float:
    """Return the probability that a rule keeps a single drafted token, target law p and draft law q (V,)."""
    if rule == "match":
        return (p * q).sum()
    if rule == "coupled":
        return matching_probability(p, q)
    return expected_acceptance(p, q)


def survival(rule: str, p: Probs, q: Probs, length: int) -> list[float]:
    """Return the survival of K tokens under a rule (token, block, match, coupled) if every position has laws p, q."""
    if rule == "block":
        return block_survival(p, q, length)
    return iid_survival(acceptance(rule, p, q), length)


def block_survival(p: Probs, q: Probs, length: int) -> list[float]:
    """Return E[w_k], with w_k = min(1, w_(k-1) p(x) / q(x)) and x drawn from q: what the block rule keeps.

    In fractions exact. In floats the expected future of a weight, which is concave and piecewise linear in it, is
    interpolated between 4001 weights, from below: at most 2e-6 a token too few on the families of the tests.
    Source: `sun2024`.
    """
    xs = np.flatnonzero(q > 0)
    ps, qs = p[xs], q[xs]
    step = partial(_exact_kept, ps, qs) if p.dtype == object else partial(_tabulated_kept, ps, qs)
    total: list[Any] = [0, *step(length)]
    return [after - before for before, after in pairwise(total)]


def _exact_kept(p: Array, q: Array, length: int) -> list[Any]:
    """Return the expected kept tokens of blocks of 1..K, following every weight that can come."""
    weights: dict[Any, Any] = {Fraction(1): Fraction(1)}
    kept: list[Any] = []
    for _ in range(length):
        following: dict[Any, Any] = {}
        for weight, chance in weights.items():
            for px, qx in zip(p, q, strict=True):
                new = min(Fraction(1), weight * px / qx)
                following[new] = following.get(new, 0) + chance * qx
        weights = following
        kept.append((kept[-1] if kept else 0) + sum(weight * chance for weight, chance in weights.items()))
    return kept


def _tabulated_kept(p: Array, q: Array, length: int) -> list[float]:
    """Return the same from a table of the future: F_k(w) = sum_x q(x) (w' + F_(k-1)(w'))."""
    grid = np.linspace(0, 1, GRID)
    future, kept = np.zeros(GRID), []
    for _ in range(length):
        new = np.zeros(GRID)
        for px, qx in zip(p, q, strict=True):
            weight = np.minimum(1, grid * (px / qx))
            new += qx * (weight + np.interp(weight, grid, future))
        future = new
        kept.append(float(future[-1]))
    return kept
