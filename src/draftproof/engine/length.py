"""How many tokens to draft in a pass: the protocol, and the policy that never changes its mind.

In: nothing but the past: what was emitted, drafted and accepted. Out: a number. A length that looked at target rows, or
at the random numbers of the coming pass, would be lossy. Adaptive lengths live in `economics/policy.py`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from draftproof.errors import UsageError

__all__ = ["DraftLength", "FixedLength", "Lengths", "ListedLengths", "Unchanging"]


class Lengths(Protocol):
    """Chooses the draft lengths of one generation, one after another, and learns from each pass."""

    @property
    def why(self) -> str | None:
        """Why the last length is another than the one before, in a short sentence; None if it is not."""
        ...

    def next(self, emitted: int) -> int:
        """Return K >= 0 for the next pass, given how many tokens were emitted so far."""
        ...

    def learn(self, drafted: int, accepted: int) -> None:
        """Take in how many tokens in a row (of a tree: on its longest branch) a pass drafted, and how many it kept."""
        ...


class DraftLength(Protocol):
    """A way to choose draft lengths: a value."""

    def begin(self) -> Lengths:
        """Return what chooses the lengths of one generation."""
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

    def begin(self) -> Lengths:
        """See `DraftLength`."""
        return Unchanging(self.num_speculative_tokens)


@dataclass(frozen=True)
class Unchanging:
    """See `Lengths`: always the same."""

    length: int
    why: str | None = None

    def next(self, emitted: int) -> int:
        """See `Lengths`."""
        return self.length

    def learn(self, drafted: int, accepted: int) -> None:
        """See `Lengths`: nothing."""


@dataclass(frozen=True)
class ListedLengths:
    """Draft what is listed, pass by pass, in every text; nothing after the end of the list."""

    lengths: Sequence[int]

    def begin(self) -> Lengths:
        """See `DraftLength`."""
        return _Listed(iter(self.lengths))


@dataclass
class _Listed:
    """See `Lengths`."""

    coming: Iterator[int]
    why: str | None = None

    def next(self, emitted: int) -> int:
        """See `Lengths`."""
        return next(self.coming, 0)

    def learn(self, drafted: int, accepted: int) -> None:
        """See `Lengths`: nothing."""
