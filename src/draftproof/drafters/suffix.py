"""The drafter that remembers every text it read: what followed most often, the longest match first.

In: a context, perhaps a corpus. Out: the token that most often followed the longest suffix that occurred before. It
must never scan a text: each token read costs at most `LONGEST` steps, and so does taking it back.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from draftproof.drafters.base import one_hot
from draftproof.types import Probs, TokenId, Tokens

__all__ = ["LONGEST", "SuffixDrafter", "Suffixes"]

LONGEST = 32
"""Longer matches count as matches of this length, so that the work and the memory for a token are bounded."""
_BOUNDARY = -1
"""No token; it stands before a text, so that no string is the beginning of it and of another string too."""


class Match(NamedTuple):
    """The longest suffix that occurred before."""

    length: int
    token: TokenId
    """What most often followed it; of several the one that did last."""


@dataclass(slots=True, eq=False)
class _Node:
    """Strings that occurred more than once: the last `depth` tokens before `place`, and some that are shorter.

    Strings that always occurred together share a node; `depth` is the length of the longest of them.
    """

    depth: int
    place: int
    """Before which place of the text it occurred first."""
    made_at: int
    """Which place of the text was read when the node was made."""
    children: dict[TokenId, "_Node | int"]
    """By the token before those strings: the longer strings; a number stands for one that occurred once, before it."""
    followers: dict[TokenId, int]
    """How often each token followed."""
    best: TokenId
    """Which did most often, and of several the last."""

    def count(self, token: TokenId) -> TokenId | None:
        """Count that `token` followed, and return which was best until now if that has changed."""
        count = self.followers[token] = self.followers.get(token, 0) + 1
        if token == self.best or count < self.followers.get(self.best, 0):
            return None
        before, self.best = self.best, token
        return before

    def uncount(self, token: TokenId) -> None:
        self.followers[token] -= 1
        if not self.followers[token]:
            del self.followers[token]


class Suffixes:
    """All strings of at most `LONGEST` tokens of one text, and how often which token followed each of them.

    A suffix tree of the text read backwards, which is the tree of suffix links of its suffix automaton: the path from
    the root for the tokens before a place, last token first, passes all strings that end there. Each token read adds
    at most one node, one child and, for every node on its path, one to a count.
    """

    def __init__(self) -> None:
        self.text = [_BOUNDARY]
        self._root = _Node(0, 0, 0, {}, {}, _BOUNDARY)
        self._undo: list[tuple[TokenId, ...]] = [()]
        """For each token what was best before, at those nodes of its path, by depth, where it changed."""

    def extend(self, tokens: Iterable[TokenId]) -> None:
        """Read tokens."""
        for token in tokens:
            self._read(token)

    def match(self, text: list[TokenId]) -> Match | None:
        """Return the longest suffix of `text` that occurred, with a token after it; None if not even its last did.

        Args:
            text: a boundary and tokens.
        """
        node, end = self._root, len(text)
        limit = min(LONGEST, end - 1)
        while node.depth < limit:
            child = node.children.get(text[end - 1 - node.depth])
            if child is None:
                break
            if isinstance(child, int):
                return Match(self._shared(text, end, child, node.depth + 1, limit), self.text[child])
            length = self._shared(text, end, child.place, node.depth + 1, min(limit, child.depth))
            if length < child.depth:
                return Match(length, child.best)
            node = child
        return Match(node.depth, node.best) if node.depth else None

    def rewind(self, length: int) -> None:
        """Forget everything after the first `length` entries of `text`, the boundary among them."""
        while len(self.text) > length:
            self._unread()

    def _shared(self, text: list[TokenId], end: int, place: int, known: int, most: int) -> int:
        """Return how many tokens, `known` to `most`, are the same before `end` of `text` and before `place` here."""
        most = min(most, place)
        while known < most and text[end - 1 - known] == self.text[place - 1 - known]:
            known += 1
        return known

    def _read(self, token: TokenId) -> None:
        """Count for every string that ends here that `token` follows it."""
        node, end, changed = self._root, len(self.text), list[TokenId]()
        while True:
            if (before := node.count(token)) is not None:
                changed += (node.depth, before)
            if node.depth == LONGEST:
                break
            key = self.text[end - 1 - node.depth]
            child = node.children.get(key)
            if child is None:
                node.children[key] = end
                break
            place, most = (child, LONGEST) if isinstance(child, int) else (child.place, child.depth)
            length = self._shared(self.text, end, place, node.depth + 1, most)
            if isinstance(child, int) or length < child.depth:
                child = node.children[key] = self._branch(child, place, length, end)
            node = child
        self.text.append(token)
        self._undo.append(tuple(changed))

    def _branch(self, child: "_Node | int", place: int, depth: int, end: int) -> _Node:
        """Return a node for the strings of `child` up to `depth`, which occur here for the first time without it."""
        if isinstance(child, int):
            followers, best = {self.text[child]: 1}, self.text[child]
        else:
            followers, best = child.followers.copy(), child.best
        children = {self.text[place - 1 - depth]: child} if depth < LONGEST else {}
        return _Node(depth, place, end, children, followers, best)

    def _unread(self) -> None:
        """Walk the path of the last token once more and take back what `_read` did."""
        token, changed = self.text.pop(), self._undo.pop()
        bests = dict(zip(changed[::2], changed[1::2], strict=True))
        node, end = self._root, len(self.text)
        while True:
            node.uncount(token)
            node.best = bests.get(node.depth, node.best)
            if node.depth == LONGEST:
                return
            key = self.text[end - 1 - node.depth]
            child = node.children[key]
            if isinstance(child, int):
                del node.children[key]
                return
            if child.made_at == end:
                older = self.text[child.place - 1 - child.depth]
                node.children[key] = child.children[older] if child.depth < LONGEST else child.place
                return
            node = child


@dataclass(frozen=True)
class SuffixDrafter:
    """Propose what most often followed the longest suffix of the context that occurred before.

    The suffix has 1 to `LONGEST` tokens and was followed by a token, in the corpus or in the context (there it may
    overlap itself). Where the longest one in the context is as long as the longest one in the corpus, the context
    decides; then that token which followed all its occurrences there most often, and of several the one that did last.
    It has probability 1; without a match nothing is proposed.

    Args:
        vocab_size: V.
        corpus: what was read before; shared and never written to.
    """

    vocab_size: int
    corpus: Suffixes = field(default_factory=Suffixes)
    seen: Suffixes = field(default_factory=Suffixes)
    """The context."""

    def law(self, context: Tokens) -> Probs | None:
        """Return (V,), one-hot, or None where nothing matches."""
        self.rewind(len(context))
        self.seen.extend(context[len(self.seen.text) - 1 :])
        matches = self.seen.match(self.seen.text), self.corpus.match(self.seen.text)
        longest = max((found for found in matches if found), key=lambda found: found.length, default=None)
        return one_hot(longest.token, self.vocab_size) if longest else None

    def rewind(self, length: int) -> None:
        """See `Drafter.rewind`."""
        self.seen.rewind(length + 1)

    def fresh(self) -> Self:
        """See `Drafter.fresh`; the corpus is shared."""
        return type(self)(self.vocab_size, self.corpus)
