"""What an audit ends with. In: what was found. Out: one record, and its JSON as docs/reference/audit.md has it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from draftproof.witness.verdict import Verdict

__all__ = ["Cause", "Outcome"]


class Cause(StrEnum):
    """What a verdict comes from, so that one wrong thing is not taken for another."""

    NOTHING = "nothing is wrong"
    LAW = "the law is wrong"
    NUMERICS = "only numerics"
    REFERENCE = "the engine differs from the reference even without speculation"
    LOGPROBS = "logprobs are misreported"
    INACTIVE = "speculation was not active"
    FAILURE = "the engine failed"
    MORE = "more tokens are needed"


@dataclass(frozen=True)
class Outcome:
    """A verdict and what it rests on."""

    verdict: Verdict
    cause: Cause
    reason: str
    notes: tuple[str, ...] = ()
    """What else was found."""
    log_evidence: float = 0.0
    """Of the speculative arm, against it, in nats: the natural logarithm of the largest wealth so far."""
    tokens: int = 0
    """Of the speculative arm."""
    drift_bound: float | None = None
    control: dict[str, Any] | None = None
    """The same of the control arm; None if there is none."""
    slots: dict[str, Any] = field(default_factory=dict[str, Any])
    shapes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """The known faults that the tokens of a convicted engine are most like; suspects, not verdicts."""
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    versions: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def status(self) -> int:
        """The exit status."""
        return {Verdict.LOSSLESS: 0, Verdict.DRIFT: 1, Verdict.INCONCLUSIVE: 3}[self.verdict]

    def to_json(self) -> dict[str, Any]:
        """Return the fields; infinite evidence, a token that cannot be, is written as a word that JSON knows."""
        told = dict(vars(self)) | {"notes": list(self.notes)}
        return {name: _plain(value) for name, value in told.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, float) and value == float("inf"):
        return "Infinity"
    return value
