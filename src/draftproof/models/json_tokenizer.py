"""Text to token ids and back, for a model folder. In: text or ids. Out: the other. It must never split a character.

The library `tokenizers` does the work. Who makes a tokenizer says what begins and ends texts: `of_folder` takes it from
config.json (and generation_config.json where it exists), `hf/tokenizer.py` as transformers does.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as Backend

from draftproof.errors import UsageError
from draftproof.models.llama_config import missing, read_json

__all__ = ["JsonTokenizer", "ends_of_folder", "of_folder", "read_backend"]

Ask = Callable[[str], str]
"""A user's message -> the text with which it is asked, by a chat template."""


class JsonTokenizer:
    """See `Tokenizer`.

    Args:
        backend: what splits a text; limits of length that its file sets are lifted.
        opening: ids that are put before a text.
        eos: ids that end a text.
        ask: fills in the chat template, if there is one.
    """

    def __init__(self, backend: Backend, opening: Sequence[int], eos: frozenset[int], ask: Ask | None = None) -> None:
        backend.no_truncation()
        backend.no_padding()
        self._backend, self._opening, self._ask = backend, list(opening), ask
        self.bos: int | None = opening[0] if opening else None
        self.eos = eos
        """Ids that end a text."""
        self.vocabulary: dict[str, int] = backend.get_vocab()

    def encode(self, text: str) -> list[int]:
        """See `Tokenizer.encode`."""
        ids = [*self._opening, *self._ids(text, "prompt")]
        if not ids:
            raise UsageError("got an empty prompt, and this model has no BOS token to start from", "prompt")
        return ids

    def chat(self, message: str) -> list[int]:
        """See `Tokenizer.chat`."""
        if self._ask is None:
            raise UsageError("got true, but this model has no chat template; leave it out", "chat")
        return self._ids(self._ask(message), "prompt")

    def spellings(self, word: str, setting: str) -> list[list[int]]:
        """See `Tokenizer.spellings`."""
        found = [self._ids(text, setting) for text in (word, f" {word}")]
        return [ids for i, ids in enumerate(found) if ids and ids not in found[:i]]

    def to_json(self) -> str:
        """See `Tokenizer.to_json`."""
        return self._backend.to_str()

    def decode(self, ids: Iterable[int]) -> str:
        """See `Tokenizer.decode`."""
        return self._backend.decode(list(ids), skip_special_tokens=True)

    def stream(self) -> Callable[[int], str]:
        """See `Tokenizer.stream`."""
        recent, shown = list[int](), 0
        """The tokens of the last piece, and those after it, which may end in the middle of a character."""

        def piece(token: int) -> str:
            nonlocal recent, shown
            recent.append(token)
            before, now = self.decode(recent[:shown]), self.decode(recent)
            if len(now) <= len(before) or now.endswith("\N{REPLACEMENT CHARACTER}"):
                return ""
            recent, shown = recent[shown:], len(recent) - shown
            return now[len(before) :]

        return piece

    def _ids(self, text: str, setting: str) -> list[int]:
        try:
            return self._backend.encode(text, add_special_tokens=False).ids
        except (UnicodeEncodeError, TypeError):
            raise UsageError(f"got {text!r}, which is no valid text (UTF-8)", setting) from None


def of_folder(folder: Path) -> JsonTokenizer:
    """Return the tokenizer of a folder whose texts begin with the BOS of config.json, if that names one.

    Raises:
        UsageError: if a file is missing or damaged.
    """
    backend = read_backend(folder / "tokenizer.json")
    bos = read_json(folder / "config.json").get("bos_token_id")
    return JsonTokenizer(backend, [] if bos is None else [bos], ends_of_folder(folder))


def read_backend(path: Path) -> Backend:
    """Return what a tokenizer.json describes.

    Raises:
        UsageError: if it is missing or damaged.
    """
    if not path.exists():
        raise missing(path)
    try:
        return Backend.from_file(str(path))
    except Exception as error:  # noqa: BLE001 (what the library raises for a damaged file)
        raise UsageError(f"{path}: cannot be read as a tokenizer ({error})") from None


def ends_of_folder(folder: Path) -> frozenset[int]:
    """Return the ids that end a text by config.json and generation_config.json.

    Raises:
        UsageError: if a file is damaged, or config.json is missing.
    """
    config = read_json(folder / "config.json")
    extra = folder / "generation_config.json"
    generation = read_json(extra) if extra.exists() else {}
    text = config.get("text_config")
    parts = [config, generation, text if isinstance(text, dict) else {}]
    return frozenset(token for part in parts for token in _ids(part.get("eos_token_id")))


def _ids(setting: Any) -> list[int]:
    several = setting if isinstance(setting, list) else [setting]
    return [token for token in several if isinstance(token, int)]
