"""The drafter that looks the last words up in the text itself. In: a context. Out: what followed them the last time.

It must never scan the text: an index has the latest place of every n-gram. What it says depends on the text alone, not
on what was asked before: the place that it follows is kept for every token that it read.
"""

from array import array
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from draftproof.drafters.base import one_hot
from draftproof.types import Probs, TokenId, Tokens

__all__ = ["NgramDrafter"]

TRUSTED = 2
"""How many tokens in a row a place must have foretold to be returned to after a change."""
PATIENCE, REACH = 8, 4
"""For how many surprises a place that was left is remembered; among how many of its next tokens the text may go on."""


class _Followed(NamedTuple):
    """Which place of the text is followed after a token, 0 for none; and the one that was left because of a change."""

    place: int
    right: int
    """How many tokens in a row it foretold."""
    left: int
    surprises: int
    """How many there were since."""


@dataclass(frozen=True)
class NgramDrafter:
    """Prompt lookup: the longest of the last n tokens that occurred before decides, its latest occurrence wins.

    For n from `longest` down to `shortest`: if the last n tokens of the context occurred before (they may overlap
    themselves), the token that followed their latest earlier occurrence is proposed, with probability 1. If none did,
    nothing is. After "1 2 3 1 2 4 1 2" that is 4.

    A place that foretold the last token is followed to the next one, without looking up, so that a match becomes as
    long as it is. Where a text is copied with changes, that place is remembered when one comes: as soon as a token is
    among the next four there, the text is taken to go on after it. After "1 2 3 4 5 0 4 8 1 2 3 9 9 4" that is 5.

    Reading a token and taking it back cost O(longest); kept are, for each token, `longest - shortest + 1` entries of
    the index, as many numbers to undo them, and the place that is followed.

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
    followed: list[_Followed] = field(default_factory=list)
    """For each token that was read: the place that is followed after it."""
    latest: dict[tuple[int, ...], int] = field(default_factory=dict)
    """For each n-gram that was followed by a token: where that token stands, the last time."""
    before: "array[int]" = field(default_factory=lambda: array("q"))
    """What each entry of `latest` replaced, in the order in which they were made; 0 for nothing."""

    def law(self, context: Tokens) -> Probs | None:
        """Return (V,), one-hot, or None where nothing matches."""
        self.rewind(len(context))
        for token in context[len(self.read) :]:
            self._read(token)
        place = self.followed[-1].place if self.followed else 0
        return one_hot(self.read[place], self.vocab_size) if place else None

    def rewind(self, length: int) -> None:
        """See `Drafter.rewind`."""
        while len(self.read) > length:
            self.read.pop()
            self.followed.pop()
            for n in reversed(self._lengths()):
                ngram = tuple(self.read[-n:])
                if place := self.before.pop():
                    self.latest[ngram] = place
                else:
                    del self.latest[ngram]

    def fresh(self) -> Self:
        """See `Drafter.fresh`."""
        return type(self)(self.vocab_size, self.shortest, self.longest)

    def _read(self, token: TokenId) -> None:
        """Note that `token` follows what was read, and what is followed from there on."""
        place = len(self.read)
        for n in self._lengths():
            ngram = tuple(self.read[-n:])
            self.before.append(self.latest.get(ngram, 0))
            self.latest[ngram] = place
        last = self.followed[-1] if self.followed else _Followed(0, 0, 0, 0)
        foretold = last.place and self.read[last.place] == token
        self.read.append(token)
        if foretold:
            self.followed.append(last._replace(place=last.place + 1, right=last.right + 1))
        else:
            self.followed.append(self._surprised(last, token))

    def _surprised(self, last: _Followed, token: TokenId) -> _Followed:
        """Return what is followed after a token that was not foretold."""
        left, surprises = (last.place, 0) if last.right >= TRUSTED else (last.left, last.surprises)
        if left and surprises < PATIENCE:
            for place in range(left, min(left + REACH, len(self.read) - 1)):
                if self.read[place] == token:
                    return _Followed(place + 1, 1, 0, 0)
        return _Followed(self._looked_up(), 0, left, surprises + 1)

    def _looked_up(self) -> int:
        """Return where the token stands that followed the last ones the last time; 0 if nothing matches."""
        places = (self.latest.get(tuple(self.read[-n:]), 0) for n in reversed(self._lengths()))
        return next((place for place in places if place), 0)

    def _lengths(self) -> range:
        """Return every n of which there are n tokens."""
        return range(self.shortest, min(self.longest, len(self.read)) + 1)
