"""Grammars: only tokens with which the output can still become a text of a JSON schema, a regex or a Lark grammar.

In: rows and texts. Out: rows, masked. The library llguidance (extra `grammar`) does the parsing; it lives in this file.
It must never let a state outlive its text: what is kept here is kept by text, and could be computed anew.
"""

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import array_namespace
from draftproof.errors import ContractError, MissingExtraError, UsageError
from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind, copied, nothing, output_of, refuse_no_ids

__all__ = ["KINDS", "Grammar", "grammar"]

KINDS = ("json_schema", "regex", "lark")
KEPT = 128
"""So many states are remembered: those of the last texts, which the next ones begin with."""

_State = tuple[Any, NDArray[np.bool_] | None]
"""(matcher, which tokens it forbids next); (None, None) after a text that is none of the grammar, and after its end."""


@dataclass(frozen=True)
class Grammar:
    """Mask each row to the tokens that the grammar allows after the output before it.

    The promise is that of plain masked decoding: each token has the model's law, restricted to what may come next and
    normalised again. The law of the whole text is the product of these, not the model's law of texts given that they
    are in the grammar; speculation changes neither.

    Where the grammar leaves no choice of characters, llguidance allows only the tokens with which the tokenizer writes
    them.

    When the output is complete and cannot go on, only the tokens of `eos` are left. After one of them nothing is masked
    or asked any more, and neither is after an output that the grammar does not allow: a draft that was not masked may
    lead there, but never farther, since its token has no probability.

    Args:
        kind: one of `KINDS`.
        text: the schema as JSON, the regex (a whole output must match), or the grammar.
        tokenizer: tokenizer.json, as text.
        eos: the tokens that end a text, at least one.

    Raises:
        UsageError: if the text is no such grammar; it has the reason of the library.
        MissingExtraError: if llguidance is not installed.
    """

    kind: str
    text: str
    tokenizer: str
    eos: frozenset[int]
    reads_text = True

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(f"got {self.kind!r}; allowed are {', '.join(KINDS)}", "grammar")
        if not self.eos:
            raise UsageError("this model has no token that ends a text, and a grammar ends with one", self.kind)
        refuse_no_ids(self.eos, self.kind)
        if self._first.is_error():
            raise UsageError(f"is no grammar: {_line(self._first.get_error())}", self.kind)

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """See `Warper.warp`.

        Raises:
            ContractError: if the grammar is too much for the library after one of the texts.
        """
        masked = copied(rows)
        xp, size = array_namespace(masked), rows.shape[-1]
        for row, text in enumerate(texts or ()):
            with self._lock:
                _, forbidden = self._state(tuple(output_of(text)))
            if forbidden is not None:
                masked[row, xp.asarray(np.flatnonzero(forbidden[:size]))] = nothing(kind)
                masked[row, len(forbidden) :] = nothing(kind)
        return masked, kind

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy makes states of its own."""
        return type(self), (self.kind, self.text, self.tokenizer, self.eos)

    @cached_property
    def _first(self) -> Any:
        """The matcher before any token."""
        matchers = _library(self.kind).LLMatcher
        try:
            written = getattr(matchers, f"grammar_from_{self.kind}")(self.text)
        except ValueError as error:
            raise UsageError(f"is no grammar: {_line(error)}", self.kind) from None
        return matchers(self._tokenizer, written, log_level=0)

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            return _library(self.kind).LLTokenizer(self.tokenizer, eos_token=sorted(self.eos))
        except ValueError as error:
            raise UsageError(f"this tokenizer cannot be constrained: {_line(error)}", self.kind) from None

    @cached_property
    def _kept(self) -> OrderedDict[tuple[int, ...], _State]:
        return OrderedDict()

    @cached_property
    def _lock(self) -> Lock:
        return Lock()

    def _state(self, output: tuple[int, ...]) -> _State:
        if output in self._kept:
            self._kept.move_to_end(output)
            return self._kept[output]
        before = self._kept.get(output[:-1]) if output else None
        matcher, unread = (self._first, output) if before is None else (before[0], output[-1:])
        self._kept[output] = state = self._after(matcher, unread)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return state

    def _after(self, matcher: Any, unread: tuple[int, ...]) -> _State:
        """Return the state when the tokens follow what `matcher`, which stays as it is, has read."""
        size = self._tokenizer.vocab_size
        if matcher is None or not all(token < size and token not in self.eos for token in unread):
            return None, None
        reading = matcher.deep_copy()
        legal = reading.try_consume_tokens(list(unread)) == len(unread)
        bits = reading.compute_bitmask() if legal and not reading.is_error() else b""
        if reading.is_error():
            raise ContractError(f"this grammar is too much for its library: {_line(reading.get_error())}")
        if not legal:
            return None, None
        allowed = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), count=size, bitorder="little")
        return reading, allowed == 0


def grammar(kind: str, text: str | Mapping[str, Any], tokenizer: Any, eos: Iterable[int]) -> Grammar:
    """Return a grammar; see `Grammar`.

    Args:
        kind: one of `KINDS`.
        text: as there; a schema may be a mapping.
        tokenizer: tokenizer.json as text, or a `tokenizers.Tokenizer`.
        eos: as there.
    """
    written = text if isinstance(text, str) else json.dumps(text)
    return Grammar(kind, written, tokenizer if isinstance(tokenizer, str) else tokenizer.to_str(), frozenset(eos))


def _library(setting: str) -> Any:
    try:
        import llguidance
    except ImportError:
        raise MissingExtraError(
            "needs llguidance; install it with: pip install 'draftproof[grammar]'", setting
        ) from None
    return llguidance


def _line(reason: object) -> str:
    """Return what the library says on one line."""
    return " ".join(str(reason).split())[:300]
