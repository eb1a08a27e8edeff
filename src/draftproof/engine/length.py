"""How many tokens to draft in a pass: the protocol, and the policy that never changes its mind.

In: nothing that has not been emitted. Out: a number. A length that looked at target rows would be lossy.
"""

from dataclasses import dataclass
from typing import Protocol

from draftproof.errors import UsageError

__all__ = ["DraftLength", "FixedLength"]


class DraftLength(Protocol):
    """Chooses the draft length of the next pass from what was emitted so far."""

    def __call__(self, emitted: int, accepted: int, drafted: int) -> int:
        """Return K >= 0, given how many tokens were emitted, accepted and drafted before this pass."""
        ...


@dataclass(frozen=True)
class FixedLength:
    """Always draft `num_speculative_tokens` tokens, 0 or more."""

    num_speculative_tokens: int

    def __post_init__(self) -> None:
        if self.num_speculative_tokens < 0:
            raise UsageError(
                f"got {self.num_speculative_tokens}; allowed are whole numbers from 0 up (0 = plain decoding)",
                "num_speculative_tokens",
            )

    def __call__(self, emitted: int, accepted: int, drafted: int) -> int:
        """Return the fixed length."""
        return self.num_speculative_tokens
