"""Rejection sampling, the ancestor of the token rule: keep a proposal x from q with probability p(x) / (M q(x)).

In: two laws, proposals, uniforms. Out: what is kept, and with which chances. It is no decoding rule: it proposes again
until something is kept, which a pass of the target cannot, and so is not in the catalogue. Source: `vonneumann1951`.
Exactness is checked in tests/rules/test_rejection.py.
"""

import math

import numpy as np

from draftproof.arrays import array_namespace
from draftproof.errors import ContractError
from draftproof.rules.base import normalised
from draftproof.types import Array, Probs, Uniform

__all__ = ["acceptance", "envelope", "kept_share", "retrying_law", "run"]


def envelope(p: Probs, q: Probs) -> Array:
    """Return M, a number from 1 up: the largest p/q over the tokens of p, so that M q lies nowhere below p.

    It is infinite, `math.inf`, where q lacks a token of p (or has so little of it that p/q is no float64): then no
    multiple of q covers p, and nothing can be kept.

    Args:
        p: (V,) the law that is wanted.
        q: (V,) the law that proposals are drawn from.
    """
    xp = array_namespace(p, q)
    wanted = p > 0
    if bool(xp.any(wanted & (q == 0))):
        return math.inf
    with np.errstate(over="ignore"):  # to infinity, as said
        return xp.max(p[wanted] / q[wanted])


def acceptance(p: Probs, q: Probs) -> Array:
    """Return (V,) p / (M q): with what probability each token is kept if it is proposed.

    It is 0 wherever p is 0, 1 at the token that M belongs to, and 0 everywhere if M is infinite.
    """
    xp = array_namespace(p, q)
    zeros, most = xp.zeros_like(p), envelope(p, q)
    if most == math.inf:
        return zeros
    wanted = p > 0
    return xp.where(wanted, p / xp.where(wanted, q, xp.ones_like(q)) / most, zeros)


def kept_share(p: Probs, q: Probs) -> Array:
    """Return 1/M: with what probability a proposal drawn from q is kept; 0 if M is infinite.

    It is at most sum min(p, q), the share of the token rule, and equal to it only if p is q, or q cut down to some of
    its tokens, or shares no token with it.
    """
    return 1 / envelope(p, q)


def retrying_law(p: Probs, q: Probs) -> Probs:
    """Return (V,) norm(min(p, q)): what is emitted if x stays with min(1, p/q) and else a new x is proposed.

    It is p only if p equals q, or is q cut down to some of its tokens: to retry is right with p / (M q) alone, and
    min(1, p/q) needs the residual.

    Raises:
        ContractError: if the laws share no token: nothing is ever kept, and no law comes of it.
    """
    xp = array_namespace(p, q)
    both = xp.where(p < q, p, q)
    if not bool(xp.any(both > 0)):
        raise ContractError("the two laws share no token: no proposal is ever kept, however often one retries")
    return normalised(both)


def run(p: Probs, q: Probs, proposals: Array, uniforms: Uniform) -> Array:
    """Return (n,) booleans, which proposals are kept: those with u M q(x) < p(x).

    As in the token rule the test divides by nothing, and being strict lets u = 0 save no zero of p. None is kept if M
    is infinite. Uniforms consumed: one a proposal.

    Args:
        p: (V,) the law that is wanted.
        q: (V,) the law that proposals are drawn from.
        proposals: (n,) token ids.
        uniforms: (n,) numbers in [0, 1).

    Raises:
        ContractError: if q gives a proposal no mass: it was not drawn from q.
    """
    xp = array_namespace(p, q)
    most, height = envelope(p, q), q[proposals]
    massless = proposals[~(height > 0)]
    if len(massless):
        raise ContractError(f"q gives token {int(massless[0])} no mass: it was not drawn from it")
    if most == math.inf:
        return xp.zeros(proposals.shape, dtype=xp.bool)
    return xp.astype(uniforms * (most * height) < p[proposals], xp.bool)
