"""The words shared by all rooms. In: nothing. Out: type names and protocols. No logic lives here."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Protocol, TypeAlias

__all__ = ["Array", "Noise", "Probs", "Purpose", "TokenId", "Tokens", "Uniform"]

Array: TypeAlias = Any
"""An array of NumPy (float64 or objects such as `Fraction`) or of torch: whatever array-api-compat understands."""

Probs: TypeAlias = Any
"""An `Array` of shape (..., V): non-negative, each row summing to 1."""

Uniform: TypeAlias = Any
"""A number in [0, 1), or an array of them: a float, or an unknown that the exact witness splits as it is compared."""

TokenId: TypeAlias = int
Tokens: TypeAlias = Sequence[int]


class Purpose(IntEnum):
    """What a uniform is for. Different purposes never share a uniform; 0 is kept for the coupled rule."""

    DRAFT = 1
    ACCEPT = 2
    FINAL = 3


class Noise(Protocol):
    """Where uniforms come from: a pure function of the address, so that asking twice gives the same numbers."""

    def uniforms(self, purpose: Purpose, start: int, count: int) -> Uniform:
        """Return (count,) uniforms for the positions start .. start + count - 1 of the pass that begins at `start`."""
        ...
