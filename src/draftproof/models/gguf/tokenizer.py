"""Text to token ids and back, for a GGUF file. In: text or ids. Out: the other. It must never split a character.

llama.cpp does the work, with the tokenizer of the file.
"""

import codecs
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

from draftproof.errors import UsageError
from draftproof.models.gguf.byte_level import tokenizer_json
from draftproof.models.gguf.chat import rendered
from draftproof.models.gguf.library import Weights
from draftproof.models.gguf.pieces import Pieces

__all__ = ["GgufTokenizer"]


class GgufTokenizer:
    """See `Tokenizer`: the tokenizer of loaded weights.

    Args:
        weights: whose tokenizer it is.
        path: the file that they come from, for what llama.cpp does not tell: merges.
    """

    def __init__(self, weights: Weights, path: Path) -> None:
        self._pieces, self._path = Pieces(weights), path
        self._size = weights.vocab_size
        self.bos: int | None = self._pieces.bos

    @property
    def eos(self) -> frozenset[int]:
        """See `Tokenizer.eos`: all that llama.cpp calls an end of generation."""
        return self._pieces.ends

    @property
    def vocabulary(self) -> dict[str, int]:
        """See `Tokenizer.vocabulary`; entries that only fill it up are left out, as in tokenizer.json."""
        return self._pieces.names

    def encode(self, text: str) -> list[int]:
        """See `Tokenizer.encode`. What is written like a special token is that token, as with transformers."""
        ids = [*([] if self.bos is None else [self.bos]), *self._ids(text, "prompt")]
        if not ids:
            raise UsageError("got an empty prompt, and this model has no BOS token to start from", "prompt")
        return ids

    def spellings(self, word: str, setting: str) -> list[list[int]]:
        """See `Tokenizer.spellings`."""
        found = [self._ids(text, setting) for text in (word, f" {word}")]
        return [ids for i, ids in enumerate(found) if ids and ids not in found[:i]]

    def chat(self, message: str) -> list[int]:
        """See `Tokenizer.chat`; BOS begins it once, whether the template writes it or not."""
        template = self._pieces.template
        if template is None:
            raise UsageError(f"got {message!r}, but this model has no chat template; leave chat out", "chat")
        signs = {f"{which}_token": self._pieces.special(which) for which in ("bos", "eos")}
        ids = self._ids(rendered(template, message, signs), "chat")
        return ids if self.bos is None or ids[:1] == [self.bos] else [self.bos, *ids]

    def to_json(self) -> str:
        """See `Tokenizer.to_json`: built from the file, and checked against llama.cpp."""
        return self._json

    def decode(self, ids: Iterable[int]) -> str:
        """See `Tokenizer.decode`."""
        whole = b"".join(map(self._bytes, ids))
        return whole.removeprefix(self._led).decode("utf-8", "replace")

    def stream(self) -> Callable[[int], str]:
        """See `Tokenizer.stream`."""
        decoder, begun = codecs.getincrementaldecoder("utf-8")("replace"), False

        def step(token: int) -> str:
            nonlocal begun
            piece = self._bytes(token)
            if piece and not begun:
                piece, begun = piece.removeprefix(self._led), True
            return decoder.decode(piece)

        return step

    @cached_property
    def _led(self) -> bytes:
        """What this tokenizer puts before every text: a space, or nothing."""
        return b"".join(map(self._pieces.of, self._pieces.ids(b"a"))).removesuffix(b"a")

    @cached_property
    def _json(self) -> str:
        return tokenizer_json(self._path, self._pieces)

    def _bytes(self, token: int) -> bytes:
        if not 0 <= token < self._size:
            raise UsageError(f"token ids must be 0 to {self._size - 1}; got {token}")
        return self._pieces.of(token)

    def _ids(self, text: str, setting: str) -> list[int]:
        try:
            return self._pieces.ids(text.encode())
        except UnicodeEncodeError:
            raise UsageError(f"got {text!r}, which is no valid text (UTF-8)", setting) from None
