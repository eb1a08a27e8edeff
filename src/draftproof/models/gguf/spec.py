"""`PATH?threads=4&context=8192`: what a user types behind `gguf:`. In: a text. Out: `GgufSpec`, or a refusal.

It looks at no file. It must never import what it speaks of.
"""

from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as shortened

from draftproof.errors import UsageError
from draftproof.models.query import SWITCH, SWITCH_OR_AUTO, one_of, read_query, whole_number

__all__ = ["CACHES", "FORM", "GgufSpec", "read_spec"]

FORM = "gguf:PATH (a file of llama.cpp; ?threads=4&context=8192.. may follow)"
CACHES = {"f16": 2, "f32": 4}
"""Number formats that keys and values are kept in, and their bytes."""


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
    settings = read_query(query, _SETTINGS)
    try:
        return GgufSpec(Path(name).expanduser(), **settings)
    except RuntimeError as error:  # no such home
        raise UsageError(f"{shortened(name)} is no path: {error}") from None


MOST_THREADS = 512
_SETTINGS = {
    "threads": whole_number(1, MOST_THREADS),
    "context": whole_number(1, 9_999_999, "are whole numbers from 1 up"),
    "gpu_layers": whole_number(0, 9999),
    "cache": one_of({name: name for name in CACHES}),
    "flash": SWITCH,
    "repack": SWITCH_OR_AUTO,
}
