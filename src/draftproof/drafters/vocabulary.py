"""A drafter of another vocabulary: its laws are moved to the target's tokens, by their strings.

In: a drafter, a translation. Out: the same drafter in the target's ids. However it is translated, it is lossless: what
comes out is what is drawn from (tests/drafters/test_vocabulary.py).
"""

from dataclasses import dataclass, field
from typing import Self

from draftproof.drafters.base import Drafter
from draftproof.errors import ContractError
from draftproof.models.words import Translation
from draftproof.types import Probs, Text, Tokens
from draftproof.warpers.pipeline import Pipeline

__all__ = ["TranslatedDrafter"]


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
            self.read.extend(self.translation.reading[token])
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
