"""One forward of the target: what was drafted, what both models said, what was decided, what was emitted.

In: the parts of a pass. Out: the same, named, and in numbers. It decides nothing.
"""

from dataclasses import dataclass

from draftproof.engine.proposal import Proposal
from draftproof.engine.stop import FinishReason
from draftproof.records import PassRecord
from draftproof.types import Array, Probs

__all__ = ["Pass"]


@dataclass(frozen=True)
class Pass:
    """One forward of the target, with its laws."""

    start: int
    """Length of prompt and output before this pass."""
    proposal: Proposal
    target: Probs
    """(N + 1, V) laws of the target, rows as in `Tree`."""
    path: tuple[int, ...]
    """The drafted nodes that the rule keeps, before the text is cut at a stop; for a chain 0, 1, 2, .."""
    emitted: tuple[int, ...]
    logprobs: tuple[float, ...]
    """Natural logarithm of each emitted token's probability under the target's law."""
    finish_reason: FinishReason | None
    expected_accepted: float | None
    """The rule's unbiased estimate of len(path)."""
    rows: Array
    """(N + 1, V) what the target returned, before its warpers: logits or laws."""
    fault: str | None = None
    """How the drafter failed in this pass, if it did."""
    why: str | None = None
    """Why the draft length is another than in the pass before, if it is."""
    stopped_by: str | int | None = None
    """The stop string or token that ended the text with this pass."""

    @property
    def drafted(self) -> tuple[int, ...]:
        """The drafted tokens."""
        return self.proposal.tree.tokens

    @property
    def draft(self) -> Probs:
        """The laws the drafted tokens were drawn from: for a chain (K, V)."""
        return self.target[:0] if self.proposal.laws is None else self.proposal.laws

    @property
    def bonus(self) -> bool:
        """Whether the rule kept a branch to its end, so that its last token is one more and replaces none."""
        return (self.path[-1] if self.path else -1) not in self.proposal.tree.parents

    @property
    def emitted_rows(self) -> tuple[int, ...]:
        """For each emitted token the row that it was drawn at."""
        return (0, *(node + 1 for node in self.path))[: len(self.emitted)]

    def record(self) -> PassRecord:
        """Return the pass in numbers, without its laws."""
        depth = None if self.proposal.is_chain else self.proposal.depth
        decided = len(self.path), self.emitted, self.bonus, self.expected_accepted
        return PassRecord(self.start, self.drafted, *decided, depth, self.fault, self.why)
