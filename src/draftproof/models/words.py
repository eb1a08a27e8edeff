"""Two vocabularies: whether they agree, and how what one model says becomes what the other could have said.

In: two tokenizers and how many entries the rows of their models have. Out: a `Translation` by the strings of tokens,
nothing if none is needed, or in what the two differ. It must never copy 150,000 entries where a slice of them will do.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from string import ascii_letters, digits
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import array_namespace
from draftproof.types import Probs, TokenId

__all__ = ["Spelling", "Translation", "Words", "first_difference", "translation"]


class Spelling(Protocol):
    """What is asked of a tokenizer."""

    @property
    def vocabulary(self) -> Mapping[str, TokenId]:
        """The string of each token."""
        ...

    @property
    def bos(self) -> TokenId | None:
        """The token that begins a text, if there is one."""
        ...

    def decode(self, ids: list[TokenId]) -> str:
        """Return a text; special tokens have none."""
        ...


@dataclass(frozen=True)
class Words:
    """The tokens of a model.

    Args:
        tokenizer: their strings.
        size: how many entries its rows have; ids beyond the strings are padding.
    """

    tokenizer: Spelling
    size: int

    def ids(self) -> Mapping[str, TokenId]:
        """Return the id of each string that the rows have an entry for."""
        vocabulary = self.tokenizer.vocabulary
        if max(vocabulary.values(), default=-1) < self.size:
            return vocabulary
        return {text: token for text, token in vocabulary.items() if token < self.size}


Ids = NDArray[np.int64] | slice
"""(n,) token ids, or the first n of them."""


@dataclass(frozen=True)
class Translation:
    """Which tokens two models share.

    Args:
        sizes: V of the draft and V of the target.
        common: the ids of the n tokens that both have: the draft's, the target's.
        reading: for each id of the target the draft's ids of the same text.
    """

    sizes: tuple[int, int]
    common: tuple[Ids, Ids]
    reading: Mapping[TokenId, tuple[TokenId, ...]]

    def law(self, law: Probs) -> Probs | None:
        """Return (V of the target,): the law restricted to common tokens and normalised; None if it has none there.

        Fractions stay Fractions.
        """
        draft, target = self.common
        weights = law[draft]
        total = weights.sum()
        if not total > 0:
            return None
        xp = array_namespace(law)
        found = xp.zeros(self.sizes[1], dtype=law.dtype, device=law.device)
        found[target] = weights / total
        return found


def first_difference(draft: Words, target: Words) -> str | None:
    """Return why the draft's tokens cannot be moved to the target's, with the first that differs; None if they can.

    What tokens stand for is compared for those strings that tell most; if one differs, for all of them.
    """
    theirs, ours = draft.ids(), target.ids()
    shared = sorted(theirs.keys() & ours.keys(), key=ours.__getitem__)
    sizes = f"it has {draft.size} tokens, the target {target.size}"

    def differing(texts: Iterable[str]) -> Iterator[str]:
        for text in texts:
            meanings = draft.tokenizer.decode([theirs[text]]), target.tokenizer.decode([ours[text]])
            if meanings[0] != meanings[1] and all(meanings):  # special tokens mean nothing
                yield (
                    f"{text!r} (its token {theirs[text]}, the target's {ours[text]}) stands for {meanings[0]!r} there "
                    f"and for {meanings[1]!r} in the target; {sizes}"
                )

    if any(differing(_telling(shared))):
        return next(differing(shared))
    if shared:
        return None
    first = min([*theirs.values(), *ours.values()], default=0)
    strings = [next((repr(text) for text, token in ids.items() if token == first), "none") for ids in (theirs, ours)]
    return f"no token has the same string: token {first} is {strings[0]} there and {strings[1]} in the target; {sizes}"


def translation(draft: Words, target: Words) -> Translation | None:
    """Return how the draft's tokens become the target's; None if they are the same as they stand.

    Ids agree if none of them has two strings, nor a string two ids. What only one model names (padding, reserved
    entries) is no difference; then longer rows are cut and shorter ones filled up.
    """
    theirs, ours = draft.ids(), target.ids()
    agree = _agree(theirs, ours)
    if agree and draft.size == target.size:
        return None
    if agree:
        first = slice(0, max((token for text, token in theirs.items() if text in ours), default=-1) + 1)
        common: tuple[Ids, Ids] = first, first
    else:
        order = sorted(theirs.keys() & ours.keys(), key=theirs.__getitem__)
        theirs_first, ours_first = (
            np.fromiter((ids[text] for text in order), np.int64, len(order)) for ids in (theirs, ours)
        )
        common = theirs_first, ours_first
    reading = _Reading(theirs, ours)
    starts = draft.tokenizer.bos, target.tokenizer.bos
    if starts[0] is not None and starts[1] is not None and starts[0] < draft.size:
        reading[starts[1]] = (starts[0],)
    return Translation((draft.size, target.size), common, reading)


class _Reading(dict[TokenId, tuple[TokenId, ...]]):
    """What the draft reads for each id of the target, found when it is first read: few of 150,000 ever are."""

    def __init__(self, theirs: Mapping[str, TokenId], ours: Mapping[str, TokenId]) -> None:
        super().__init__()
        self._theirs, self._ours = theirs, ours

    @cached_property
    def _texts(self) -> dict[TokenId, str]:
        return {token: text for text, token in self._ours.items()}

    def __missing__(self, token: TokenId) -> tuple[TokenId, ...]:
        text = self._texts.get(token, "")
        self[token] = found = (self._theirs[text],) if text in self._theirs else _pieces(text, self._theirs)
        return found


def _agree(theirs: Mapping[str, TokenId], ours: Mapping[str, TokenId]) -> bool:
    """Return whether no string has two ids, and no id two strings."""
    if not all(ours.get(text, token) == token for text, token in theirs.items()):
        return False
    alone = ({one[text] for text in one.keys() - other.keys()} for one, other in ((theirs, ours), (ours, theirs)))
    return next(alone).isdisjoint(next(alone))


def _telling(texts: Iterable[str]) -> Iterator[str]:
    """Yield the strings that tell what the others stand for: the first with each character, and tokens for bytes.

    Tokenizers write a space, a byte or a letter that is not of ASCII in one way each; ASCII letters and figures stand
    for themselves in all of them.
    """
    seen = set(ascii_letters + digits)
    for text in texts:
        characters = set(text)
        if not characters <= seen or (text.startswith("<") and text.endswith(">")):
            yield text
        seen |= characters


def _pieces(text: str, ids: Mapping[str, TokenId]) -> tuple[TokenId, ...]:
    """Return the tokens that spell `text`, the longest first; what none of them can spell is left out."""
    found, start = list[TokenId](), 0
    while start < len(text):
        end = next((end for end in range(len(text), start, -1) if text[start:end] in ids), None)
        if end is not None:
            found.append(ids[text[start:end]])
        start = end or start + 1
    return tuple(found)
