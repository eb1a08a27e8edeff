"""What is asked of a tokenizer, whatever it is read from. In: text or ids. Out: the other.

It must never split a character.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from draftproof.types import TokenId

__all__ = ["Tokenizer"]


class Tokenizer(Protocol):
    """Text to token ids and back."""

    @property
    def bos(self) -> TokenId | None:
        """The token that begins a text, if this model's texts begin with one."""
        ...

    @property
    def eos(self) -> frozenset[TokenId]:
        """Ids that end a text."""
        ...

    @property
    def vocabulary(self) -> Mapping[str, TokenId]:
        """The string of each token, as its vocabulary writes it."""
        ...

    def encode(self, text: str) -> list[TokenId]:
        """Return BOS (where the model's texts begin with one) and the ids of `text`.

        Raises:
            UsageError: if the text is no valid Unicode, or is empty and the model has no BOS to start from.
        """
        ...

    def chat(self, message: str) -> list[TokenId]:
        """Return the ids with which a user's message asks this model for an answer, by its chat template.

        Raises:
            UsageError: if it has none.
        """
        ...

    def spellings(self, word: str, setting: str) -> list[list[TokenId]]:
        """Return the ids of `word` as it begins a text and as it follows a space, which may be the same.

        Raises:
            UsageError: naming the setting that the word comes from, if it is no valid Unicode.
        """
        ...

    def to_json(self) -> str:
        """Return tokenizer.json, as text: what grammars are made for.

        Raises:
            UsageError: if there is none.
        """
        ...

    def decode(self, ids: Iterable[TokenId]) -> str:
        """Return the text of `ids`, special tokens left out."""
        ...

    def stream(self) -> Callable[[TokenId], str]:
        """Return a function that takes one id after another and returns the text that is complete with it."""
        ...
