"""Whether an engine's own log-probabilities are those of the tokens it emits. In: both. Out: how many are off.

Engines report them before sampling settings or after; what matches better counts. A wrong one is a fault of its own: it
says nothing about the law of the tokens.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from draftproof.audit.reference import Scored
from draftproof.warpers.base import RowKind
from draftproof.warpers.temperature import Temperature

__all__ = ["Reported"]

TOLERANCE = 2e-3
"""A float32 log-softmax is right to 1e-5; engines print few digits, and attention kernels differ by 1e-3."""
SHARE = 1e-3
"""So many of the tokens may be off."""
FEWEST = 100
LEAST = -100.0
"""Nats; below it one is as impossible as another."""


@dataclass
class Reported:
    """How many log-probabilities came, and how many are off."""

    compared: int = 0
    off_after: int = 0
    """From the law that the token is drawn from."""
    off_before: int = 0
    """From the model's law before all sampling settings."""
    zeros: int = 0
    worst: float = 0.0
    """The largest difference from the nearer of the two."""

    def add(self, logprobs: Sequence[float | None] | None, scored: Scored, kind: RowKind) -> None:
        """Take in those of a completion."""
        told = [(i, value) for i, value in enumerate(logprobs or ()) if value is not None and i < len(scored.emitted)]
        if not told:
            return
        places = [i for i, _ in told]
        values = np.nan_to_num(np.array([value for _, value in told]), nan=-np.inf)  # as wrong as can be
        plain = Temperature().laws(scored.rows, kind) if kind == "logits" else scored.rows
        with np.errstate(divide="ignore"):
            after = np.log(scored.emitted.at_tokens(scored.emitted.target))[places]
            before = np.log(scored.emitted.at_tokens(plain))[places]
        away = [np.abs(np.maximum(values, LEAST) - np.maximum(other, LEAST)) for other in (after, before)]
        self.compared += len(told)
        self.off_after += int((away[0] > TOLERANCE).sum())
        self.off_before += int((away[1] > TOLERANCE).sum())
        self.zeros += int((values == 0).sum())
        self.worst = max(self.worst, float(np.minimum(*away).max()))

    @property
    def wrong(self) -> str | None:
        """What is wrong with them, in words; None if nothing is, or too few came."""
        off = min(self.off_after, self.off_before)
        if self.compared < FEWEST or off <= SHARE * self.compared:
            return None
        what = "all of them are 0" if self.zeros == self.compared else f"{off / self.compared:.1%} of them are off"
        return f"reported log-probabilities are not those of the tokens: {what} (by up to {self.worst:.2g})"

    def to_json(self) -> dict[str, Any]:
        """Return the state; `from_json` makes the same of it."""
        return asdict(self)

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Self:
        """Return the state that was saved."""
        return cls(**saved)
