"""The door to llama.cpp: loads its library, silences it, and loads weights. In: files. Out: `Weights`.

What llama.cpp says is kept for errors; nothing is printed. It must never know what the weights are used for.
"""

import ctypes
import os
import weakref
from collections import deque
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from draftproof.errors import UsageError
from draftproof.models.gguf.spec import GgufSpec

__all__ = ["Weights", "cores", "library", "said"]

_ERROR = 4
"""The number of the level of errors in ggml_log_level."""
_errors: deque[str] = deque(maxlen=20)
_kept: list[Any] = []
"""The callback: C holds a bare pointer to it, so Python must not forget it."""


@cache
def library() -> Any:
    """Return the module llama_cpp, initialised. From here on llama.cpp writes nothing in this process."""
    import llama_cpp

    @llama_cpp.llama_log_callback
    def listen(level: int, text: bytes, _: Any) -> None:
        if level == _ERROR:
            _errors.append(text.decode("utf-8", "replace").strip())

    _kept.append(listen)
    llama_cpp.llama_log_set(listen, ctypes.c_void_p())
    llama_cpp.llama_backend_init()
    return llama_cpp


def said() -> str:
    """Return the errors that llama.cpp told since the last time, in one line, and forget them."""
    lines = [line.partition(": ")[2] or line for line in _errors]
    _errors.clear()
    return "; ".join(dict.fromkeys(lines)) or "it says no more"


class Weights:
    """A loaded `llama_model`, which is freed with this object.

    Args:
        files: the parts of the model.
        spec: what a GPU keeps, and in which order weights are kept.

    Raises:
        UsageError: with the reason of llama.cpp, if it cannot be loaded.
    """

    def __init__(self, files: list[Path], spec: GgufSpec) -> None:
        lib = self.lib = library()
        if spec.gpu_layers and not lib.llama_supports_gpu_offload():
            raise UsageError("gpu_layers: this llama-cpp-python was built without a GPU; leave gpu_layers out")
        settings = lib.llama_model_default_params()
        settings.n_gpu_layers = -1 if spec.gpu_layers is None else spec.gpu_layers
        settings.use_extra_bufts = _repack_works() if spec.repack is None else spec.repack
        said()
        handle = lib.llama_model_load_from_file(os.fsencode(files[0]), settings)
        if not handle:
            raise UsageError(f"{files[0]} cannot be loaded by llama.cpp: {said()}")
        self.handle: Any = handle
        self.free = weakref.finalize(self, lib.llama_model_free, handle)
        self.vocab: Any = lib.llama_model_get_vocab(handle)
        self.vocab_size: int = lib.llama_vocab_n_tokens(self.vocab)
        self.trained_context: int = lib.llama_model_n_ctx_train(handle)
        self.bytes: int = lib.llama_model_size(handle)
        self.writes = bool(
            lib.llama_model_has_decoder(handle)
            and not lib.llama_model_has_encoder(handle)
            and not lib.llama_model_is_diffusion(handle)
        )
        """Whether it can say what follows a text."""
        self.windowed: bool = lib.llama_model_n_swa(handle) > 0
        """Whether some layers see only the last tokens."""
        self.recurrent = bool(lib.llama_model_is_recurrent(handle) or lib.llama_model_is_hybrid(handle))
        """Whether there is a state that cannot go back."""


@cache
def _repack_works() -> bool:
    """Return whether weights may be put in another order.

    With AMX this leads to code that some compilers get wrong (seen with GCC 12: the tiles are used before they are set
    up), so that the process dies at the first batch. Nothing tells such a build from a sound one.
    """
    return b"AMX_INT8 = 1" not in library().llama_print_system_info()


@cache
def cores() -> int:
    """Return how many physical cores this process may use."""
    found: set[str] = set()
    for cpu in os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ():
        siblings = str(cpu)
        with suppress(OSError):
            siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text("ascii")
        found.add(siblings)
    return len(found) or os.cpu_count() or 1
