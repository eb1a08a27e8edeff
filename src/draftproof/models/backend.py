"""What a kind of models promises to the catalogue. In: the part of a SPEC after its colon. Out: a `LoadedModel`."""

from typing import NamedTuple, Protocol

from draftproof.models.base import Model
from draftproof.models.tokenizer import Tokenizer

__all__ = ["Backend", "LoadedModel"]


class LoadedModel(NamedTuple):
    """A model and the tokenizer that goes with it."""

    model: Model
    tokenizer: Tokenizer


class Backend(Protocol):
    """A kind of models. What is refused is told without naming a setting: the catalogue does."""

    @property
    def form(self) -> str:
        """How its SPECs are written, and what they name, for help and errors."""
        ...

    def check(self, name: str) -> None:
        """Refuse a name that names nothing; no weights are read and no heavy library is imported.

        Raises:
            UsageError: saying what came and what is allowed.
            MissingExtraError: if a library is not installed that this kind of models needs.
        """
        ...

    def load(self, name: str) -> LoadedModel:
        """Return the model that has read nothing, and its tokenizer.

        Raises:
            UsageError: if there is no such model, it cannot be read, or it would not fit into memory.
        """
        ...

    def fingerprint(self, name: str) -> str:
        """Return twelve hexadecimal digits that change with anything that makes the model what it is.

        Raises:
            UsageError: if there is no such model.
        """
        ...
