"""Rival forecasters: what each known fault would emit instead of the target's law. In: emitted tokens. Out: ratios.

An expert is a law a; betting a share of the wealth on it multiplies that share by a(x) / p(x), whose mean is 1 under p
whatever a is. So nothing here can make the witness wrong, only blind. New experts go to the end.
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
ABOVE = 1e-9
"""By which share an expert must like a token better: less is rounding."""
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
    for name, law, speaks in _laws(emitted, before, xp):
        k = EXPERTS.index(name)
        with np.errstate(over="ignore"):  # a token of probability 1e-320: a bet may win less than it could
            ratios[speaks, k] = np.minimum(emitted.at_tokens(law) / chances, MOST)[speaks]
        if name in EVENTS:
            k = EVENTS.index(name)
            liked = law > emitted.target * (1 + ABOVE)
            hits[:, k] = emitted.at_tokens(liked)
            masses[:, k] = np.asarray(xp.sum(xp.where(liked, emitted.target, 0.0 * emitted.target), axis=-1))
            counted[:, k] = speaks
    return Bets(ratios, np.where(counted, hits, 0), np.where(counted, masses, 0), counted)


_Opinion = tuple[str, Probs, NDArray[np.bool_]]
"""An expert, its laws (B, V), and where it has something to say (B,)."""


def _laws(emitted: Emitted, before: Probs | None, xp: Any) -> Iterator[_Opinion]:
    everywhere = np.ones(len(emitted), dtype=bool)
    if emitted.draft is not None:
        yield from _draft_faults(emitted.target, emitted.draft, everywhere, xp)
    yield from _sharpness_faults(emitted.target, everywhere, xp)
    yield "garbage", xp.full_like(emitted.target, 1 / emitted.target.shape[-1]), everywhere
    if emitted.rejected is not None:
        named = _one_hot(xp, np.maximum(emitted.rejected, 0), emitted.target)
        likely = np.asarray(xp.sum(named * emitted.target, axis=-1)) > 0  # an impossible token is a lost bet
        yield "repeat_rej", named, (emitted.rejected >= 0) & likely
    shifted = emitted.target[:1, :] if before is None else before[None, :]
    earlier = everywhere.copy()
    earlier[0] = before is not None
    yield "row_lag", xp.concat([shifted, emitted.target[:-1, :]]), earlier


def _draft_faults(p: Probs, q: Probs, everywhere: NDArray[np.bool_], xp: Any) -> Iterator[_Opinion]:
    """Yield what goes wrong where drafts are accepted, rejected and replaced."""
    shared = xp.minimum(p, q)
    rejection = 1 - xp.sum(shared, axis=-1, keepdims=True)
    may_reject = np.asarray(rejection[:, 0]) > LEAST
    residual = (p - shared) / xp.where(rejection > LEAST, rejection, xp.ones_like(rejection))
    yield "resid_p", shared + rejection * p, everywhere
    yield "resid_q", shared + rejection * q, everywhere
    yield "draft_leak", q, everywhere
    yield "over_corr", residual, may_reject
    kept = xp.minimum(q, LENIENT * p)
    yield "lenient", kept + (1 - xp.sum(kept, axis=-1, keepdims=True)) * residual, everywhere


def _sharpness_faults(p: Probs, everywhere: NDArray[np.bool_], xp: Any) -> Iterator[_Opinion]:
    """Yield laws that prefer likely tokens more than the target does, or less."""
    best = _one_hot(xp, np.asarray(xp.argmax(p, axis=-1)), p)
    yield "greedy", best, everywhere
    yield "anti_greedy", *_given(xp, p, best == 0)
    for name, temperature in (("colder", COLD), ("hotter", HOT)):
        powers = p ** (1 / temperature)
        yield name, powers / xp.sum(powers, axis=-1, keepdims=True), everywhere
    inside = TopP(NUCLEUS)(p) > 0
    yield "truncated", *_given(xp, p, inside)
    yield "tail", *_given(xp, p, ~inside)


def _given(xp: Any, p: Probs, event: Array) -> tuple[Probs, NDArray[np.bool_]]:
    """Return the laws given an event (B, V), and where it has enough mass to be given."""
    held = xp.where(event, p, xp.zeros_like(p))
    mass = xp.sum(held, axis=-1, keepdims=True)
    enough = mass > LEAST
    return held / xp.where(enough, mass, xp.ones_like(mass)), np.asarray(enough[:, 0])


def _one_hot(xp: Any, tokens: NDArray[np.int64], like: Probs) -> Probs:
    ids = xp.arange(like.shape[-1], device=like.device)[None, :]
    return xp.astype(ids == xp.asarray(tokens, device=like.device)[:, None], like.dtype)
