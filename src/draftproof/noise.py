"""Randomness by address: (seed, sequence, purpose, pass start, number) -> a uniform of 53 bits, or exponentials.

In: integers. Out: float64 numbers. It must never know who uses them: no stream is advanced, nothing is
remembered, so the order of the questions cannot change the answers.
"""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from draftproof.errors import UsageError
from draftproof.types import Array, Noise, Purpose, Uniform

__all__ = ["PassNoise", "PhiloxNoise"]

_WORD = 2**64
_UNIT = 2.0**-53
_FRESH_BUFFER = 4
"""NumPy's Philox keeps four words per counter; position 4 of that buffer means "all used, count on"."""


@dataclass(frozen=True)
class PhiloxNoise:
    """Counter-based uniforms from Philox-4x64 (`salmon2011`), raw words of the bit generator.

    The key is (seed, sequence), the counter (0, position, purpose, start + 1): every address has a block of its own.
    Raw words are used because NumPy promises them for ever, and the distributions built on them it does not.

    Args:
        seed: 0 .. 2**64 - 1.
        sequence: which of several samples with one seed, 0 .. 2**64 - 1.

    Raises:
        UsageError: if a number is outside its range.
    """

    seed: int
    sequence: int = 0

    def __post_init__(self) -> None:
        for name, value in (("seed", self.seed), ("sequence", self.sequence)):
            if not 0 <= value < _WORD:
                raise UsageError(f"got {value}; allowed are whole numbers from 0 to 2**64 - 1", setting=name)

    def uniforms(self, purpose: Purpose, start: int, count: int, first: int = 0) -> NDArray[np.float64]:
        """Return (count,) uniforms in [0, 1), those numbered from `first` on of the pass at `start`."""
        generator, state = _SCRATCH.at(self.seed, self.sequence)
        counter = state["state"]["counter"]
        found: list[float] = []
        for position in range(start + first, start + first + count):
            counter[:] = 0, position, purpose, start + 1
            generator.state = state
            found.append((generator.random_raw() >> 11) * _UNIT)
        return np.array(found, dtype=np.float64)

    def exponentials(self, position: int, vocab_size: int) -> NDArray[np.float64]:
        """Return (V,) exponentials of mean 1 for a position of the text: -log of uniforms that are never 0 or 1."""
        generator, state = _SCRATCH.at(self.seed, self.sequence)
        state["state"]["counter"][:] = 0, position, 0, 0
        generator.state = state
        uniforms = ((generator.random_raw(vocab_size) >> np.uint64(11)) + 0.5) * _UNIT
        return -np.log(uniforms)


@dataclass(frozen=True)
class PassNoise:
    """The random numbers of the pass that begins at `start`: see `Draws`."""

    noise: Noise
    start: int

    def uniforms(self, purpose: Purpose, count: int, first: int = 0) -> Uniform:
        """See `Draws.uniforms`."""
        return self.noise.uniforms(purpose, self.start, count, first)

    def exponentials(self, depth: int, vocab_size: int) -> Array:
        """See `Draws.exponentials`."""
        return self.noise.exponentials(self.start + depth, vocab_size)


class _Scratch(threading.local):
    """A bit generator for each thread, to be set to an address before every word: making one costs as much as ten."""

    def __init__(self) -> None:
        self.generator = np.random.Philox(key=0)
        self.state: Any = self.generator.state | {"buffer_pos": _FRESH_BUFFER}

    def at(self, seed: int, sequence: int) -> tuple[np.random.Philox, Any]:
        """Return the generator and its state with the key set; the caller sets the counter."""
        self.state["state"]["key"][:] = seed, sequence
        return self.generator, self.state


_SCRATCH = _Scratch()
