"""Evidence where every law is a point: each token is the best one, level with it, nearly so, or a fault.

In: completions, the reference's scores without sampling settings that choose. Out: counts and gaps. See `Evidence`.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np

from draftproof.audit.reference import Reference, Scored
from draftproof.witness.drift import Drift
from draftproof.witness.near_ties import Flips, Match, matched
from draftproof.witness.verdict import Limits, Opinion, Verdict

__all__ = ["Greedy"]

MOST_RATE = 0.5
"""Where two tokens are level as often as not, nothing can be won."""
KEPT = 1000
"""Gaps that are kept, the first ones."""


@dataclass
class Greedy:
    """See `Evidence`.

    Args:
        delta: how far numerics may move a score.
    """

    delta: float
    tokens: int = 0
    matches: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Match, 0))
    gaps: list[float] = field(default_factory=list[float])
    """By how much tokens that were not the best one were behind it, in nats."""
    first_fault: int | None = None
    """Counted from 1."""
    near: int = 0
    """Places where the two best tokens are nearly level."""
    flipped: int = 0
    """How often the second best came there."""
    near_drafted: int = 0
    """Such places where the draft has the second best."""
    flipped_drafted: int = 0

    @property
    def faults(self) -> int:
        """Tokens that numerics do not explain."""
        return self.matches[Match.FAULT]

    @property
    def log_evidence(self) -> float:
        """See `Evidence.log_evidence`: one fault is enough."""
        return math.inf if self.faults else 0.0

    @property
    def log_wealth(self) -> float:
        """See `Evidence.log_wealth`."""
        return self.log_evidence

    @property
    def largest_gap(self) -> float:
        """Of all gaps that were kept."""
        return max(self.gaps, default=0.0)

    def add(self, scored: Sequence[Scored], reference: Reference) -> list[float]:
        """See `Evidence.add`; of wealth nothing is said."""
        for one in scored:
            rows = reference.scores(one)
            for token, scores, drafted in zip(one.emitted.tokens.tolist(), rows, reference.drafted(one), strict=True):
                self._add(token, scores, drafted)
        return [0.0] * sum(len(one.emitted) for one in scored)

    def against_draft(self, control: "Greedy", delta: float) -> float:
        """Return the log-wealth of the bet that near-ties fall as the draft has it, more often than without drafts.

        Args:
            control: the same engine without speculation.
            delta: how probable it may be that its rate is underestimated.
        """
        from scipy.stats import beta

        if not control.near or not self.near_drafted:
            return 0.0
        others = control.near - control.flipped
        rate = float(beta.ppf(1 - delta, control.flipped + 1, others)) if others else 1.0
        if rate >= MOST_RATE:
            return 0.0
        flips = Flips()
        flips.add(flipped=True, rate=rate, times=self.flipped_drafted)
        flips.add(flipped=False, rate=rate, times=self.near_drafted - self.flipped_drafted)
        return flips.log_wealth

    def bound(self, delta: float) -> float:
        """See `Evidence.bound`: how often a fault may come, by Clopper and Pearson."""
        from scipy.stats import beta

        right = self.tokens - self.faults
        return float(beta.ppf(1 - delta, self.faults + 1, right)) if right > 0 else 1.0

    def opinion(self, limits: Limits) -> Opinion:
        """See `Evidence.opinion`."""
        bound = self.bound(limits.delta)
        if self.faults:
            worst = (
                f"{self.faults:,} of {self.tokens:,} tokens are not the best one, by up to {self.largest_gap:.3g} nats"
            )
            reason = f"{worst}, and numerics move scores by {self.delta:.2g}; the first is token {self.first_fault:,}"
            return Opinion(Verdict.DRIFT, reason, bound)
        if self.tokens < limits.fewest:
            return Opinion(
                Verdict.INCONCLUSIVE, f"{self.tokens:,} tokens are too few; {limits.fewest:,} is the least", bound
            )
        level = sum(self.matches[kind] for kind in (Match.TIE, Match.NEAR_TIE))
        reason = (
            f"{self.tokens:,} tokens, each the best one or level with it ({level:,}, by up to {self.largest_gap:.2g} "
            f"nats); another comes in at most {bound:.2%} of places at {1 - limits.delta:.1%}"
        )
        return Opinion(Verdict.LOSSLESS if bound <= limits.target else Verdict.INCONCLUSIVE, reason, bound)

    def shapes(self) -> list[dict[str, Any]]:
        """See `Evidence.shapes`: points have none."""
        return []

    def slots(self, delta: float) -> dict[str, Any]:
        """See `Evidence.slots`."""
        return {"all": {"tokens": self.tokens, "drift_bound": self.bound(delta), "event": "not the best"}}

    def events(self, delta: float) -> dict[str, Drift]:
        """See `Evidence.events`."""
        share = self.faults / max(self.tokens, 1)
        return {"not the best": Drift(self.tokens, share, 0.0, self.bound(delta))}

    def to_json(self) -> dict[str, Any]:
        """See `Evidence.to_json`."""
        return asdict(self) | {"matches": {str(kind): count for kind, count in self.matches.items()}}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Self:
        """See `Evidence.from_json`."""
        matches: dict[str, Any] = {"matches": {Match(kind): count for kind, count in saved["matches"].items()}}
        return cls(**saved | matches)

    def _add(self, token: int, scores: np.ndarray, drafted: int) -> None:
        self.tokens += 1
        kind, gap = matched(token, scores, self.delta)
        self.matches[kind] += 1
        if gap > 0 and len(self.gaps) < KEPT:
            self.gaps.append(gap)
        if kind is Match.FAULT and self.first_fault is None:
            self.first_fault = self.tokens
        best = int(scores.argmax())
        second = int(np.where(np.arange(len(scores)) == best, -np.inf, scores).argmax())
        if scores[best] - scores[second] <= 2 * self.delta:
            self.near += 1
            self.flipped += token == second
            self.near_drafted += drafted == second
            self.flipped_drafted += drafted == second == token
