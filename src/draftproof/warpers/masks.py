"""Masks: tokens that may not come, ever or after some texts. In: rows, texts. Out: rows, masked entries -inf or 0."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from draftproof.arrays import array_namespace
from draftproof.errors import UsageError
from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind, copied, is_whole, nothing, output_of, refuse_foreign, refuse_no_ids

__all__ = ["AllowedTokens", "BadWords", "MinTokens"]


@dataclass(frozen=True)
class AllowedTokens:
    """Keep these tokens only.

    Args:
        tokens: at least one; a text ends only if a stop token is among them.
    """

    tokens: frozenset[int]
    reads_text = False

    def __post_init__(self) -> None:
        refuse_no_ids(self.tokens, "allowed_tokens")
        if not self.tokens:
            raise UsageError("got none; allow at least one token", "allowed_tokens")

    def check(self, vocab_size: int) -> None:
        """Raise UsageError if a token is none of the vocabulary."""
        refuse_foreign(self.tokens, vocab_size, "allowed_tokens")

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """See `Warper.warp`."""
        self.check(rows.shape[-1])
        kept = array_namespace(rows).zeros_like(rows) + nothing(kind)
        tokens = sorted(self.tokens)
        kept[..., tokens] = rows[..., tokens]
        return kept, kind


@dataclass(frozen=True)
class BadWords:
    """Forbid sequences of tokens: the last of one may not come where the text, prompt included, ends with the rest.

    Args:
        words: each at least one token.
    """

    words: tuple[tuple[int, ...], ...]
    reads_text = True

    def __post_init__(self) -> None:
        if not all(self.words):
            raise UsageError("got an empty sequence; a bad word has at least one token", "bad_words")
        for word in self.words:
            refuse_no_ids(word, "bad_words")

    @cached_property
    def _lasts(self) -> dict[int, dict[tuple[int, ...], list[int]]]:
        """For each length of a beginning, the beginnings and the tokens that must not follow them."""
        found: dict[int, dict[tuple[int, ...], list[int]]] = {}
        for *beginning, last in self.words:
            found.setdefault(len(beginning), {}).setdefault(tuple(beginning), []).append(last)
        return found

    def check(self, vocab_size: int) -> None:
        """Raise UsageError if a token is none of the vocabulary."""
        refuse_foreign((token for word in self.words for token in word), vocab_size, "bad_words")

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """See `Warper.warp`."""
        self.check(rows.shape[-1])
        masked = copied(rows)
        for row, text in enumerate(texts or ()):
            for length, lasts in self._lasts.items():
                ending = tuple(text[len(text) - length :]) if length <= len(text) else None
                if ending is not None and ending in lasts:
                    masked[row, lasts[ending]] = nothing(kind)
        return masked, kind


@dataclass(frozen=True)
class MinTokens:
    """Forbid the tokens that end a text while its output is shorter than `count`.

    Args:
        count: at least 0.
        stops: what is forbidden; ids outside the vocabulary cannot come anyway.
    """

    count: int
    stops: frozenset[int]
    reads_text = True

    def __post_init__(self) -> None:
        if not is_whole(self.count, 0):
            raise UsageError(f"got {self.count}; allowed are whole numbers from 0 up", "min_tokens")
        refuse_no_ids(self.stops, "min_tokens")

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """See `Warper.warp`."""
        masked, stops = copied(rows), sorted(token for token in self.stops if token < rows.shape[-1])
        for row, text in enumerate(texts or ()):
            if len(output_of(text)) < self.count:
                masked[row, stops] = nothing(kind)
        return masked, kind
