"""Completions of both arms, compared in pairs, where nothing is known of them but what they say. See `black_box.py`.

In: batches. Out: sums, and bets that the arms do not write alike; saved as JSON. It never judges.
"""

import zlib
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from draftproof.audit.arm import Point
from draftproof.audit.base import Answer
from draftproof.audit.requests import ARMS
from draftproof.audit.sampler import Batch
from draftproof.witness.two_sample import TwoSample

__all__ = ["Pairs", "Side", "symbols"]


@dataclass
class Side:
    """An arm as far as it has come."""

    tokens: int = 0
    batches: int = 0
    completions: int = 0
    drafted: int | None = None
    """None while the engine has not said."""
    accepted: int = 0
    log_evidence: float = 0.0
    bound: float | None = None
    """Nothing bounds how far two unknown laws are apart."""

    def add(self, told: Sequence[Sequence[int]], batch: Batch) -> None:
        """Count a batch."""
        self.tokens += sum(map(len, told))
        self.batches += 1
        self.completions += len(told)
        if batch.counters is not None:
            self.drafted = (self.drafted or 0) + batch.counters["drafted"]
            self.accepted += batch.counters["accepted"]


@dataclass
class Pairs:
    """Both arms."""

    sides: dict[str, Side] = field(default_factory=lambda: {name: Side() for name in ARMS})
    bets: TwoSample = field(default_factory=TwoSample)
    waiting: deque[list[int]] = field(default_factory=deque[list[int]])
    """Completions of the control arm whose other half has not come."""
    curve: list[Point] = field(default_factory=lambda: [(0, 0.0, 1.0)])

    def add(self, arm: str, batch: Batch) -> int:
        """Take in a batch, compare what has found its other half, and return how many tokens came."""
        told = [symbols(answer) for answer in batch.answers]
        side = self.sides[arm]
        side.add(told, batch)
        if arm == ARMS[0]:
            self.waiting += told
        else:
            for request, tokens in zip(batch.asked, told, strict=True):
                self.bets.add(tokens, self.waiting.popleft(), request["prompt"])
            side.log_evidence = self.bets.highest
            self.curve.append((side.tokens, self.bets.log_wealth, 1.0))
        return sum(map(len, told))

    def to_json(self) -> dict[str, Any]:
        """Return the state; `from_json` makes the same of it."""
        sides = {name: asdict(side) for name, side in self.sides.items()}
        return {"sides": sides, "bets": self.bets.to_json(), "waiting": list(self.waiting), "curve": self.curve}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Self:
        """Return the state that was saved."""
        sides = {name: Side(**saved["sides"][name]) for name in ARMS}
        curve = [(int(tokens), float(wealth), float(bound)) for tokens, wealth, bound in saved["curve"]]
        return cls(sides, TwoSample.from_json(saved["bets"]), deque(saved["waiting"]), curve)


def symbols(answer: Answer) -> list[int]:
    """Return a completion in whatever it was told: ids of tokens, or numbers for their strings or for characters."""
    if answer["tokens"]:
        return answer["tokens"]
    strings = [zlib.crc32(word.encode()) for word in answer.get("strings", ())]
    return strings or [ord(character) for character in answer.get("text", "")]
