"""What the statistical witness says, and the sentence that says it: never more than was shown.

In: the state of the witness, limits. Out: LOSSLESS up to a bound, DRIFT, or INCONCLUSIVE with what is missing.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from draftproof.witness.drift import Drift, drifts
from draftproof.witness.eprocess import EProcess
from draftproof.witness.mixture import SLOTS

__all__ = ["Limits", "Opinion", "Verdict", "judge"]

PLANNED = 29
"""Tokens that a bound of eps takes are this many variances of the events over eps squared."""


class Verdict(StrEnum):
    """What can be said of an engine from its tokens."""

    LOSSLESS = "LOSSLESS"
    DRIFT = "DRIFT"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True)
class Limits:
    """When what is said.

    Args:
        alpha: how probable it may be that a lossless engine is ever said to drift.
        watch: evidence at which an engine is no longer said to be lossless.
        delta: how probable it may be that a bound ever fails.
        target: the bound on the drift that LOSSLESS takes.
        fewest: tokens that it takes at least.
        slot_fewest: tokens of a slot class that a statement on it takes.
    """

    alpha: float = 1e-6
    watch: float = 1e-3
    delta: float = 1e-3
    target: float = 0.02
    fewest: int = 2000
    slot_fewest: int = 500


class Opinion(NamedTuple):
    """A verdict, why, and the largest bound on the drift over all tokens; None before any."""

    verdict: Verdict
    reason: str
    bound: float | None


def judge(state: EProcess, limits: Limits = Limits()) -> Opinion:
    """Return what can be said after the tokens so far. DRIFT is final; LOSSLESS may become DRIFT with more."""
    found = drifts(state, limits.delta)
    of_all = [drift.upper for name, drift in found.items() if name.endswith("|all")]
    bound = max(of_all, default=None)
    if state.violation is not None:
        reason = f"token {state.violation} has probability 0 under the target's law; a lossless engine cannot emit it"
        return Opinion(Verdict.DRIFT, reason, bound)
    if state.highest >= -math.log(limits.alpha):
        reason = (
            f"evidence 10^{state.highest / math.log(10):.1f} : 1 after {state.tokens:,} tokens; a lossless engine "
            f"reaches 10^{-math.log10(limits.alpha):.0f} : 1 with probability {limits.alpha:g} at most"
        )
        return Opinion(Verdict.DRIFT, reason, bound)
    if missing := _missing(state, limits, bound):
        return Opinion(Verdict.INCONCLUSIVE, missing, bound)
    return Opinion(Verdict.LOSSLESS, _badge(state, limits, found), bound)


def _missing(state: EProcess, limits: Limits, bound: float | None) -> str | None:
    """Return what LOSSLESS lacks."""
    if bound is None or state.tokens < limits.fewest:
        return f"{state.tokens:,} tokens are too few; {limits.fewest:,} is the least"
    if state.highest >= -math.log(limits.watch):
        return (
            f"evidence 10^{state.highest / math.log(10):.1f} : 1 against it: too much to call it lossless, too little "
            "to convict it; more tokens decide"
        )
    if bound > limits.target:
        counts = state.event_counts[0]
        spread = float((state.event_squares[0] / counts.clip(min=1)).max())
        needed = math.ceil(PLANNED * spread / limits.target**2 / 1000) * 1000
        return f"the drift is at most {bound:.2%} so far; {limits.target:.2%} takes about {needed:,} tokens"
    return None


def _badge(state: EProcess, limits: Limits, found: dict[str, Drift]) -> str:
    slots = []
    for slot, tokens in zip(SLOTS, state.slot_tokens, strict=True):
        uppers = [drift.upper for name, drift in found.items() if name.endswith(f"|{slot}")]
        if slot != "all" and tokens >= limits.slot_fewest:
            slots.append(f"{slot.replace('_', '-')} slots <= {max(uppers):.2%}")
    bound = max(drift.upper for name, drift in found.items() if name.endswith("|all"))
    directions = len({name.partition("|")[0] for name in found})
    of_slots = f" ({', '.join(slots)})" if slots else ""
    return (
        f"{state.tokens:,} tokens, no alarm at {limits.alpha:g}; drift along the {directions} declared directions <= "
        f"{bound:.2%} of tokens at {1 - limits.delta:.1%}{of_slots}"
    )
