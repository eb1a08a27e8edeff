"""From what a user types (a SPEC) to a model with its tokenizer. In: `tiny:target`, `tiny:PATH`. Out: `LoadedModel`.

Backends are imported only when they are asked for.
"""

import hashlib
from importlib.resources import files
from pathlib import Path
from reprlib import repr as shortened
from typing import NamedTuple

from draftproof.errors import UsageError
from draftproof.models.base import Model
from draftproof.models.tokenizer import Tokenizer

__all__ = ["EMBEDDED", "SPECS", "LoadedModel", "fingerprint", "load", "locate"]

EMBEDDED = ("target", "draft")
SPECS = "tiny:target, tiny:draft (the embedded pair) or tiny:PATH (a Hugging Face folder of a Llama model)"


class LoadedModel(NamedTuple):
    """A model and the tokenizer that goes with it."""

    model: Model
    tokenizer: Tokenizer


def load(spec: str, setting: str) -> LoadedModel:
    """Return the model that `spec` names.

    Args:
        spec: backend and name, `tiny:target`.
        setting: the setting the spec came from (`target`, `drafter`), for the error.

    Raises:
        UsageError: if there is no such model, or it cannot be read.
    """
    folder = locate(spec, setting)
    from draftproof.models.llama_folder import load as load_folder

    try:
        return LoadedModel(load_folder(folder), Tokenizer(folder))
    except UsageError as error:
        raise UsageError(f"got {spec!r}; {error}", setting) from None


def locate(spec: str, setting: str) -> Path:
    """Return the folder that `spec` names, without reading it.

    Raises:
        UsageError: if there is none.
    """
    backend, _, name = spec.partition(":")
    allowed = f"allowed are {SPECS}" + (", or none" if setting == "drafter" else "")
    if backend != "tiny" or not name:
        raise UsageError(f"got {spec!r}; {allowed}", setting)
    if name in EMBEDDED:
        return Path(str(files("draftproof") / "assets" / name))
    try:
        folder = Path(name).expanduser()
        found = folder.is_dir()
    except (RuntimeError, OSError, ValueError) as error:  # no such home, a name that is too long, a zero byte in it
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"got {shortened(spec)}, which is no path: {reason}; {allowed}", setting) from None
    if not found:
        raise UsageError(f"got {spec!r}, but {folder} is no folder; {allowed}", setting)
    return folder


def fingerprint(spec: str, setting: str) -> str:
    """Return twelve hexadecimal digits that change with any file that makes the model what it is.

    Raises:
        UsageError: if there is no such model.
    """
    folder = locate(spec, setting)
    files_read = [folder / "config.json", folder / "tokenizer.json", *sorted(folder.glob("*.safetensors"))]
    found = hashlib.sha256()
    for path in files_read:
        if path.is_file():
            found.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:12]
