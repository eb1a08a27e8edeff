"""The case that the statistical witness has against our own engine: evidence from texts read anew, and a verdict.

In: readings of texts. Out: evidence, an opinion, JSON. At temperature 0, and wherever a law leaves no choice, no bet
can win and none can lose: what counts there is that every token is the one that had to come.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from draftproof.engine.loop import Engine
from draftproof.types import Tokens
from draftproof.witness.drift import of_slots
from draftproof.witness.emitted import Emitted
from draftproof.witness.eprocess import EProcess
from draftproof.witness.excused import excused, rounding_of
from draftproof.witness.stream import Reader, Told, readings_of
from draftproof.witness.verdict import PLANNED, Limits, Opinion, Verdict, judge

__all__ = ["Case"]

LIMITS = Limits()
WIDEST = 0.25
"""The largest variance of an event: what a bound takes is planned with it before any is known."""


@dataclass
class Case:
    """Evidence so far."""

    state: EProcess = field(default_factory=EProcess)
    excused: int = 0
    """Tokens at the edge of what the target's law keeps, within rounding; nothing is bet on them."""
    certain: int = 0
    """Tokens whose law left no choice."""
    _rounding: float = 0.0
    """How far scores move by rounding, in all texts where that mattered."""

    @property
    def tokens(self) -> int:
        """How many were looked at."""
        return self.state.tokens + self.excused

    @property
    def _is_of_points(self) -> bool:
        return self.state.violation is None and 0 < self.tokens == self.certain + self.excused

    def add(self, honest: Engine, prompt: Tokens, told: Told) -> None:
        """Take in a finished text, read from its beginning by models that have read nothing else."""
        for reader, emitted in readings_of(honest, prompt, told):
            self.take(honest, reader, emitted)

    def take(self, honest: Engine, reader: Reader, emitted: Emitted) -> None:
        """Take in what was just read."""
        chances = emitted.at_tokens(emitted.target)
        self.certain += int((chances >= 1).sum())
        first = 0
        for i in np.flatnonzero(~(chances > 0)).tolist():
            self.state.add(emitted[first:i])
            if not self._excuses(honest, reader, len(chances) - i, i):
                first = i
                break
            self.excused += 1
            first = i + 1
        self.state.add(emitted[first:])

    def opinion(self, limits: Limits = LIMITS) -> Opinion:
        """Return what can be said so far, and if that is little, how many tokens more would take."""
        if self._is_of_points:
            return self._of_points(limits)
        found = judge(self.state, limits)
        if found.verdict is Verdict.INCONCLUSIVE and self.state.tokens < limits.fewest:
            needed = math.ceil(PLANNED * WIDEST / limits.target**2 / 1000) * 1000
            return found._replace(reason=f"{found.reason}, and a bound of {limits.target:.0%} takes some {needed:,}")
        return found

    def to_json(self, limits: Limits = LIMITS) -> dict[str, Any]:
        """Return the verdict and what it rests on; evidence is in nats, and a word where a token could not be."""
        said, highest = self.opinion(limits), self.state.highest
        return {
            "verdict": said.verdict,
            "reason": said.reason,
            "log_evidence": highest if math.isfinite(highest) else "Infinity",
            "tokens": self.tokens,
            "drift_bound": said.bound,
            "slots": self._slots(limits),
            "excused": self.excused,
        }

    def _excuses(self, honest: Engine, reader: Reader, last: int, place: int) -> bool:
        """Return whether rounding explains a token, the `last` from the end of what was read."""
        before, token = reader.before(last)
        asked = honest.pipeline, reader.rows[place, :], honest.target.row_kind, before, token
        if self._rounding and excused(*asked, self._rounding):
            return True
        self._rounding = max(self._rounding, rounding_of(honest.target, reader.text))
        return excused(*asked, self._rounding)

    def _of_points(self, limits: Limits) -> Opinion:
        """Return what can be said where no law left a choice, and every token is the one that it left.

        Were another to come in a share u of places, all N would be right with a chance of exp(-N u).
        """
        bound = self._bound_of_points(limits)
        level = f" or level with them ({self.excused:,})" if self.excused else ""
        reason = (
            f"the laws left no choice, so bets are void; all {self.tokens:,} tokens are those that they left{level}; "
            f"others come in at most {bound:.2%} of places"
        )
        if bound <= limits.target and self.tokens >= limits.fewest:
            return Opinion(Verdict.LOSSLESS, reason, bound)
        return Opinion(Verdict.INCONCLUSIVE, f"{reason}, and {limits.fewest:,} tokens are the least", bound)

    def _bound_of_points(self, limits: Limits) -> float:
        return min(1.0, -math.log(limits.delta) / self.tokens)

    def _slots(self, limits: Limits) -> dict[str, Any]:
        if self._is_of_points:
            return {
                "all": {"tokens": self.tokens, "drift_bound": self._bound_of_points(limits), "event": "not the best"}
            }
        return of_slots(self.state, limits.delta)
