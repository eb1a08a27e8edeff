"""What can be learned from completions, whether laws are spread out or points. In: completions. Out: evidence, a bound.

`sampled.py` bets on tokens, `greedy.py` compares them with the best one.
"""

from collections.abc import Sequence
from typing import Any, Protocol, Self

from draftproof.audit.reference import Reference, Scored
from draftproof.witness.drift import Drift
from draftproof.witness.verdict import Limits, Opinion

__all__ = ["Evidence"]


class Evidence(Protocol):
    """What one arm has shown so far."""

    @property
    def tokens(self) -> int:
        """Tokens seen."""
        ...

    @property
    def log_evidence(self) -> float:
        """The largest log-wealth against the engine so far, in nats; infinite if a token could not be."""
        ...

    @property
    def log_wealth(self) -> float:
        """That of now."""
        ...

    def add(self, scored: Sequence[Scored], reference: Reference) -> list[float]:
        """Take in completions; return for each of their tokens the log-wealth that came with it."""
        ...

    def bound(self, delta: float) -> float:
        """Return what the drift over all tokens can be at most, with probability 1 - delta; 1 before any."""
        ...

    def opinion(self, limits: Limits) -> Opinion:
        """Return what this arm shows, alone."""
        ...

    def shapes(self) -> list[dict[str, Any]]:
        """Return the known faults that the tokens are most like: suspects, whose own wealth is no evidence."""
        ...

    def slots(self, delta: float) -> dict[str, Any]:
        """Return for each slot class its tokens, the largest bound on its drift and the event that has it."""
        ...

    def events(self, delta: float) -> dict[str, Drift]:
        """Return the drift of each declared event over all tokens."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the state; `from_json` makes the same of it."""
        ...

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Self:
        """Return the state that was saved."""
        ...
