"""Rival forecasters: what each known fault would emit instead of the target's law. In: emitted tokens. Out: ratios.

An expert is a law a; betting a share of the wealth on it multiplies that share by a(x) / p(x), whose mean is 1 under p
whatever a is. So nothing here can make the witness wrong, only blind. Laws are not written out: where x stands is
enough of them, and an expert likes a token better than the target does where q / p, or p itself, passes a threshold.
New experts go to the end.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import array_namespace
from draftproof.types import Array, Probs
from draftproof.warpers.top_p import TopP
from draftproof.witness.emitted import Emitted

__all__ = ["EVENTS", "EXPERTS", "OF_DRAFTS", "Bets", "bets"]

EXPERTS = (
    "resid_p", "resid_q", "draft_leak", "over_corr", "lenient", "greedy", "anti_greedy", "colder", "hotter",
    "truncated", "tail", "garbage", "repeat_rej", "row_lag",
)  # fmt: skip
EVENTS = ("resid_p", "resid_q", "draft_leak", "over_corr", "greedy", "colder", "hotter", "tail")
"""Experts whose tokens, those they like better than the target does, are counted for the drift bound."""
OF_DRAFTS = ("resid_p", "resid_q", "draft_leak", "over_corr", "lenient")
"""Experts who need to know the draft's law."""
ABOVE = 1 + 1e-9
"""So many times as much an expert must like a token: less is rounding."""
LENIENT, COLD, HOT, NUCLEUS = 1.25, 0.8, 1.25, 0.95
MOST = 1e300
LEAST = 1e-9
"""So much mass a law needs to be conditioned on."""


class Bets(NamedTuple):
    """What the experts make of B tokens."""

    ratios: NDArray[np.float64]
    """(B, 14) a(x) / p(x); 1 where an expert has nothing to say."""
    hits: NDArray[np.float64]
    """(B, 8) whether the token is in the event."""
    masses: NDArray[np.float64]
    """(B, 8) the target's mass of the event."""
    counted: NDArray[np.bool_]
    """(B, 8) whether there is such an event."""


class _Opinion(NamedTuple):
    """What an expert makes of B tokens."""

    name: str
    at_tokens: NDArray[Any]
    """(B,) a(x)."""
    speaks: NDArray[np.bool_] | bool = True
    """(B,) where it has something to say."""
    liked: Array | None = None
    """(B, V) its event."""


def bets(emitted: Emitted, before: Probs | None) -> Bets:
    """Return what the experts make of tokens; the target gives mass to each.

    Args:
        emitted: B tokens.
        before: (V,) the target's law one token earlier; None at the beginning.
    """
    count = len(emitted)
    ratios = np.ones((count, len(EXPERTS)))
    hits, masses = np.zeros((count, len(EVENTS))), np.zeros((count, len(EVENTS)))
    counted = np.zeros((count, len(EVENTS)), dtype=bool)
    chances, xp = emitted.at_tokens(emitted.target), array_namespace(emitted.target)
    for opinion in _opinions(emitted, chances, before, xp):
        k, speaks = EXPERTS.index(opinion.name), np.broadcast_to(opinion.speaks, count)
        with np.errstate(over="ignore"):  # a token of probability 1e-320: a bet may win less than it could
            ratios[speaks, k] = np.minimum(opinion.at_tokens / chances, MOST)[speaks]
        if opinion.liked is not None:
            k = EVENTS.index(opinion.name)
            mass = np.asarray(_mass(xp, emitted.target, opinion.liked)[:, 0])
            hits[:, k], masses[:, k], counted[:, k] = emitted.at_tokens(opinion.liked), mass, speaks
    return Bets(ratios, np.where(counted, hits, 0), np.where(counted, masses, 0), counted)


def _opinions(emitted: Emitted, chances: NDArray[Any], before: Probs | None, xp: Any) -> Iterator[_Opinion]:
    p = emitted.target
    if emitted.draft is not None:
        yield from _draft_faults(emitted, emitted.draft, chances, xp)
    yield from _sharpness_faults(emitted, chances, xp)
    yield _Opinion("garbage", np.full(len(emitted), 1 / p.shape[-1]))
    if emitted.rejected is not None:
        places = np.maximum(emitted.rejected, 0)
        likely = Emitted(places, p).at_tokens(p) > 0  # to bet on an impossible token is to lose the bet
        yield _Opinion("repeat_rej", places == emitted.tokens, (emitted.rejected >= 0) & likely)
    shifted = xp.concat([p[:1, :] if before is None else before[None, :], p[:-1, :]])
    yield _Opinion("row_lag", emitted.at_tokens(shifted), (np.arange(len(emitted)) > 0) | (before is not None))


def _draft_faults(emitted: Emitted, q: Probs, chances: NDArray[Any], xp: Any) -> Iterator[_Opinion]:
    """Yield what goes wrong where drafts are accepted, rejected and replaced."""
    p, drafted = emitted.target, emitted.at_tokens(q)
    rejection = 1 - xp.sum(xp.minimum(p, q), axis=-1, keepdims=True)
    possible = p > 0
    with np.errstate(over="ignore"):  # more than there are numbers is more than any threshold
        ratio = xp.where(possible, q, 0.0) / xp.where(possible, p, 1.0)
    beta, shared = np.asarray(rejection[:, 0]), np.minimum(chances, drafted)
    residual = (chances - shared) / np.where(beta > LEAST, beta, 1)
    yield _Opinion("resid_p", shared + beta * chances, liked=ratio > ABOVE - rejection)
    yield _Opinion("resid_q", shared + beta * drafted, liked=ratio > ABOVE / (1 + rejection))
    yield _Opinion("draft_leak", drafted, liked=ratio > ABOVE)
    yield _Opinion("over_corr", residual, beta > LEAST, possible & (ratio < 1 - rejection * ABOVE))
    lost = 1 - np.asarray(xp.sum(xp.minimum(q, LENIENT * p), axis=-1))
    yield _Opinion("lenient", np.minimum(drafted, LENIENT * chances) + lost * residual)


def _sharpness_faults(emitted: Emitted, chances: NDArray[Any], xp: Any) -> Iterator[_Opinion]:
    """Yield laws that prefer likely tokens more than the target does, or less."""
    p = emitted.target
    best = np.asarray(xp.argmax(p, axis=-1))
    is_best, highest = emitted.tokens == best, Emitted(best, p).at_tokens(p)
    ids = xp.arange(p.shape[-1], device=p.device)[None, :]
    chosen = (ids == xp.asarray(best, device=p.device)[:, None]) & (p * ABOVE < 1)
    yield _Opinion("greedy", is_best, liked=chosen)
    others = 1 - highest
    yield _Opinion("anti_greedy", chances * ~is_best / np.where(others > LEAST, others, 1), others > LEAST)
    for name, power in (("colder", 1 / COLD), ("hotter", 1 / HOT)):
        total = xp.sum(p**power, axis=-1, keepdims=True)
        edge = (total * ABOVE) ** (1 / (power - 1))
        liked = p > edge if power > 1 else (p < edge) & (p > 0)
        yield _Opinion(name, chances**power / np.asarray(total[:, 0]), liked=liked)
    inside = TopP(NUCLEUS)(p) > 0
    held = np.asarray(_mass(xp, p, inside)[:, 0])
    within = emitted.at_tokens(inside) > 0
    yield _Opinion("truncated", chances * within / held)
    rest = np.asarray(_mass(xp, p, ~inside)[:, 0])
    yield _Opinion("tail", chances * ~within / np.where(rest > LEAST, rest, 1), rest > LEAST, ~inside)


def _mass(xp: Any, p: Probs, event: Array) -> Array:
    """Return (B, 1) the target's mass of an event (B, V)."""
    return xp.sum(xp.where(event, p, 0.0), axis=-1, keepdims=True)
