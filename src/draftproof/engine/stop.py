"""When a text ends: end-of-sequence and stop tokens, `max_tokens`, the context limit; exact to the token.

In: token ids a pass would emit. Out: those that stay, and the reason if the text ends there.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from draftproof.errors import UsageError

__all__ = ["FinishReason", "Stop"]

FinishReason = Literal["stop", "length"]
"""`stop`: a stop token was emitted (it is the last token of the text). `length`: no room for another token."""


@dataclass(frozen=True)
class Stop:
    """Where generation ends.

    Args:
        max_tokens: most tokens to emit, 0 or more.
        context_limit: most tokens of prompt and output together; no limit if not given.
        tokens: ids that end the text when emitted, end-of-sequence among them; they are kept as its last token.
    """

    max_tokens: int
    context_limit: int = sys.maxsize
    tokens: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if self.max_tokens < 0:
            raise UsageError(f"got {self.max_tokens}; allowed are whole numbers from 0 up", "max_tokens")

    def room(self, prompt_length: int, length: int) -> int:
        """Return how many tokens may still be emitted when prompt and output hold `length` tokens."""
        return min(self.max_tokens - (length - prompt_length), self.context_limit - length)

    def cut(self, block: Sequence[int], room: int) -> tuple[list[int], FinishReason | None]:
        """Return the part of `block` that is emitted, and why the text ends with it (None: it goes on)."""
        for i, token in enumerate(block[:room]):
            if token in self.tokens:
                return list(block[: i + 1]), "stop"
        return list(block[:room]), "length" if len(block) >= room else None
