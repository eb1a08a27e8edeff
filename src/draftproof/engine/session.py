"""A text in the making: its tokens, what both models have read of it, and what the draft length has learnt.

In: an engine and a prompt. Out: state that the loop goes on with. It may be left at any point, also in the middle of a
pass (Ctrl-C): `settled` says how much of the caches is known to be right.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from draftproof.engine.guarded import Guarded
from draftproof.engine.length import Lengths
from draftproof.models.base import Model
from draftproof.types import Text

__all__ = ["Session"]


@dataclass
class Session:
    """The state of one text."""

    text: Text
    target: Model
    drafter: Guarded
    lengths: Lengths
    settled: int = 0
    """So many tokens, at most, were in both caches when the last whole pass ended."""

    def settle(self) -> None:
        """Leave in the caches only what is known to be right, and room for the last token to be read."""
        self.settled = min(self.settled, self.target.length, max(0, len(self.text) - 1))
        self.target.rewind(self.settled)
        self.drafter.rewind(self.settled)

    def prefill(self) -> None:
        """Let the target read the text but for its last token; `fork` copies what was read."""
        self.settle()
        if unread := self.text[self.settled : -1]:
            self.target.extend(unread, rows=1)
        self.settled = len(self.text) - 1

    def fork(self, lengths: Lengths) -> Self:
        """Return the same text once more, independent from here on: samples of one prompt share its prefill."""
        text = Text(self.text, self.text.prompt_length)
        return type(self)(text, self.target.fork(), self.drafter.fresh(), lengths, self.settled)

    def say(self, tokens: Sequence[int]) -> None:
        """Append tokens that nobody generated, such as the next question of a conversation; they count as prompt."""
        self.text += tokens
        self.text.prompt_length = len(self.text)
