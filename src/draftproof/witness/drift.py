"""How far an engine can be off, given what was seen: a bound on its average drift, and faults that are ruled out.

In: the state of the statistical witness. Out: numbers that hold at every look at once, with probability 1 - delta.
No assumption is made on how the drift changes from token to token.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from draftproof.witness.eprocess import EProcess
from draftproof.witness.experts import EVENTS, EXPERTS, OF_DRAFTS
from draftproof.witness.mixture import SLOTS, STRENGTHS, mean

__all__ = ["Drift", "drift_upper", "drifts", "excluded_from", "of_slots"]

RATES = 0.9 * 2.0 ** -np.arange(14)
"""The rates at which the bound bets; it is as good as the best of them, but for their number."""
_DRAFTED = EVENTS.index("resid_p")
PRECISE = 1e-13
"""Halving ends where the interval is this part of the bound."""


class Drift(NamedTuple):
    """By how much the probability of an event differed from the target's, on average over `tokens` tokens."""

    tokens: int
    mean: float
    lower: float
    upper: float


def drift_upper(
    total: NDArray[np.float64] | float,
    squares: NDArray[np.float64] | float,
    tokens: NDArray[np.float64] | float,
    delta: float,
) -> NDArray[np.float64]:
    """Return upper bounds (...) on the average drift that hold for all numbers of tokens at once.

    Fan's inequality for bounded martingale differences, mixed over `RATES`: a sum U of drifts is ruled out where the
    mean over rates of exp(rate (U - total) - psi(rate) squares) is 1 / delta, psi(l) = -ln(1 - l) - l.

    Args:
        total: (...) the sum over tokens of 1 in the event less its mass.
        squares: (...) the sum of the squares of that.
        tokens: (...) how many.
        delta: how probable it may be that the bound ever fails.
    """
    costs = (-np.log1p(-RATES) - RATES) * np.asarray(squares)[..., None]
    weights = np.full(len(RATES), 1 / len(RATES))

    def over(excess: NDArray[np.float64]) -> NDArray[np.bool_]:
        return mean(RATES * excess[..., None] - costs, weights) > -math.log(delta)

    high = np.ones(costs.shape[:-1])
    while not (ruled_out := over(high)).all():
        high = np.where(ruled_out, high, 2 * high)
    low = np.zeros(high.shape)
    while (high - low > PRECISE * high).any():
        middle = (low + high) / 2
        ruled_out = over(middle)
        low, high = np.where(ruled_out, low, middle), np.where(ruled_out, middle, high)
    return (total + high) / tokens


def drifts(state: EProcess, delta: float) -> dict[str, Drift]:
    """Return the drift of each event in each slot class with tokens, all holding together with probability 1 - delta.

    Keys are `event|slot`.
    """
    declared = [k for k, event in enumerate(EVENTS) if event not in OF_DRAFTS or state.event_counts[0, _DRAFTED]]
    each = delta / (2 * len(SLOTS) * len(declared))
    places = [(s, k) for s in range(len(SLOTS)) for k in declared if state.event_counts[s, k]]
    if not places:
        return {}
    at = tuple(np.array(places).T)
    totals, squares, tokens = state.event_sums[at], state.event_squares[at], state.event_counts[at]
    signed = drift_upper(np.array([totals, -totals]), squares, tokens, each)
    uppers, lowers = np.minimum(signed[0], 1), np.maximum(-signed[1], -1)
    found = zip(tokens.astype(int).tolist(), (totals / tokens).tolist(), lowers.tolist(), uppers.tolist(), strict=True)
    names = [f"{EVENTS[k]}|{list(SLOTS)[s]}" for s, k in places]
    return {name: Drift(*one) for name, one in zip(names, found, strict=True)}


def of_slots(state: EProcess, delta: float) -> dict[str, dict[str, Any]]:
    """Return for each slot class with tokens how many, the largest upper bound there, and the event that has it."""
    found, told = drifts(state, delta), dict[str, dict[str, Any]]()
    for slot, tokens in zip(SLOTS, state.slot_tokens.tolist(), strict=True):
        here = {name: drift.upper for name, drift in found.items() if name.endswith(f"|{slot}")}
        if here:
            worst = max(here, key=lambda name: here[name])
            told[slot] = {"tokens": int(tokens), "drift_bound": here[worst], "event": worst.partition("|")[0]}
    return told


def excluded_from(state: EProcess, delta: float) -> dict[str, float | None]:
    """Return for each expert the least strength at which its fault is ruled out, at every token alike; or None.

    Were the fault there at a strength, the inverse of that bet's wealth would be a martingale. Wealth is concave in the
    strength: what is ruled out is all above a strength, as long as strength 0 is not; else nothing is said.
    """
    logs: NDArray[np.float64] = state.lr[0]
    largest = np.maximum(logs.max(axis=-1, keepdims=True), 0)
    mixed = np.log(0.5 * np.exp(-largest) + 0.5 * np.exp(logs - largest).mean(axis=-1, keepdims=True)) + largest
    enough = math.log(len(EXPERTS) / delta)
    ruled_out = (mixed - logs >= enough) & (mixed < enough)
    least = [float(STRENGTHS[row].min()) if row.any() else None for row in ruled_out]
    return dict(zip(EXPERTS, least, strict=True))
