"""What one arm of an audit has shown so far: evidence, and what is counted beside it.

In: completions with what the reference makes of them. Out: the same sums, larger; saved as JSON. It never judges.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from draftproof.audit.base import Answer, Counters, Request
from draftproof.audit.evidence import Evidence
from draftproof.audit.logprobs import Reported
from draftproof.audit.reference import Reference

__all__ = ["Arm", "Point"]

KEPT = 8192
"""Tokens of the first completions that are kept, to find out what law they come from if it is not the right one."""
Point = tuple[int, float, float]
"""(tokens, log-wealth, bound on the drift)."""


@dataclass
class Arm:
    """One arm. Log-wealth is in nats."""

    evidence: Evidence
    delta: float
    """How probable it may be that a bound ever fails."""
    batches: int = 0
    """Requests were sent in batches; so many were answered and taken in."""
    completions: int = 0
    drafted: int | None = None
    """None while the engine has not said."""
    accepted: int = 0
    reported: Reported = field(default_factory=Reported)
    curve: list[Point] = field(default_factory=lambda: [(0, 0.0, 1.0)])
    growth: list[float] = field(default_factory=list[float])
    """By place in a completion, the log-wealth that came from there."""
    kept: list[tuple[list[int], list[int]]] = field(default_factory=list[tuple[list[int], list[int]]])
    """(prompt, tokens) of the first completions."""

    @property
    def tokens(self) -> int:
        """Tokens seen."""
        return self.evidence.tokens

    @property
    def log_evidence(self) -> float:
        """See `Evidence.log_evidence`."""
        return self.evidence.log_evidence

    @property
    def bound(self) -> float:
        """The largest bound on the drift over all tokens; 1 before any."""
        return self.evidence.bound(self.delta)

    def add(
        self, reference: Reference, asked: Sequence[Request], answers: Sequence[Answer], counters: Counters | None
    ) -> None:
        """Take in a batch."""
        scored = [
            reference.scored(request["prompt"], answer["tokens"], answer.get("rounds"))
            for request, answer in zip(asked, answers, strict=True)
        ]
        places = [place for one in scored for place in range(len(one.emitted))]
        self.growth += [0.0] * (max(places, default=-1) + 1 - len(self.growth))
        for place, gained in zip(places, self.evidence.add(scored, reference), strict=True):
            self.growth[place] += gained
        for answer, one in zip(answers, scored, strict=True):
            self.reported.add(answer.get("logprobs"), one, reference.loaded.model.row_kind)
        self._keep(asked, answers)
        self.batches += 1
        self.completions += len(answers)
        if counters is not None:
            self.drafted = (self.drafted or 0) + counters["drafted"]
            self.accepted += counters["accepted"]
        self.curve.append((self.tokens, self.evidence.log_wealth, self.bound))

    def to_json(self) -> dict[str, Any]:
        """Return the state; `from_json` makes the same of it."""
        told = {name: value for name, value in vars(self).items() if name not in {"evidence", "reported"}}
        return told | {"evidence": self.evidence.to_json(), "reported": self.reported.to_json()}

    @classmethod
    def from_json(cls, saved: dict[str, Any], kind: type[Evidence]) -> Self:
        """Return the state that was saved, with its kind of evidence."""
        evidence = kind.from_json(saved["evidence"])
        curve = [(int(tokens), float(wealth), float(bound)) for tokens, wealth, bound in saved["curve"]]
        parts = {"evidence": evidence, "reported": Reported.from_json(saved["reported"]), "curve": curve}
        return cls(**saved | parts)

    def _keep(self, asked: Sequence[Request], answers: Sequence[Answer]) -> None:
        held = sum(len(tokens) for _, tokens in self.kept)
        for request, answer in zip(asked, answers, strict=True):
            if held < KEPT:
                self.kept.append((request["prompt"], answer["tokens"]))
                held += len(answer["tokens"])
