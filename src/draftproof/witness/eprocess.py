"""The statistical witness: a bet, token by token, that a text does not come from the target's law.

In: emitted tokens with the laws they should have been drawn from. Out: the wealth of the bet. If the engine is
lossless, wealth is a martingale that begins at 1, so it ever reaches 1 / alpha with probability alpha at most, however
often one looks and whenever one stops. Wealth is spread over many bets; that of each is kept apart, as logarithms that
add up, so states can be merged, saved and gone on with.
"""

from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import beside
from draftproof.witness import mixture
from draftproof.witness.emitted import Emitted
from draftproof.witness.examined import examined, slot_classes
from draftproof.witness.experts import EVENTS, Bets
from draftproof.witness.intervals import BINS, ORDERINGS
from draftproof.witness.mixture import BLOCKS, SHAPES, SLOTS

__all__ = ["EProcess"]

HOST = np.empty(0)
"""Sums are kept in main memory, wherever laws are."""


def _zeros(*shape: int) -> Any:
    return field(default_factory=lambda: np.zeros(shape))


@dataclass
class EProcess:
    """What the tokens so far come to. All arrays but the last two are sums over tokens.

    Log-wealth is in nats. Slot classes are `SLOTS`: all tokens, those after a pass whose drafts were all accepted,
    those after the replacement of a rejected draft.
    """

    lr: NDArray[np.float64] = _zeros(*SHAPES["lr"])
    """(3, 14, 13) log-wealth of each expert in each slot class at each strength."""
    leg: NDArray[np.float64] = _zeros(*SHAPES["leg"])
    """(3, 4, 2, 13) that of each Legendre polynomial in each ordering, of either sign, at each strength."""
    hist: NDArray[np.float64] = _zeros(*SHAPES["hist"])
    """(3, 5) that of the histograms of each ordering."""
    lag: NDArray[np.float64] = _zeros(*SHAPES["lag"])
    """(2, 2, 13) that of bets on likeness to the token before, of either sign, at each strength."""
    filled: NDArray[np.float64] = _zeros(len(ORDERINGS), BINS)
    """(3, 16) how many tokens lay in each bin."""
    event_counts: NDArray[np.float64] = _zeros(len(SLOTS), len(EVENTS))
    """(3, 8) tokens of each slot class at which there was each event."""
    event_sums: NDArray[np.float64] = _zeros(len(SLOTS), len(EVENTS))
    """(3, 8) of 1 for a token in the event, less the target's mass of the event."""
    event_squares: NDArray[np.float64] = _zeros(len(SLOTS), len(EVENTS))
    """(3, 8) of the squares of that."""
    slot_tokens: NDArray[np.float64] = _zeros(len(SLOTS))
    """(3,)."""
    tokens: int = 0
    highest: float = 0.0
    """The largest log-wealth after any token so far."""
    violation: int | None = None
    """The first token to which the target gives no mass, counted from 1."""
    before: NDArray[np.float64] | None = None
    """(V,) the target's law at the last token."""
    middle: NDArray[np.float64] | None = None
    """(3,) where that token lay in each ordering, from -1 to 1."""

    @property
    def log_wealth(self) -> float:
        """The natural logarithm of the wealth now; infinite once a token was impossible."""
        return float("inf") if self.violation is not None else float(mixture.mixed(self._logs()))

    def blocks(self) -> dict[str, float]:
        """Return the log-wealth of each block."""
        return {name: float(mixture.block(name, logs)) for name, logs in self._logs().items()}

    def add(self, emitted: Emitted) -> NDArray[np.float64]:
        """Bet on the next tokens; return (B,) the log-wealth after each."""
        if self.violation is not None or not len(emitted):
            return np.full(len(emitted), np.inf)
        impossible = np.flatnonzero(~(emitted.at_tokens(emitted.target) > 0))
        if not len(impossible):
            return self._bet(emitted)
        trace = self.add(emitted[: int(impossible[0])])
        self.tokens += 1
        self.violation, self.highest = self.tokens, float("inf")
        return np.concatenate([trace, np.full(len(emitted) - len(trace), np.inf)])

    def merged(self, other: Self) -> Self:
        """Return the state after the tokens of both, those of `other` last; at the seam nothing was bet on a lag."""
        found = type(self)()
        for name in _SUMS:
            setattr(found, name, getattr(self, name) + getattr(other, name))
        later = other if other.tokens else self
        found.before, found.middle = later.before, later.middle
        found.violation = self.violation
        if found.violation is None and other.violation is not None:
            found.violation = self.tokens + other.violation
        found.highest = max(self.highest, found.log_wealth)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the state in lists and numbers; `from_json` makes the same of it."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Self:
        """Return the state that was saved."""
        found = cls()
        for name, value in saved.items():
            setattr(found, name, np.array(value) if isinstance(value, list) else value)
        return found

    def _bet(self, emitted: Emitted) -> NDArray[np.float64]:
        slots = slot_classes(emitted)
        found, where = examined(emitted, None if self.before is None else beside(self.before, emitted.target))
        hist, self.filled = mixture.histogram_gains(where, self.filled, self.tokens)
        gains = {
            "lr": mixture.expert_gains(found.ratios, slots),
            "leg": mixture.legendre_gains(where),
            "hist": hist,
            "lag": mixture.lag_gains(where.middles, self.middle),
        }
        for name, state in self._logs().items():
            gains[name][0] += state
            np.cumsum(gains[name], axis=0, out=gains[name])
            setattr(self, name, gains[name][-1].copy())  # what is kept is one row, not all of them
        trace = mixture.mixed(gains)
        self._count(found, slots)
        self.highest = max(self.highest, float(trace.max()))
        self.before, self.middle = np.array(beside(emitted.target[-1, :], HOST)), where.middles[-1]
        return trace

    def _logs(self) -> dict[str, NDArray[np.float64]]:
        return {name: getattr(self, name) for name in BLOCKS}

    def _count(self, found: Bets, slots: NDArray[np.bool_]) -> None:
        weights, off = slots.astype(np.float64).T, found.hits - found.masses
        self.event_counts = self.event_counts + weights @ found.counted
        self.event_sums = self.event_sums + weights @ off
        self.event_squares = self.event_squares + weights @ off**2
        self.slot_tokens = self.slot_tokens + weights.sum(axis=-1)
        self.tokens += len(weights.T)


_SUMS = [one.name for one in fields(EProcess) if one.name not in ("highest", "violation", "before", "middle")]
