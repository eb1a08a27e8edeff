"""`PATH?threads=4&context=8192`: what a user types behind `gguf:`. In: a text. Out: `GgufSpec`, or a refusal.

It looks at no file. It must never import what it speaks of.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from draftproof.errors import UsageError

__all__ = ["CACHES", "FORM", "GgufSpec", "read_spec"]

FORM = "gguf:PATH (a file of llama.cpp; ?threads=4&context=8192.. may follow)"
CACHES = {"f16": 2, "f32": 4}
"""Number formats that keys and values are kept in, and their bytes."""
NUMBER = re.compile(r"[0-9]{1,7}", re.ASCII)


@dataclass(frozen=True)
class GgufSpec:
    """A model file and how it is to be run."""

    path: Path
    """The file, or the first of its parts."""
    threads: int | None = None
    """How many compute; None is all cores that this process may use."""
    context: int | None = None
    """The most tokens of a text; None is what the model was trained on, but 4096 at most."""
    gpu_layers: int | None = None
    """How many layers are kept on a GPU; None is all where llama.cpp was built for one."""
    cache: str = "f16"
    """What keys and values are kept in."""
    flash: bool = False
    """Whether attention is computed block by block (flash attention), which rounds differently."""
    repack: bool | None = None
    """Whether weights are put in another order that the CPU likes better; None is where that is known to work."""


def read_spec(text: str) -> GgufSpec:
    """Take a SPEC apart.

    Raises:
        UsageError: if a key is unknown, a value is not allowed, or the path is none.

    >>> read_spec("model.gguf?threads=2&cache=f32").cache
    'f32'
    """
    name, _, query = text.partition("?")
    settings: dict[str, Any] = {}
    for part in query.split("&") if query else []:
        key, _, value = part.partition("=")
        if key not in _VALUES:
            raise UsageError(f"there is no {shortened(key)} to set; allowed behind the ? are {', '.join(_VALUES)}")
        if key in settings:
            raise UsageError(f"{key} is given twice; give it once")
        allowed, read = _VALUES[key]
        try:
            settings[key] = read(value)
        except (KeyError, ValueError):
            raise UsageError(f"{key} is {shortened(value)}; allowed {allowed}") from None
    try:
        return GgufSpec(Path(name).expanduser(), **settings)
    except RuntimeError as error:  # no such home
        raise UsageError(f"{shortened(name)} is no path: {error}") from None


def _from(least: int, most: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        if not NUMBER.fullmatch(value) or not least <= int(value) <= most:
            raise ValueError(value)
        return int(value)

    return read


MOST_THREADS = 512
_SWITCH = {"true": True, "false": False}
_VALUES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "threads": (f"are whole numbers from 1 to {MOST_THREADS}", _from(1, MOST_THREADS)),
    "context": ("are whole numbers from 1 up", _from(1, 9_999_999)),
    "gpu_layers": ("are whole numbers from 0 to 9999", _from(0, 9999)),
    "cache": (f"are {', '.join(CACHES)}", {name: name for name in CACHES}.__getitem__),
    "flash": ("are true, false", _SWITCH.__getitem__),
    "repack": ("are auto, true, false", (_SWITCH | {"auto": None}).__getitem__),
}
