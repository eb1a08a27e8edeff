"""Text to token ids and back, for a model folder. In: text or ids. Out: the other. It must never split a character.

The library `tokenizers` does the work; BOS and EOS come from config.json (and generation_config.json where it exists).
"""

from collections.abc import Callable, Iterable
from pathlib import Path

from tokenizers import Tokenizer as Backend
from tokenizers.decoders import DecodeStream

from draftproof.errors import UsageError
from draftproof.models.llama_config import missing, read_json

__all__ = ["JsonTokenizer"]


class JsonTokenizer:
    """See `Tokenizer`: the tokenizer of a folder.

    Raises:
        UsageError: if a file is missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / "tokenizer.json"
        if not path.exists():
            raise missing(path)
        try:
            self._backend = Backend.from_file(str(path))
        except Exception as error:  # noqa: BLE001 (what the library raises for a damaged file)
            raise UsageError(f"{path}: cannot be read as a tokenizer ({error})") from None
        config = read_json(folder / "config.json")
        extra = folder / "generation_config.json"
        generation = read_json(extra) if extra.exists() else {}
        self.bos: int | None = config.get("bos_token_id")
        self.eos = _ids(config.get("eos_token_id")) | _ids(generation.get("eos_token_id"))
        """Ids that end a text."""
        self.vocabulary: dict[str, int] = self._backend.get_vocab()

    def encode(self, text: str) -> list[int]:
        """See `Tokenizer.encode`."""
        ids = [*([] if self.bos is None else [self.bos]), *self._ids(text, "prompt")]
        if not ids:
            raise UsageError("got an empty prompt, and this model has no BOS token to start from", "prompt")
        return ids

    def spellings(self, word: str, setting: str) -> list[list[int]]:
        """See `Tokenizer.spellings`."""
        found = [self._ids(text, setting) for text in (word, f" {word}")]
        return [ids for i, ids in enumerate(found) if ids and ids not in found[:i]]

    def chat(self, message: str) -> list[int]:
        """See `Tokenizer.chat`."""
        raise UsageError(f"got {message!r}, but this model has no chat template; leave chat out", "chat")

    def to_json(self) -> str:
        """See `Tokenizer.to_json`."""
        return self._backend.to_str()

    def decode(self, ids: Iterable[int]) -> str:
        """See `Tokenizer.decode`."""
        return self._backend.decode(list(ids), skip_special_tokens=True)

    def stream(self) -> Callable[[int], str]:
        """See `Tokenizer.stream`."""
        stream = DecodeStream(skip_special_tokens=True)
        return lambda token: stream.step(self._backend, token) or ""

    def _ids(self, text: str, setting: str) -> list[int]:
        try:
            return self._backend.encode(text, add_special_tokens=False).ids
        except (UnicodeEncodeError, TypeError):
            raise UsageError(f"got {text!r}, which is no valid text (UTF-8)", setting) from None


def _ids(setting: int | list[int] | None) -> frozenset[int]:
    return frozenset(() if setting is None else [setting] if isinstance(setting, int) else setting)
