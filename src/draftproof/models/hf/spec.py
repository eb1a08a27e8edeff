"""`NAME_OR_PATH?dtype=bfloat16&device=cpu`: what a user types behind `hf:`. In: a text. Out: `HfSpec`, or a refusal.

It reads no file but looks whether a path is there. It must never import what it speaks of.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as shortened

from draftproof.errors import UsageError
from draftproof.models.query import SWITCH, SWITCH_OR_AUTO, Setting, one_of, read_query, whole_number

__all__ = ["DTYPES", "FORM", "HfSpec", "read_spec"]

FORM = "hf:NAME_OR_PATH (any causal language model of transformers; ?dtype=bfloat16&device=cuda.. may follow)"
DTYPES = {"float32": 4, "bfloat16": 2, "float16": 2}
"""Number formats to compute in, and their bytes."""
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?", re.ASCII)
DEVICE = re.compile(r"auto|cpu|cuda(:[0-9]{1,2})?", re.ASCII)


@dataclass(frozen=True)
class HfSpec:
    """A model and how it is to be loaded."""

    name: str
    """The id of a model of the hub, or a folder."""
    folder: Path | None
    """The folder, if it is one."""
    dtype: str = "auto"
    """What weights and cache are kept in; "auto" is what config.json says."""
    device: str = "auto"
    """Where: "auto" is all there is of GPUs, or else the CPU."""
    revision: str | None = None
    """Which version of a model of the hub: a branch, a tag or a commit."""
    trust_remote_code: bool = False
    """Whether Python code that comes with the model may run."""
    context: int | None = None
    """The most tokens of a text, if fewer than the model can read."""
    pad_rows: bool | None = None
    """Whether one row is computed as two; None is what was measured to be faster."""


def read_spec(text: str) -> HfSpec:
    """Take a SPEC apart.

    Raises:
        UsageError: if a key is unknown, a value is not allowed, or a path is no model folder.

    >>> read_spec("org/model?dtype=float32&context=2048").context
    2048
    """
    name, _, query = text.partition("?")
    settings = read_query(query, _SETTINGS)
    folder = _folder(name)
    if folder is not None and "revision" in settings:
        raise UsageError("revision belongs to a model of the hub, and this is a folder; leave it out")
    return HfSpec(name, folder, **settings)


def _folder(name: str) -> Path | None:
    """Return the folder that a name means, or None if it is an id of the hub."""
    try:
        path = Path(name).expanduser()
        there = path.exists()
    except (RuntimeError, OSError, ValueError) as error:  # no such home, a name that is too long, a zero byte in it
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{shortened(name)} is no path: {reason}") from None
    if name and (there or name.startswith((".", "/", "~"))):
        _check_folder(path)
        return path
    if not HUB_ID.fullmatch(name):
        raise UsageError(f"{shortened(name)} is neither a folder that is there nor the id of a model, as OWNER/NAME")
    return None


def _check_folder(path: Path) -> None:
    if not path.is_dir():
        raise UsageError(f"{path} is no folder; a GGUF file is gguf:PATH" if path.is_file() else f"{path} is no folder")
    if (path / "config.json").is_file():
        return
    if (path / "adapter_config.json").is_file():
        raise UsageError(f"{path} holds an adapter (LoRA), not a model; merge it into its model first, with peft")
    raise UsageError(f"{path} has no config.json, so it is no model folder")


def _device(value: str) -> str:
    if value == "mps":
        raise UsageError("device is mps, which has no float64 numbers, and laws are made of them; use device=cpu")
    if not DEVICE.fullmatch(value):
        raise ValueError(value)
    return value


def _revision(value: str) -> str:
    if not value:
        raise ValueError(value)
    return value


_SETTINGS = {
    "dtype": one_of({name: name for name in ("auto", *DTYPES)}),
    "device": Setting("are auto, cpu, cuda, cuda:N", _device),
    "revision": Setting("is a branch, a tag or a commit", _revision),
    "trust_remote_code": SWITCH,
    "context": whole_number(1, 999_999_999, "are whole numbers from 1 up"),
    "pad_rows": SWITCH_OR_AUTO,
}
