"""A grammar small enough for tables: 0 and 1 in turn, then an end. In: rows, texts. Out: rows, masked.

It is a pure function of the output, as every warper must be, and stands in for the grammars of `warpers/grammar.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind, copied, nothing, output_of

__all__ = ["END", "Alternation"]

END = 2


@dataclass(frozen=True)
class Alternation:
    """See `Warper`: after each 0 a 1; after each 1, or nothing, a 0 or the end.

    After an output that is no beginning of such a text, where only drafts lead, nothing is masked.
    """

    reads_text = True

    def follows(self, output: Tokens) -> set[int]:
        """Return what may follow an output."""
        if any(token != place % 2 for place, token in enumerate(output)):
            return {0, 1, END}
        return {1} if len(output) % 2 else {0, END}

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """See `Warper.warp`."""
        masked = copied(rows)
        for row, text in enumerate(texts or ()):
            masked[row, sorted({0, 1, END} - self.follows(output_of(text)))] = nothing(kind)
        return masked, kind
