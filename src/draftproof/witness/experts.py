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

from draftproof.arrays import array_namespace, is_numpy_array
from draftproof.types import Array, Probs
from draftproof.witness.emitted import Emitted
from draftproof.witness.events import mass, nucleus, positive, total

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
LENIENT, NUCLEUS = 1.25, 0.95
POWERS = {"colder": 1.25, "hotter": 0.8}
"""To which each probability is raised: temperatures of 0.8 and 1.25."""
MOST = 1e300
FEWEST_DIGITS = 1e-37
"""Less is taken for this in half the digits; what it adds to a sum that is at least 1 is nothing."""
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


class _Event(NamedTuple):
    """The tokens that an expert likes better than the target does."""

    hit: NDArray[np.bool_]
    """(B,) whether the emitted one is among them."""
    mass: NDArray[np.float64]
    """(B,) the target's."""

    @classmethod
    def of(cls, emitted: Emitted, liked: Array) -> "_Event":
        """Return that of (B, V) liked tokens."""
        return cls(emitted.at_tokens(liked) > 0, mass(emitted.target, liked))


class _Opinion(NamedTuple):
    """What an expert makes of B tokens."""

    name: str
    at_tokens: NDArray[Any]
    """(B,) a(x)."""
    speaks: NDArray[np.bool_] | bool = True
    """(B,) where it has something to say."""
    event: _Event | None = None


def bets(emitted: Emitted, before: Probs | None, ratio: Array | None, size: int) -> Bets:
    """Return what the experts make of tokens; the target gives mass to each.

    Args:
        emitted: B tokens.
        before: (V,) the target's law one token earlier; None at the beginning.
        ratio: (B, V) see `draft_ratio`.
        size: how many tokens there are, those included that were left out because no law here gives them mass.
    """
    count = len(emitted)
    ratios = np.ones((count, len(EXPERTS)))
    hits, masses = np.zeros((count, len(EVENTS))), np.zeros((count, len(EVENTS)))
    counted = np.zeros((count, len(EVENTS)), dtype=bool)
    chances = emitted.at_tokens(emitted.target)
    for opinion in _opinions(emitted, chances, before, ratio, size):
        k, speaks = EXPERTS.index(opinion.name), np.broadcast_to(opinion.speaks, count)
        with np.errstate(over="ignore"):  # a token of probability 1e-320: a bet may win less than it could
            ratios[speaks, k] = np.minimum(opinion.at_tokens / chances, MOST)[speaks]
        if opinion.event is not None:
            k = EVENTS.index(opinion.name)
            hits[:, k], masses[:, k], counted[:, k] = *opinion.event, speaks
    return Bets(ratios, np.where(counted, hits, 0), np.where(counted, masses, 0), counted)


def _opinions(
    emitted: Emitted, chances: NDArray[Any], before: Probs | None, ratio: Array | None, size: int
) -> Iterator[_Opinion]:
    p, count = emitted.target, len(emitted)
    if emitted.draft is not None and ratio is not None:
        yield from _draft_faults(emitted, emitted.draft, chances, ratio)
    yield from _best_faults(emitted, chances)
    yield from _sharpness_faults(emitted, chances)
    yield _Opinion("garbage", np.full(count, 1 / size))
    if emitted.rejected is not None:
        places = np.maximum(emitted.rejected, 0)
        likely = Emitted(places, p).at_tokens(p) > 0  # to bet on an impossible token is to lose the bet
        yield _Opinion("repeat_rej", places == emitted.tokens, (emitted.rejected >= 0) & likely)
    lagged = chances.copy()
    if count > 1:
        lagged[1:] = Emitted(emitted.tokens[1:], p[:-1, :]).at_tokens(p[:-1, :])
    if before is not None:
        lagged[0] = float(before[int(emitted.tokens[0])])
    yield _Opinion("row_lag", lagged, (np.arange(count) > 0) | (before is not None))


def _draft_faults(emitted: Emitted, q: Probs, chances: NDArray[Any], ratio: Array) -> Iterator[_Opinion]:
    """Yield what goes wrong where drafts are accepted, rejected and replaced."""
    p, drafted, xp = emitted.target, emitted.at_tokens(q), array_namespace(q)
    rejection = 1 - total(xp.minimum, p, q)
    beta, shared = np.asarray(rejection[:, 0]), np.minimum(chances, drafted)
    residual = (chances - shared) / np.where(beta > LEAST, beta, 1)
    yield _Opinion("resid_p", shared + beta * chances, event=_Event.of(emitted, ratio > ABOVE - rejection))
    yield _Opinion("resid_q", shared + beta * drafted, event=_Event.of(emitted, ratio > ABOVE / (1 + rejection)))
    yield _Opinion("draft_leak", drafted, event=_Event.of(emitted, ratio > ABOVE))
    yield _Opinion("over_corr", residual, beta > LEAST, _Event.of(emitted, ratio < 1 - rejection * ABOVE))
    lost = 1 - np.asarray(total(lambda q, p: xp.minimum(q, LENIENT * p), q, p)[:, 0])
    yield _Opinion("lenient", np.minimum(drafted, LENIENT * chances) + lost * residual)


def _best_faults(emitted: Emitted, chances: NDArray[Any]) -> Iterator[_Opinion]:
    """Yield laws that prefer the most probable token, or avoid it."""
    p = emitted.target
    best = np.asarray(array_namespace(p).argmax(p, axis=-1))
    is_best, highest = emitted.tokens == best, Emitted(best, p).at_tokens(p)
    unsure = highest * ABOVE < 1
    yield _Opinion("greedy", is_best, event=_Event(is_best & unsure, np.where(unsure, highest, 0)))
    others = 1 - highest
    yield _Opinion("anti_greedy", chances * ~is_best / np.where(others > LEAST, others, 1), others > LEAST)


def _sharpness_faults(emitted: Emitted, chances: NDArray[Any]) -> Iterator[_Opinion]:
    """Yield laws that prefer likely tokens more than the target does, or less."""
    p = emitted.target
    for name, power in POWERS.items():
        norm = total(RAISED[name], p)
        edge = (norm * ABOVE) ** (1 / (power - 1))
        liked = p > edge if power > 1 else p < edge
        yield _Opinion(name, chances**power / np.asarray(norm[:, 0]), event=_Event.of(emitted, liked))
    inside = nucleus(p, NUCLEUS)
    held, within, outside = mass(p, inside), emitted.at_tokens(inside) > 0, _Event.of(emitted, ~inside)
    yield _Opinion("truncated", chances * within / held)
    rest = outside.mass
    yield _Opinion("tail", chances * ~within / np.where(rest > LEAST, rest, 1), rest > LEAST, outside)


def _colder(p: Probs) -> Array:
    """Return laws to the power 5 / 4, a good deal quicker than as a power."""
    xp = array_namespace(p)
    return p * xp.sqrt(xp.sqrt(p))


def _hotter(p: Probs) -> Array:
    """Return laws to the power 4 / 5, likewise: a fifth root in half the digits, which a step of Newton's doubles."""
    xp = array_namespace(p)
    if not is_numpy_array(p):
        return xp.exp(POWERS["hotter"] * xp.log(positive(p)))
    root = np.exp(np.log(np.maximum(p, FEWEST_DIGITS).astype(np.float32)) / np.float32(5)).astype(np.float64)
    square = root * root
    root = (4 * root + p / (square * square)) / 5
    square = root * root
    return square * square


RAISED = {"colder": _colder, "hotter": _hotter}
