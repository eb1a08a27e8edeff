"""From what a user types (`vllm`, `http:URL`, `python:MODULE:FUNCTION`) to a member of `subjects/`."""

from importlib import import_module
from pathlib import Path
from typing import NamedTuple, cast

from draftproof.audit.base import Subject
from draftproof.errors import UsageError

__all__ = ["SUBJECTS", "Chosen", "chosen"]

NAMES = ("draftproof", "transformers", "vllm", "llamacpp", "openvino")
ADDRESSED = {"http": "URL", "https": "URL", "python": "MODULE:FUNCTION"}
"""Those that need an address, and its form."""
SUBJECTS = ", ".join([*NAMES, *(f"{name}:{form}" for name, form in ADDRESSED.items() if name != "https")])


class Chosen(NamedTuple):
    """An engine that a user named."""

    name: str
    member: Subject
    file: Path
    address: str
    """What follows the name; empty for most."""


def chosen(word: str) -> Chosen:
    """Return the engine that a word names.

    Raises:
        UsageError: if there is none.
    """
    name, colon, address = word.partition(":")
    if name in NAMES and not colon:
        return _member(name, "")
    if name in ADDRESSED and address.strip(":/"):
        if name == "python":
            if not all(address.partition(":")[::2]):
                raise UsageError(f"got {word!r}; allowed is python:MODULE:FUNCTION, both named", "subject")
            return _member("python", address)
        return _member("http", word if address.startswith("//") else address)
    raise UsageError(f"got {word!r}; allowed are {SUBJECTS}", "subject")


def _member(name: str, address: str) -> Chosen:
    module = import_module(f"draftproof.audit.subjects.{name}")
    return Chosen(name, cast("Subject", module), Path(str(module.__file__)), address)
