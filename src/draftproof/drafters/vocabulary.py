"""A drafter of another vocabulary: its laws are moved to the target's tokens, by their strings.

In: two tokenizers and how many entries the rows of their models have; a drafter. Out: the same drafter in the target's
ids, or in what the two differ. However it is translated, it is lossless: what comes out is what is drawn from
(tests/drafters/test_vocabulary.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import array_namespace
from draftproof.drafters.base import Drafter
from draftproof.errors import ContractError
from draftproof.types import Probs, Text, TokenId, Tokens
from draftproof.warpers.pipeline import Pipeline

__all__ = ["Spelling", "TranslatedDrafter", "Translation", "Words", "first_difference", "translation"]


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

    def ids(self) -> dict[str, TokenId]:
        """Return the id of each string that the rows have an entry for."""
        return {text: token for text, token in self.tokenizer.vocabulary.items() if token < self.size}


@dataclass(frozen=True)
class Translation:
    """Which tokens two models share.

    Args:
        sizes: V of the draft and V of the target.
        common: (2, n) the ids of the n tokens with the same string: the draft's, the target's.
        reading: for each id of the target the draft's ids of the same text.
    """

    sizes: tuple[int, int]
    common: NDArray[np.int64]
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


@dataclass(frozen=True)
class TranslatedDrafter:
    """See `Drafter`: the laws of `drafter`, which reads and proposes in a vocabulary of its own.

    Args:
        drafter: hands over laws as its model has them.
        translation: from its ids to the target's.
        pipeline: warpers for what was translated; they speak of the target's tokens.
    """

    drafter: Drafter
    translation: Translation
    pipeline: Pipeline = Pipeline()
    read: Text = field(default_factory=Text)
    """The context in the draft's ids."""
    ends: list[int] = field(default_factory=list)
    """How long that was after each token of the context."""

    def law(self, context: Tokens) -> Probs | None:
        """Return (V,), or None where the drafter proposes nothing that the target has and the warpers leave."""
        self.rewind(len(context))
        for token in context[len(self.ends) :]:
            self.read.extend(self.translation.reading.get(token, ()))
            self.ends.append(len(self.read))
        prompt_length = context.prompt_length if isinstance(context, Text) else 0
        self.read.prompt_length = self._length(prompt_length)
        law = self.drafter.law(self.read)
        law = None if law is None else self.translation.law(law)
        if law is None:
            return None
        try:
            return self.pipeline.laws(law[None], "laws", [context])[0]
        except ContractError:  # it was a law; what the warpers forbid was all of it
            return None

    def rewind(self, length: int) -> None:
        """See `Drafter.rewind`."""
        if length < len(self.ends):
            shorter = self._length(length)
            del self.ends[length:], self.read[shorter:]
            self.drafter.rewind(shorter)

    def fresh(self) -> Self:
        """See `Drafter.fresh`."""
        return type(self)(self.drafter.fresh(), self.translation, self.pipeline)

    def _length(self, length: int) -> int:
        """Return how long the first `length` tokens are in the draft's ids."""
        return self.ends[length - 1] if length else 0


def first_difference(draft: Words, target: Words) -> str | None:
    """Return why the draft's tokens cannot be moved to the target's, with the first that differs; None if they can."""
    theirs, ours = draft.ids(), target.ids()
    shared = sorted(theirs.keys() & ours.keys(), key=ours.__getitem__)
    sizes = f"it has {draft.size} tokens, the target {target.size}"
    for text in shared:
        meanings = draft.tokenizer.decode([theirs[text]]), target.tokenizer.decode([ours[text]])
        if meanings[0] != meanings[1] and all(meanings):  # special tokens mean nothing
            return (
                f"{text!r} (its token {theirs[text]}, the target's {ours[text]}) stands for {meanings[0]!r} there "
                f"and for {meanings[1]!r} in the target; {sizes}"
            )
    if shared:
        return None
    first = min([*theirs.values(), *ours.values()], default=0)
    strings = [next((repr(text) for text, token in ids.items() if token == first), "none") for ids in (theirs, ours)]
    return f"no token has the same string: token {first} is {strings[0]} there and {strings[1]} in the target; {sizes}"


def translation(draft: Words, target: Words) -> Translation | None:
    """Return how the draft's tokens become the target's; None if they are the same as they stand."""
    if draft.size == target.size and draft.tokenizer.vocabulary == target.tokenizer.vocabulary:
        return None
    theirs, ours = draft.ids(), target.ids()
    shared = sorted(theirs.keys() & ours.keys(), key=theirs.__getitem__)
    common = np.array([[ids[text] for text in shared] for ids in (theirs, ours)], dtype=np.int64)
    reading = {token: (theirs[text],) if text in theirs else _pieces(text, theirs) for text, token in ours.items()}
    starts = draft.tokenizer.bos, target.tokenizer.bos
    if starts[0] is not None and starts[1] is not None and starts[0] < draft.size:
        reading[starts[1]] = (starts[0],)
    return Translation((draft.size, target.size), common, reading)


def _pieces(text: str, ids: Mapping[str, TokenId]) -> tuple[TokenId, ...]:
    """Return the tokens that spell `text`, the longest first; what none of them can spell is left out."""
    found, start = list[TokenId](), 0
    while start < len(text):
        end = next((end for end in range(len(text), start, -1) if text[start:end] in ids), None)
        if end is not None:
            found.append(ids[text[start:end]])
        start = end or start + 1
    return tuple(found)
