"""Evidence where laws are spread out: the statistical witness, which bets on every token. See `Evidence`."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import array_namespace
from draftproof.audit.reference import Reference, Scored
from draftproof.witness.average_tube import AverageTube
from draftproof.witness.drift import Drift, drifts, of_slots
from draftproof.witness.emitted import Emitted
from draftproof.witness.eprocess import EProcess
from draftproof.witness.experts import EXPERTS
from draftproof.witness.mixture import SLOTS, STRENGTHS
from draftproof.witness.verdict import Limits, Opinion, Verdict, judge

__all__ = ["Sampled"]

MOST_AMBIGUOUS = 0.2
"""So large a part of the tokens may be left out."""
LIKELY = math.log(1e3)
"""Less wealth than that names nobody."""
SHOWN = 3
"""Known faults that are told, those that explain most."""
MOST_TOGETHER = 2**20
"""Probabilities that are bet on at a time: some hundred megabytes with all that a bet computes."""


@dataclass
class Sampled:
    """See `Evidence`."""

    state: EProcess = field(default_factory=EProcess)
    ambiguous: int = 0
    """Tokens that were not bet on, because rounding may move the edge of what is possible there."""
    tube: AverageTube | None = None
    """Bets that there is more drift than without speculation, if there is some without."""

    @property
    def tokens(self) -> int:
        """See `Evidence.tokens`."""
        return self.state.tokens + self.ambiguous

    @property
    def log_evidence(self) -> float:
        """See `Evidence.log_evidence`."""
        return self.state.highest

    @property
    def log_wealth(self) -> float:
        """See `Evidence.log_wealth`."""
        return self.state.log_wealth

    def add(self, scored: Sequence[Scored], reference: Reference) -> list[float]:
        """See `Evidence.add`."""
        told, parts, proof = list[bool](), list[Emitted](), False
        for one in scored:
            found = reference.support(one)
            kept = np.ones(len(one.emitted), dtype=bool) if found is None else ~found.ambiguous
            wrong = [] if found is None else found.impossible(one.emitted.tokens).tolist()
            end = wrong[0] if wrong else len(kept)
            told += kept[:end].tolist()
            parts.append(one.emitted if found is None else found.bettable(one.emitted, end))
            if wrong:
                proof = True
                break
        gains = np.zeros(sum(len(one.emitted) for one in scored))
        gains[np.flatnonzero(told)] = self._bet(parts)
        self.ambiguous += told.count(False)
        if proof:
            self._convict()
        return gains.tolist()

    def bound(self, delta: float) -> float:
        """See `Evidence.bound`."""
        return max((drift.upper for drift in self.events(delta).values()), default=1.0)

    def opinion(self, limits: Limits) -> Opinion:
        """See `Evidence.opinion`."""
        found = judge(self.state, limits)
        if found.verdict is Verdict.LOSSLESS and self.ambiguous > MOST_AMBIGUOUS * self.tokens:
            share = f"{self.ambiguous / self.tokens:.0%} of the tokens"
            reason = (
                f"at {share} rounding may decide what is possible, so nothing was bet there; another top-p or top-k"
            )
            return Opinion(Verdict.INCONCLUSIVE, f"{reason} would show more", found.bound)
        return found

    def shapes(self) -> list[dict[str, Any]]:
        """See `Evidence.shapes`."""
        best = self.state.lr.reshape(len(SLOTS), len(EXPERTS), -1).max(axis=(0, 2))
        told = list[dict[str, Any]]()
        for k in [k for k in np.argsort(-best, kind="stable")[:SHOWN].tolist() if best[k] > LIKELY]:
            slot, strength = np.unravel_index(int(self.state.lr[:, k].argmax()), self.state.lr[:, k].shape)
            name, mixed = list(SLOTS)[int(slot)], float(STRENGTHS[int(strength)])
            told.append({"shape": EXPERTS[k], "slot": name, "strength": mixed, "log_wealth": float(best[k])})
        return told

    def slots(self, delta: float) -> dict[str, Any]:
        """See `Evidence.slots`."""
        return of_slots(self.state, delta)

    def events(self, delta: float) -> dict[str, Drift]:
        """See `Evidence.events`."""
        found = drifts(self.state, delta)
        return {name.partition("|")[0]: drift for name, drift in found.items() if name.endswith("|all")}

    def to_json(self) -> dict[str, Any]:
        """See `Evidence.to_json`."""
        tube = None if self.tube is None else self.tube.to_json()
        return {"state": self.state.to_json(), "ambiguous": self.ambiguous, "tube": tube}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Self:
        """See `Evidence.from_json`."""
        tube = None if saved["tube"] is None else AverageTube.from_json(saved["tube"])
        return cls(EProcess.from_json(saved["state"]), saved["ambiguous"], tube)

    def _bet(self, parts: Sequence[Emitted]) -> NDArray[np.float64]:
        """Bet on tokens, and return the log-wealth that came with each; nothing is said of what is infinite."""
        traces = [self.state.log_wealth]
        for part in _together([part for part in parts if len(part)]):
            traces += self.state.add(part).tolist()
            if self.tube is not None and self.state.violation is None:
                self.tube.add(part)
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(np.diff(traces), nan=0.0, posinf=0.0, neginf=0.0)

    def _convict(self) -> None:
        """Note a token that cannot come, whatever is rounded."""
        if self.state.violation is None:
            self.state.tokens += 1
            self.state.violation, self.state.highest = self.state.tokens, math.inf


def _together(parts: Sequence[Emitted]) -> Iterator[Emitted]:
    """Yield the same tokens in as few pieces as fit the memory that a bet may take."""
    few, held = list[Emitted](), 0
    for part in parts:
        size = math.prod(part.target.shape)
        if few and (held + size > MOST_TOGETHER or (part.bonus is None) != (few[0].bonus is None)):
            yield _one(few)
            few, held = [], 0
        few.append(part)
        held += size
    if few:
        yield _one(few)


def _one(parts: Sequence[Emitted]) -> Emitted:
    xp = array_namespace(parts[0].target)
    drafts = [part.draft for part in parts if part.draft is not None]
    flags = [
        np.concatenate([getattr(part, name) for part in parts]) if getattr(parts[0], name) is not None else None
        for name in ("bonus", "after_reject")
    ]
    tokens = np.concatenate([part.tokens for part in parts])
    return Emitted(tokens, xp.concat([part.target for part in parts]), xp.concat(drafts) if drafts else None, *flags)
