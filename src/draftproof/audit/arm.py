"""What one arm of an audit has shown so far: the witness's state, and what is counted beside it.

In: completions with what the reference makes of them. Out: the same sums, larger; saved as JSON. It never judges.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from draftproof.arrays import array_namespace
from draftproof.audit.base import Answer, Counters, Request
from draftproof.audit.logprobs import Reported
from draftproof.audit.reference import Reference, Scored
from draftproof.witness.drift import drifts
from draftproof.witness.emitted import Emitted
from draftproof.witness.eprocess import EProcess
from draftproof.witness.mixture import SLOTS

__all__ = ["Arm", "Point"]

KEPT = 8192
"""Tokens of the first completions that are kept, to find out what law they come from if it is not the right one."""
MOST_TOGETHER = 2**20
"""Probabilities that are bet on at a time: some hundred megabytes with all that a bet computes."""
Point = tuple[int, float, float]
"""(tokens, log-wealth, bound on the drift)."""


@dataclass
class Arm:
    """One arm. Log-wealth is in nats."""

    delta: float
    """How probable it may be that a bound ever fails."""
    state: EProcess = field(default_factory=EProcess)
    batches: int = 0
    """Requests were sent in batches; so many were answered and taken in."""
    completions: int = 0
    drafted: int | None = None
    """None while the engine has not said."""
    accepted: int = 0
    ambiguous: int = 0
    """Tokens that were not bet on, because rounding may move the edge of what is possible there."""
    reported: Reported = field(default_factory=Reported)
    curve: list[Point] = field(default_factory=list[Point])
    growth: list[float] = field(default_factory=list[float])
    """By place in a completion, the log-wealth that came from there."""
    kept: list[tuple[list[int], list[int]]] = field(default_factory=list[tuple[list[int], list[int]]])
    """(prompt, tokens) of the first completions."""

    @property
    def tokens(self) -> int:
        """Tokens seen."""
        return self.state.tokens + self.ambiguous

    def add(
        self, reference: Reference, asked: Sequence[Request], answers: Sequence[Answer], counters: Counters | None
    ) -> None:
        """Take in a batch."""
        scored = [
            reference.scored(request["prompt"], answer["tokens"], answer.get("rounds"))
            for request, answer in zip(asked, answers, strict=True)
        ]
        self._bet(scored, reference)
        for answer, one in zip(answers, scored, strict=True):
            self.reported.add(answer.get("logprobs"), one, reference.loaded.model.row_kind)
        self._keep(asked, answers)
        self.batches += 1
        self.completions += len(answers)
        if counters is not None:
            self.drafted = (self.drafted or 0) + counters["drafted"]
            self.accepted += counters["accepted"]
        self.curve.append((self.tokens, self.state.log_wealth, self.bound()))

    def bound(self) -> float:
        """Return the largest bound on the drift over all tokens; 1 before any."""
        found = drifts(self.state, self.delta)
        return max((drift.upper for name, drift in found.items() if name.endswith("|all")), default=1.0)

    def slots(self) -> dict[str, Any]:
        """Return for each slot class its tokens, the largest bound on its drift and the event that has it."""
        found = drifts(self.state, self.delta)
        told = dict[str, Any]()
        for slot, tokens in zip(SLOTS, self.state.slot_tokens.tolist(), strict=True):
            here = {name: drift.upper for name, drift in found.items() if name.endswith(f"|{slot}")}
            if here:
                worst = max(here, key=lambda name: here[name])
                told[slot] = {"tokens": int(tokens), "drift_bound": here[worst], "event": worst.partition("|")[0]}
        return told

    def to_json(self) -> dict[str, Any]:
        """Return the state; `from_json` makes the same of it."""
        told = {name: value for name, value in vars(self).items() if name not in {"state", "reported"}}
        return told | {"state": self.state.to_json(), "reported": self.reported.to_json()}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Self:
        """Return the state that was saved."""
        state, reported = EProcess.from_json(saved["state"]), Reported.from_json(saved["reported"])
        curve = [(int(tokens), float(wealth), float(bound)) for tokens, wealth, bound in saved["curve"]]
        parts: dict[str, Any] = {"state": state, "reported": reported, "curve": curve}
        return cls(**saved | parts)

    def _bet(self, scored: Sequence[Scored], reference: Reference) -> None:
        before, places = self.state.log_wealth, list[int]()
        traces = list[float]()
        for part in joined([one.emitted for one in scored]):
            traces += self.state.add(part).tolist()
        for one in scored:
            places += range(len(one.emitted))
        for place, gained in zip(places, np.diff([before, *traces]), strict=True):
            self.growth += [0.0] * (place + 1 - len(self.growth))
            self.growth[place] += float(gained) if math.isfinite(gained) else 0.0

    def _keep(self, asked: Sequence[Request], answers: Sequence[Answer]) -> None:
        held = sum(len(tokens) for _, tokens in self.kept)
        for request, answer in zip(asked, answers, strict=True):
            if held < KEPT:
                self.kept.append((request["prompt"], answer["tokens"]))
                held += len(answer["tokens"])


def joined(parts: Sequence[Emitted]) -> Iterator[Emitted]:
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
