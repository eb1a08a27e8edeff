"""Whether speculation adds to what the same engine does without it: bets against more drift than its control arm has.

In: how far the control arm may drift, tokens of the speculative arm. Out: wealth. An engine that computes in other
numbers than ours is off at every token, and would be convicted for that in time. Here a bet has to pay, at every token,
for as much drift as the control arm may have on average. As strengths are constants, a bet stays fair if the drift so
far is never more than that on average, however it changes from token to token.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from draftproof.witness.drift import drifts
from draftproof.witness.emitted import Emitted
from draftproof.witness.eprocess import EProcess
from draftproof.witness.examined import examined, slot_classes
from draftproof.witness.experts import EVENTS, Bets
from draftproof.witness.mixture import SIGNS, SLOTS, STRENGTHS, mean

__all__ = ["AverageTube", "Margin", "margins"]

Margin = tuple[float, float]
"""How much more probable than it should be an event may be on average, and how much less."""


def margins(control: EProcess, delta: float) -> dict[str, Margin]:
    """Return how far the control arm may be off, for each event and slot class, as `event|slot`.

    All of it is true with probability 1 - delta. A slot class that the control arm has no tokens of is not there: what
    it does on all tokens says nothing of some.

    Args:
        control: its state; with many tokens, margins are narrow and bets strong.
        delta: see above.
    """
    return {name: (max(drift.upper, 0.0), max(-drift.lower, 0.0)) for name, drift in drifts(control, delta).items()}


@dataclass
class AverageTube:
    """What the tokens of the speculative arm come to; log-wealth is in nats.

    If on average over the tokens so far no event is ever further off than its margin, wealth ever reaches 1 / alpha
    with probability alpha at most. With margins that hold with probability 1 - delta, a verdict is wrong with
    probability alpha + delta.
    """

    margins: Mapping[str, Margin]
    """See `margins`. They are fixed before the first token."""
    logs: NDArray[np.float64] = field(default_factory=lambda: np.zeros((len(SLOTS), len(EVENTS), 2, len(STRENGTHS))))
    """(3, 8, 2, 13) log-wealth of the bet that an event comes too often, and too seldom, at each strength."""
    tokens: int = 0
    highest: float = 0.0
    """The largest log-wealth after any token so far."""

    @property
    def log_wealth(self) -> float:
        """The natural logarithm of the wealth now."""
        return float(self._mixed(self.logs))

    def add(self, emitted: Emitted) -> NDArray[np.float64]:
        """Bet on the next tokens, each of which the target gives mass to; return (B,) the log-wealth after each."""
        if not len(emitted):
            return np.empty(0)
        return self.add_bets(examined(emitted, None)[0], slot_classes(emitted))

    def add_bets(self, found: Bets, slots: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Bet on tokens of which it is known what the experts make of them, and their slot classes (B, 3)."""
        off, there = found.hits - found.masses, found.counted[:, None, :] & slots[:, :, None] & self._there()
        taxed = off[:, None, :, None] * SIGNS - self._taxes()
        gains = np.log1p(taxed[..., None] * self._strengths()) * there[..., None, None]
        logs = np.cumsum(gains, axis=0) + self.logs
        trace = self._mixed(logs)
        self.logs, self.tokens = logs[-1].copy(), self.tokens + len(off)
        self.highest = max(self.highest, float(trace.max()))
        return trace

    def suspects(self) -> dict[str, float]:
        """Return the log-wealth of the bets on each event in each slot class, largest first; none is evidence alone."""
        evenly = np.full(self.logs.shape[2:], 1 / math.prod(self.logs.shape[2:]))
        found = {
            f"{event}|{slot}": float(mean(self.logs[s, k], evenly))
            for s, slot in enumerate(SLOTS)
            for k, event in enumerate(EVENTS)
            if f"{event}|{slot}" in self.margins
        }
        return dict(sorted(found.items(), key=lambda one: -one[1]))

    def merged(self, other: Self) -> Self:
        """Return the state after the tokens of both, those of `other` last. Margins are those of both."""
        found = type(self)(self.margins, self.logs + other.logs, self.tokens + other.tokens)
        found.highest = max(self.highest, found.log_wealth)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the state in lists and numbers; `from_json` makes the same of it."""
        told = {name: list(margin) for name, margin in self.margins.items()}
        return vars(self) | {"margins": told, "logs": self.logs.tolist()}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Self:
        """Return the state that was saved."""
        told = {name: (float(more), float(less)) for name, (more, less) in saved["margins"].items()}
        return cls(**saved | {"margins": told, "logs": np.array(saved["logs"])})

    def _there(self) -> NDArray[np.bool_]:
        """Return (3, 8) which events are bet on in which slot classes."""
        return np.array([[f"{event}|{slot}" in self.margins for event in EVENTS] for slot in SLOTS])

    def _taxes(self) -> NDArray[np.float64]:
        """Return (3, 8, 2) what each bet pays at every token; 0 where there is no bet."""
        return np.array([[self.margins.get(f"{event}|{slot}", (0.0, 0.0)) for event in EVENTS] for slot in SLOTS])

    def _strengths(self) -> NDArray[np.float64]:
        """Return (3, 8, 2, 13) how much each bet risks; a token takes 1 and the tax of it at most."""
        return STRENGTHS / (1 + self._taxes()[..., None])

    def _mixed(self, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (...) the logarithm of the whole wealth, spread over slot classes as elsewhere, evenly over events."""
        there = self._there()
        if not there.any():
            return np.zeros(logs.shape[:-4])
        of_slots = np.array([*SLOTS.values()])[:, None] * there / there.sum(axis=-1, keepdims=True).clip(min=1)
        weights = np.broadcast_to((of_slots / of_slots.sum())[..., None, None], self.logs.shape)
        return mean(logs, weights / math.prod(self.logs.shape[2:]))
