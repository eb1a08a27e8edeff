"""When a text ends: end-of-sequence and stop tokens, stop strings, `max_tokens`, the context limit; exact to the token.

In: token ids a pass would emit. Out: those that stay, and the reason if the text ends there. A stop string may span
tokens and blocks: the token that completes it is the last one of the text, of its log-probabilities and of its usage.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from draftproof.errors import UsageError

__all__ = ["Ending", "FinishReason", "Spelling", "Stop"]

FinishReason = Literal["stop", "length"]
"""`stop`: a stop token or string was emitted (it is the end of the text). `length`: no room for another token."""
Spelling = Callable[[], Callable[[int], str]]
"""Begins a text: what it returns takes one token id after another, and returns the characters complete with it."""


@dataclass(frozen=True)
class Stop:
    """Where generation ends.

    Args:
        max_tokens: most tokens to emit, 0 or more.
        context_limit: most tokens of prompt and output together; no limit if not given.
        tokens: ids that end the text when emitted, end-of-sequence among them; they are kept as its last token.
        strings: texts that end the text when it contains them, if they begin in the output.
        spelling: how tokens are written; needed with `strings`.
        min_tokens: no string ends a text of fewer tokens; to forbid stop tokens in it is for a warper.
    """

    max_tokens: int
    context_limit: int = sys.maxsize
    tokens: frozenset[int] = frozenset()
    strings: tuple[str, ...] = ()
    spelling: Spelling | None = None
    min_tokens: int = 0

    def __post_init__(self) -> None:
        if self.max_tokens < 0:
            raise UsageError(f"got {self.max_tokens}; allowed are whole numbers from 0 up", "max_tokens")
        if not 0 <= self.min_tokens <= self.max_tokens:
            raise UsageError(f"got {self.min_tokens}; allowed are 0 to max_tokens, {self.max_tokens}", "min_tokens")
        if not all(self.strings):
            raise UsageError("got an empty text, which is everywhere; give at least one character", "stop")
        if self.strings and self.spelling is None:
            raise UsageError("stop strings need to know how tokens are written", "stop")

    def begin(self, emitted: Sequence[int] = ()) -> "Ending":
        """Return what watches one text, of which some tokens may have been emitted before."""
        ending = Ending(self, self.spelling() if self.strings and self.spelling else None)
        for token in emitted:
            ending.sees_end(token)
        ending.found = None
        return ending

    def room(self, prompt_length: int, length: int) -> int:
        """Return how many tokens may still be emitted when prompt and output hold `length` tokens."""
        return min(self.max_tokens - (length - prompt_length), self.context_limit - length)

    def cut(self, block: Sequence[int], room: int) -> tuple[list[int], FinishReason | None]:
        """Return the part of `block` that is emitted as far as tokens decide, and why the text ends with it."""
        for i, token in enumerate(block[:room]):
            if token in self.tokens:
                return list(block[: i + 1]), "stop"
        return list(block[:room]), "length" if len(block) >= room else None


@dataclass
class Ending:
    """Watches one text for its end."""

    stop: Stop
    piece: Callable[[int], str] | None
    emitted: int = 0
    found: str | int | None = None
    """The stop string or token that ended the text."""
    tail: str = ""
    """As much of the text as the beginning of a stop string could be in."""

    def cut(self, block: Sequence[int], room: int) -> tuple[list[int], FinishReason | None]:
        """Return the part of `block` that is emitted, and why the text ends with it (None: it goes on)."""
        kept, reason = self.stop.cut(block, room)
        for i, token in enumerate(kept):
            if self.sees_end(token):
                return kept[: i + 1], "stop"
        if reason == "stop" and kept:
            self.found = kept[-1]
        return kept, reason

    def sees_end(self, token: int) -> bool:
        """Take in the next token, and return whether a stop string ends in what it adds; the first one is `found`."""
        self.emitted += 1
        if self.piece is None:
            return False
        seen, new = self.tail, self.piece(token)
        text = seen + new
        reach = max(map(len, self.stop.strings)) - 1
        self.tail = text[-reach:] if reach else ""
        if self.emitted < self.stop.min_tokens:
            return False
        ends = {string: text.find(string, max(0, len(seen) - len(string) + 1)) for string in self.stop.strings}
        found = [(begin + len(string), string) for string, begin in ends.items() if begin >= 0]
        self.found = min(found)[1] if found else None
        return bool(found)
