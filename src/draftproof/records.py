"""What one room hands to another: plain frozen records that turn into JSON.

In: numbers. Out: the same. No logic beyond sums over their own fields, no arrays, no models.
"""

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal, Self

__all__ = ["SCHEMA", "Candidate", "Conclusion", "Finding", "Measurement", "PassRecord", "Plan", "Trace"]

SCHEMA = 3
"""Goes up when a field changes its meaning."""


class _Record:
    def to_json(self) -> dict[str, Any]:
        """Return the fields as a JSON object."""
        return asdict(self)  # pyright: ignore[reportArgumentType] (what inherits is a dataclass)


class Conclusion(StrEnum):
    """What a witness concludes."""

    LOSSLESS = "LOSSLESS"
    LOSSY = "LOSSY"
    WASTEFUL = "WASTEFUL"
    """The law is kept, but fewer drafted tokens than the rule could keep."""
    UNDECIDED = "UNDECIDED"


@dataclass(frozen=True)
class Finding(_Record):
    """What one witness says about one subject."""

    witness: str
    subject: str
    verdict: Conclusion
    max_deviation: float | None
    """Largest distance from the target's law, in probability; None if nothing was compared."""
    reason: str
    total_variation: float | None = None
    """Half the summed distance from the target's law, where the whole law is known."""
    where: str | None = None
    """Where the difference first shows."""


@dataclass(frozen=True)
class Measurement(_Record):
    """The answer to one question: the machine, and named numbers with their units in their names.

    Args:
        question: what was asked.
        machine: where.
        values: the answer.
        subject: what was measured and with which settings.
        samples: the single figures that the values come from, where somebody goes on computing with them.
    """

    question: str
    machine: dict[str, str]
    values: dict[str, float]
    schema: int = SCHEMA
    subject: dict[str, Any] = field(default_factory=dict[str, Any])
    samples: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Candidate:
    """A drafter and a rule at the draft length that suits them best, and what it would take to break even."""

    drafter: str
    rule: str
    num_speculative_tokens: int
    speedup: float
    interval: tuple[float, float]
    tokens_per_pass: float
    acceptance: float
    """The mean chance of a drafted token, each tested alone."""
    cost_ratio: float
    """A draft step, in plain passes."""
    break_even_acceptance: float | None
    """The i.i.d. acceptance from which some length pays; None if none does even with 1."""
    break_even_cost_ratio: float
    """The draft cost up to which this length pays; below 0 if it does not even for nothing."""


@dataclass(frozen=True)
class Plan(_Record):
    """Whether to speculate on a workload, and how; if not, the speed-up is 1: that of plain decoding."""

    workload: str
    decision: Literal["speculate", "do not speculate"]
    drafter: str | None
    rule: str | None
    num_speculative_tokens: int
    speedup: float
    interval: tuple[float, float]
    """90 % for a run as long as the measurement."""
    reason: str
    candidates: tuple[Candidate, ...]
    """The best first."""


@dataclass(frozen=True)
class PassRecord:
    """One forward of the target in numbers."""

    start: int
    drafted: tuple[int, ...]
    accepted: int
    """0..K, as the rule decided, before the text was cut at a stop."""
    emitted: tuple[int, ...]
    bonus: bool
    """Whether the last token followed the end of what was drafted, instead of replacing a rejected draft."""
    expected_accepted: float | None
    """The rule's unbiased estimate of `accepted`; None if it has none."""
    tree_depth: int | None = None
    """How many tokens deep a drafted tree is; None for a chain, which is as deep as it is long."""
    fault: str | None = None
    """How the drafter failed, if it did: the pass then drafted no further."""
    why: str | None = None
    """Why another number of tokens was to be drafted than in the pass before; None if it was not."""

    @property
    def depth(self) -> int:
        """The most tokens that could have been accepted."""
        return len(self.drafted) if self.tree_depth is None else self.tree_depth


@dataclass(frozen=True)
class Trace(_Record):
    """A generation in numbers. The conventions of the rates are vLLM's."""

    prompt: tuple[int, ...]
    passes: tuple[PassRecord, ...]
    finish_reason: str
    seconds: float
    schema: int = SCHEMA
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    """What it takes to run it again (see `engine/rerun.py`); empty if it was not kept."""

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Self:
        """Return the trace that `to_json` made `found` of; `engine/traces.py` says whether it did."""
        records = [entry | {key: tuple(entry[key]) for key in ("drafted", "emitted")} for entry in found["passes"]]
        passes = tuple(PassRecord(**entry) for entry in records)
        parts: dict[str, Any] = {"prompt": tuple(found["prompt"]), "passes": passes}
        return cls(**found | parts)

    @property
    def token_ids(self) -> tuple[int, ...]:
        """The emitted tokens."""
        return tuple(token for record in self.passes for token in record.emitted)

    @property
    def num_drafts(self) -> int:
        """Passes that verified at least one drafted token."""
        return sum(1 for record in self.passes if record.drafted)

    @property
    def num_draft_tokens(self) -> int:
        """Tokens drafted."""
        return sum(len(record.drafted) for record in self.passes)

    @property
    def num_drafter_faults(self) -> int:
        """Passes in which the drafter failed."""
        return sum(1 for record in self.passes if record.fault is not None)

    @property
    def num_accepted_tokens(self) -> int:
        """Drafted tokens that the rule accepted."""
        return sum(record.accepted for record in self.passes)

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted / drafted; None if nothing was drafted."""
        return self.num_accepted_tokens / self.num_draft_tokens if self.num_draft_tokens else None

    @property
    def expected_acceptance(self) -> float | None:
        """What `acceptance_rate` is expected to be; None if nothing was drafted or the rule cannot say."""
        expected = [record.expected_accepted for record in self.passes]
        if not self.num_draft_tokens or None in expected:
            return None
        return sum(filter(None, expected)) / self.num_draft_tokens

    @property
    def mean_acceptance_length(self) -> float:
        """1 + accepted / passes that verified a draft: tokens a full pass emits."""
        return 1 + self.num_accepted_tokens / max(1, self.num_drafts)

    @property
    def acceptance_per_position(self) -> list[float]:
        """For each position of a block, the part of `num_drafts` in which its token was accepted."""
        longest = max((record.depth for record in self.passes), default=0)
        return [sum(1 for record in self.passes if record.accepted > i) / self.num_drafts for i in range(longest)]
