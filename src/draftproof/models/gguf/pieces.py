"""The vocabulary of a GGUF file through llama.cpp: ids of texts, bytes of ids. In: UTF-8 or an id. Out: the other.

It must never decide which tokens a prompt begins with.
"""

import ctypes
from functools import cached_property
from typing import Any

import numpy as np

from draftproof.models.gguf.library import Weights

__all__ = ["Pieces"]

UNUSED = 2
"""The bit of llama_token_attr for entries that only fill a vocabulary up."""


class Pieces:
    """Tokens of loaded weights, by id."""

    def __init__(self, weights: Weights) -> None:
        self._weights, self._lib, self._vocab = weights, weights.lib, weights.vocab
        self._bytes: dict[int, bytes] = {}

    @cached_property
    def names(self) -> dict[str, int]:
        """The string of each token as the file writes it; entries that only fill the vocabulary up are left out."""
        lib, vocab = self._lib, self._vocab
        ids = (i for i in range(self._weights.vocab_size) if not lib.llama_vocab_get_attr(vocab, i) & UNUSED)
        return {self.name(i): i for i in ids}

    @cached_property
    def ends(self) -> frozenset[int]:
        """The ids that end a text or a turn."""
        lib, vocab = self._lib, self._vocab
        return frozenset(i for i in range(self._weights.vocab_size) if lib.llama_vocab_is_eog(vocab, i))

    @property
    def bos(self) -> int | None:
        """The token that begins a text, if texts of this model begin with one."""
        return self._lib.llama_vocab_bos(self._vocab) if self._lib.llama_vocab_get_add_bos(self._vocab) else None

    @property
    def template(self) -> str | None:
        """The chat template of the file."""
        found: bytes | None = self._lib.llama_model_chat_template(self._weights.handle, None)
        return None if found is None else found.decode("utf-8", "replace")

    def special(self, which: str) -> str:
        """Return the string of the token `bos` or `eos`, or nothing."""
        found: int = getattr(self._lib, f"llama_vocab_{which}")(self._vocab)
        return self.name(found) if found >= 0 else ""

    def name(self, token: int) -> str:
        """Return the string of a token, as the file writes it."""
        return self._lib.llama_vocab_get_text(self._vocab, token).decode("utf-8", "replace")

    def ids(self, text: bytes) -> list[int]:
        """Return the ids of a text; what is written like a special token is that token, as transformers has it."""
        room = len(text) + 8
        while True:
            found = np.empty(room, np.int32)
            target = found.ctypes.data_as(ctypes.POINTER(ctypes.c_int32))
            count: int = self._lib.llama_tokenize(self._vocab, text, len(text), target, room, False, True)
            if count >= 0:
                return found[:count].tolist()
            room = -count

    def of(self, token: int) -> bytes:
        """Return the bytes of a token; none if it is a special one."""
        known = self._bytes.get(token)
        if known is None:
            known = self._bytes[token] = self._piece(token)
        return known

    def _piece(self, token: int) -> bytes:
        size, lib = 64, self._lib
        while True:
            buffer: Any = ctypes.create_string_buffer(size)
            count: int = lib.llama_token_to_piece(self._vocab, token, buffer, size, 0, False)
            if count >= 0:
                return buffer.raw[:count]
            size = -count
