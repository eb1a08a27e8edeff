"""One `llama_context`: cells for keys and values, which sequences share, and the arrays of a batch.

In: tokens, each with its position and its sequences. Out: rows of logits, copied, since llama.cpp overwrites its own.
It must never know what a tree or a text is.
"""

import ctypes
import weakref
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from draftproof.errors import ContractError, UsageError
from draftproof.models.gguf.library import Weights, cores, said
from draftproof.models.gguf.spec import GgufSpec

__all__ = ["BATCH", "SEQUENCES", "Cell", "Context", "Floats"]

BATCH = 256
"""Tokens that llama.cpp computes at once."""
OUTPUTS = 64
"""Rows of logits that are computed at once: with 152,000 tokens of vocabulary they take 39 MB."""
SEQUENCES = 64
"""Sequences of a context: texts, and branches of trees."""
_TYPES = {"f32": 0, "f16": 1}
"""By the name of a number format: its number in ggml."""

Floats = NDArray[np.float32]


class Cell(NamedTuple):
    """A token to be read."""

    token: int
    position: int
    sequences: Sequence[int]
    """Those that it belongs to: several for what is before a fork of branches."""
    wanted: bool
    """Whether its row is asked for."""


class Context:
    """Reads tokens of several sequences, each of which attends to its own earlier ones.

    Args:
        weights: of the model.
        spec: threads, number format, kind of attention.
        cells: how many tokens there is room for.
        sequences: how many there may be.

    Raises:
        UsageError: if llama.cpp cannot make it.
    """

    def __init__(self, weights: Weights, spec: GgufSpec, cells: int, sequences: int) -> None:
        lib = self._lib = weights.lib
        settings = lib.llama_context_default_params()
        settings.n_ctx, settings.n_batch, settings.n_ubatch = cells, BATCH, BATCH
        settings.n_seq_max, settings.n_outputs_max = sequences, OUTPUTS
        settings.kv_unified = settings.swa_full = True
        settings.n_threads = settings.n_threads_batch = spec.threads or cores()
        settings.type_k = settings.type_v = _TYPES[spec.cache]
        settings.flash_attn_type = int(spec.flash)
        settings.no_perf = True
        said()
        handle = lib.llama_init_from_model(weights.handle, settings)
        if not handle:
            raise UsageError(f"llama.cpp cannot make a context of {cells} tokens: {said()}")
        self._weights = weights
        self._handle: Any = handle
        self.free = weakref.finalize(self, _free, weights, handle)
        self._memory: Any = lib.llama_get_memory(handle)
        self.cells, self.sequences = cells, sequences
        self._arrays = _Arrays(lib, sequences)

    def read(self, cells: Sequence[Cell]) -> Floats:
        """Read the cells and return the wanted rows, (n, V).

        Raises:
            ContractError: if llama.cpp fails; some of the cells may have been read.
        """
        found = [self._decode(cells[start:end]) for start, end in _pieces(cells)]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def forget(self, sequence: int, length: int = 0) -> bool:
        """Remove what follows the first `length` tokens, and return whether that was possible."""
        return self._lib.llama_memory_seq_rm(self._memory, sequence, length or -1, -1)

    def copy(self, source: int, target: int) -> None:
        """Let an empty sequence hold what another does, in the same cells."""
        self._lib.llama_memory_seq_cp(self._memory, source, target, -1, -1)

    def saved(self, sequence: int) -> NDArray[np.uint8]:
        """Return the state of a sequence."""
        size = self._lib.llama_state_seq_get_size(self._handle, sequence)
        state = np.empty(size, np.uint8)
        if self._lib.llama_state_seq_get_data(self._handle, _bytes(state), size, sequence) != size:
            raise ContractError(f"llama.cpp could not save a sequence: {said()}")
        return state

    def load(self, sequence: int, state: NDArray[np.uint8]) -> None:
        """Give an empty sequence a state that was saved."""
        if not self._lib.llama_state_seq_set_data(self._handle, _bytes(state), len(state), sequence):
            raise ContractError(f"llama.cpp could not restore a sequence: {said()}")

    def _decode(self, cells: Sequence[Cell]) -> Floats:
        lib, wanted = self._lib, self._arrays.fill(cells)
        code = lib.llama_decode(self._handle, self._arrays.batch)
        if code:
            raise ContractError(f"llama.cpp failed to read {len(cells)} tokens (code {code}): {said()}")
        size = wanted, self._weights.vocab_size
        if not wanted:
            return np.empty(size, np.float32)
        return np.ctypeslib.as_array(lib.llama_get_logits(self._handle), size).copy()


class _Arrays:
    """The arrays that a batch points to."""

    def __init__(self, lib: Any, sequences: int) -> None:
        self.tokens, self.positions, self.counts = (np.zeros(BATCH, np.int32) for _ in range(3))
        self.wanted = np.zeros(BATCH, np.int8)
        self.sequences = np.zeros((BATCH, sequences), np.int32)
        rows = self.sequences.ctypes.data + np.arange(BATCH, dtype=np.uintp) * np.uintp(self.sequences.strides[0])
        self._rows = rows
        self.batch = lib.llama_batch()
        pointed = self.tokens, self.positions, self.counts, self.wanted, rows
        for name, array in zip(("token", "pos", "n_seq_id", "logits", "seq_id"), pointed, strict=True):
            kind = dict(lib.llama_batch._fields_)[name]
            setattr(self.batch, name, ctypes.cast(array.ctypes.data, kind))

    def fill(self, cells: Sequence[Cell]) -> int:
        """Write the cells into the arrays and return how many rows are wanted."""
        size = self.batch.n_tokens = len(cells)
        tokens, positions, sequences, wanted = zip(*cells, strict=True)
        self.tokens[:size], self.positions[:size], self.wanted[:size] = tokens, positions, wanted
        for row, members in enumerate(sequences):
            self.counts[row] = len(members)
            self.sequences[row, : len(members)] = members
        return sum(wanted)


def _pieces(cells: Sequence[Cell]) -> Iterator[tuple[int, int]]:
    """Cut what is to be read so that no piece has too many tokens or too many rows."""
    asked, start = [0, *accumulate(cell.wanted for cell in cells)], 0
    while start < len(cells):
        end = min(start + BATCH, len(cells))
        while asked[end] - asked[start] > OUTPUTS:
            end -= 1
        yield start, end
        start = end


def _bytes(state: NDArray[np.uint8]) -> Any:
    return state.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))


def _free(weights: Weights, handle: Any) -> None:
    """Free a context; the weights live until then."""
    weights.lib.llama_free(handle)
