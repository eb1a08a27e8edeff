"""What the campaign found: for each tamper which witnesses saw it, how far the law moved, and what escaped.

In: findings. Out: a `Scorecard`, plain and frozen, that turns into JSON.
"""

from dataclasses import dataclass
from typing import Any

from draftproof.records import SCHEMA, Conclusion, Finding
from draftproof.redteam.base import Tamper

__all__ = ["Score", "Scorecard"]


@dataclass(frozen=True)
class Score:
    """One tamper against all witnesses."""

    name: str
    family: str
    story: str
    seen_in: str
    harmless: bool
    findings: tuple[Finding, ...]
    """Of each witness that had something to say, the first LOSSY finding, or else its last."""

    @classmethod
    def of(cls, tamper: Tamper, findings: tuple[Finding, ...]) -> "Score":
        """Return the score of a tamper."""
        return cls(tamper.name, tamper.family, tamper.story, tamper.seen_in, tamper.harmless, findings)

    @property
    def caught_by(self) -> tuple[str, ...]:
        """The witnesses that called it LOSSY."""
        return tuple(finding.witness for finding in self.findings if finding.verdict is Conclusion.LOSSY)

    @property
    def wasteful(self) -> bool:
        """Whether a witness saw drafts thrown away that could have been kept."""
        return any(finding.verdict is Conclusion.WASTEFUL for finding in self.findings)

    @property
    def as_it_should_be(self) -> bool:
        """Whether a tamper was caught, or a control left alone."""
        return bool(self.caught_by) != self.harmless

    @property
    def drift(self) -> Finding | None:
        """The finding that says most about how far the law moved: an exact one, if there is one."""
        lossy = [finding for finding in self.findings if finding.verdict is Conclusion.LOSSY]
        exact = [finding for finding in lossy if finding.total_variation is not None]
        return max(exact, key=lambda finding: finding.total_variation or 0.0) if exact else next(iter(lossy), None)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; the drift of a control is 0."""
        drift = self.drift
        return {
            "name": self.name,
            "family": self.family,
            "harmless": self.harmless,
            "caught_by": list(self.caught_by),
            "max_deviation": _finite(drift.max_deviation) if drift else 0.0,
            "total_variation": drift.total_variation if drift else 0.0,
            "first_shows": drift.where if drift else None,
            "wasteful": self.wasteful,
            "story": self.story,
            "seen_in": self.seen_in,
        }


@dataclass(frozen=True)
class Scorecard:
    """The whole campaign."""

    scores: tuple[Score, ...]
    schema: int = SCHEMA

    @property
    def escaped(self) -> tuple[str, ...]:
        """Tampers that no witness saw."""
        return tuple(score.name for score in self.scores if not score.harmless and not score.caught_by)

    @property
    def false_alarms(self) -> tuple[str, ...]:
        """Controls that a witness called LOSSY."""
        return tuple(score.name for score in self.scores if score.harmless and score.caught_by)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return {
            "tampers": [score.to_json() for score in self.scores],
            "escaped": list(self.escaped),
            "false_alarms": list(self.false_alarms),
            "schema": self.schema,
        }


def _finite(value: float | None) -> float | None:
    """Return the value, or None where JSON has no word for it."""
    return value if value is not None and abs(value) < float("inf") else None
