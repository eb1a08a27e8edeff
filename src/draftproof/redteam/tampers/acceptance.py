"""Tampers of the accept test: whether a drafted token stays.

In: p and q at a position. Out: another probability of keeping each token. It must never touch the residual.
"""

from fractions import Fraction

from draftproof.arrays import array_namespace
from draftproof.redteam.altered import AlteredToken, greedily, ruled
from draftproof.redteam.base import Tamper
from draftproof.rules.base import surplus
from draftproof.rules.node import without
from draftproof.rules.token import acceptance_probabilities
from draftproof.types import Array, Probs

__all__ = ["TAMPERS"]

FAMILY = "acceptance"
SEEN = ("exact", "sequence")


def _upside_down(p: Probs, q: Probs) -> Array:
    return acceptance_probabilities(q, p)


def _all_upside_down(p: Probs, q: Probs, _rejected: int) -> Array:
    return surplus(q, p)


def _certain(where: Array, p: Probs) -> Array:
    """Return (V,) 1 where `where` is true, else 0."""
    xp = array_namespace(p)
    return xp.where(where, xp.ones_like(p), xp.zeros_like(p))


def _hard(p: Probs, q: Probs) -> Array:
    return _certain(p >= q, p)


def _half(p: Probs, q: Probs) -> Array:
    return _certain(2 * p > q, p)


def _padded(p: Probs, q: Probs) -> Array:
    return acceptance_probabilities(p, q + Fraction(1, 100) if p.dtype == object else q + 0.01)


def _over_maximum(p: Probs, _q: Probs) -> Array:
    return p / array_namespace(p).max(p)


def _only_argmax(p: Probs, _q: Probs) -> Array:
    xp = array_namespace(p)
    return _certain(xp.arange(p.shape[-1]) == xp.argmax(p), p)


def _odds(p: Probs, q: Probs) -> Array:
    xp = array_namespace(p)
    return p / xp.where(p > 0, p + q, xp.ones_like(p))


def _without_rejected(p: Probs, _q: Probs, rejected: int) -> Array:
    rest = without(p, rejected)
    return rest if array_namespace(p).sum(rest) > 0 else p


def _agreed(p: Probs, q: Probs, _rejected: int) -> Array:
    xp = array_namespace(p)
    kept = xp.where(p < q, p, q)
    return kept if xp.sum(kept) > 0 else p


TAMPERS = (
    Tamper(
        "ratio-upside-down",
        FAMILY,
        "Keeps a draft with probability min(1, q / p): the two laws changed places in the division.",
        "derived; the tests and reviews of many engines name it first",
        ruled(AlteredToken(_upside_down)),
        fixture="S05",
        caught_by=(*SEEN, "oracles"),
    ),
    Tamper(
        "everything-upside-down",
        FAMILY,
        "Keeps with min(1, q / p) and emits from max(0, q - p): p and q were swapped in the call.",
        "derived",
        ruled(AlteredToken(_upside_down, _all_upside_down)),
        caught_by=(*SEEN, "oracles"),
    ),
    Tamper(
        "hard-threshold",
        FAMILY,
        "Keeps a draft exactly if the target likes it at least as much as the draft did: no coin is needed.",
        "derived",
        ruled(AlteredToken(_hard)),
        fixture="S06",
        caught_by=SEEN,
    ),
    Tamper(
        "coin-fixed-at-one-half",
        FAMILY,
        "Keeps a draft if p / q exceeds one half: the coin became a constant that reproduces.",
        "derived",
        ruled(AlteredToken(_half)),
        caught_by=SEEN,
    ),
    Tamper(
        "accept-by-target-alone",
        FAMILY,
        "Keeps a sampled draft with probability p(x), the rule for certain drafts, and emits from max(0, p - q).",
        "derived",
        ruled(AlteredToken(lambda p, q: p)),
        fixture="S06b",
        caught_by=SEEN,
    ),
    Tamper(
        "odds-instead-of-ratio",
        FAMILY,
        "Keeps with probability p / (p + q), as samplers of another school do, and emits from max(0, p - q).",
        "derived",
        ruled(AlteredToken(_odds)),
        caught_by=SEEN,
    ),
    Tamper(
        "denominator-padded",
        FAMILY,
        "Divides by q + 0.01, so that nothing is ever divided by zero.",
        "derived",
        ruled(AlteredToken(_padded)),
        fixture="S22",
        caught_by=SEEN,
    ),
    Tamper(
        "ratio-to-the-target-maximum",
        FAMILY,
        "Keeps with probability p(x) / max p: how good the token is for the target, whatever drafted it.",
        "A10, 1bit-MONSTER #637",
        ruled(AlteredToken(_over_maximum)),
        caught_by=SEEN,
    ),
    Tamper(
        "only-the-target-argmax",
        FAMILY,
        "Keeps a draft only if it is the target's most probable token, as greedy decoding does, at any temperature.",
        "A20, lablup/mlxcel #902",
        ruled(AlteredToken(_only_argmax)),
        caught_by=SEEN,
    ),
    Tamper(
        "target-zeroed-at-the-draft",
        FAMILY,
        "Takes the certain draft out of the target's law in place, to prepare the residual, and only then tests it.",
        "A12, vllm-ascend PR #2881",
        ruled(AlteredToken(lambda p, q: p * 0, _without_rejected, greedily)),
        caught_by=SEEN,
    ),
    Tamper(
        "redraft-until-accepted",
        FAMILY,
        "Drafts and tests again until something is kept, so that no residual is needed: emits norm(min(p, q)).",
        "derived",
        ruled(AlteredToken(rest=_agreed)),
        fixture="S16",
        caught_by=SEEN,
    ),
)
