"""The drafter that looks the last words up in the text itself. In: a context. Out: what followed them the last time.

It must never scan the text: an index has the latest place of every n-gram.
"""

from array import array
from dataclasses import dataclass, field
from typing import Self

from draftproof.drafters.base import one_hot
from draftproof.types import Probs, Tokens

__all__ = ["NgramDrafter"]


@dataclass(frozen=True)
class NgramDrafter:
    """Prompt lookup: the longest of the last n tokens that occurred before decides, its latest occurrence wins.

    For n from `longest` down to `shortest`: if the last n tokens of the context occurred before (they may overlap
    themselves), the token that followed their latest earlier occurrence is proposed, with probability 1. If none did,
    nothing is. After "1 2 3 1 2 4 1 2" that is 4.

    Reading a token and taking it back cost O(longest); kept are, for each token, `longest - shortest + 1` entries of
    the index and as many numbers to undo them.

    Args:
        vocab_size: V.
        shortest: the smallest n, 1 or more.
        longest: the largest.
    """

    vocab_size: int
    shortest: int
    longest: int
    read: list[int] = field(default_factory=list)
    """The tokens that are in the index."""
    latest: dict[tuple[int, ...], int] = field(default_factory=dict)
    """For each n-gram that was followed by a token: where that token stands, the last time."""
    before: "array[int]" = field(default_factory=lambda: array("q"))
    """What each entry of `latest` replaced, in the order in which they were made; 0 for nothing."""

    def law(self, context: Tokens) -> Probs | None:
        """Return (V,), one-hot, or None where nothing matches."""
        self.rewind(len(context))
        for token in context[len(self.read) :]:
            self._read(token)
        for n in reversed(self._lengths()):
            if place := self.latest.get(tuple(self.read[-n:])):
                return one_hot(self.read[place], self.vocab_size)
        return None

    def rewind(self, length: int) -> None:
        """See `Drafter.rewind`."""
        while len(self.read) > length:
            self.read.pop()
            for n in reversed(self._lengths()):
                ngram = tuple(self.read[-n:])
                if place := self.before.pop():
                    self.latest[ngram] = place
                else:
                    del self.latest[ngram]

    def fresh(self) -> Self:
        """See `Drafter.fresh`."""
        return type(self)(self.vocab_size, self.shortest, self.longest)

    def _read(self, token: int) -> None:
        """Note that `token` follows what was read."""
        place = len(self.read)
        for n in self._lengths():
            ngram = tuple(self.read[-n:])
            self.before.append(self.latest.get(ngram, 0))
            self.latest[ngram] = place
        self.read.append(token)

    def _lengths(self) -> range:
        """Return every n of which there are n tokens."""
        return range(self.shortest, min(self.longest, len(self.read)) + 1)
