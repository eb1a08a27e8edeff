"""A drafter that is never silent, because passes of every draft length are to be timed.

In: a drafter. Out: the same, which repeats the last token where it would propose nothing. For stopwatches only: what it
drafts beside is worth nothing.
"""

from dataclasses import dataclass, replace
from typing import Self

from draftproof.drafters.base import Drafter, one_hot
from draftproof.engine.loop import Engine
from draftproof.types import Probs, Tokens

__all__ = ["Insisting", "insisting"]


@dataclass(frozen=True)
class Insisting:
    """See `Drafter`: the law of `drafter`, or else the last token.

    Args:
        drafter: what may be silent.
        vocab_size: V of the target.
    """

    drafter: Drafter
    vocab_size: int

    def law(self, context: Tokens) -> Probs | None:
        """See `Drafter.law`."""
        law = self.drafter.law(context)
        return one_hot(context[-1], self.vocab_size) if law is None else law

    def rewind(self, length: int) -> None:
        """See `Drafter.rewind`."""
        self.drafter.rewind(length)

    def fresh(self) -> Self:
        """See `Drafter.fresh`."""
        return type(self)(self.drafter.fresh(), self.vocab_size)


def insisting(engine: Engine) -> Engine:
    """Return an engine whose passes draft as many tokens as they are told to."""
    return replace(engine, drafter=Insisting(engine.drafter, engine.target.vocab_size))
