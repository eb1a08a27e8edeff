"""What one room hands to another: plain frozen records that turn into JSON.

In: numbers. Out: the same. No logic beyond sums over their own fields, no arrays, no models.
"""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

__all__ = ["SCHEMA", "Conclusion", "Finding", "Measurement", "PassRecord", "Trace"]

SCHEMA = 2
"""Goes up when a field changes its meaning."""


class Conclusion(StrEnum):
    """What a witness concludes."""

    LOSSLESS = "LOSSLESS"
    LOSSY = "LOSSY"
    WASTEFUL = "WASTEFUL"
    """The law is kept, but fewer drafted tokens than the rule could keep."""
    UNDECIDED = "UNDECIDED"


@dataclass(frozen=True)
class Finding:
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

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a JSON object."""
        return asdict(self)


@dataclass(frozen=True)
class Measurement:
    """The answer of one benchmark: a question, the machine, and named numbers with their units in their names."""

    question: str
    machine: dict[str, str]
    values: dict[str, float]
    schema: int = SCHEMA

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a JSON object."""
        return asdict(self)


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

    @property
    def depth(self) -> int:
        """The most tokens that could have been accepted."""
        return len(self.drafted) if self.tree_depth is None else self.tree_depth


@dataclass(frozen=True)
class Trace:
    """A generation in numbers. The conventions of the rates are vLLM's."""

    prompt: tuple[int, ...]
    passes: tuple[PassRecord, ...]
    finish_reason: str
    seconds: float
    schema: int = SCHEMA

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

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a JSON object."""
        return asdict(self)
