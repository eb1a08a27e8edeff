"""The words shared by all rooms. In: nothing. Out: type names, records and protocols. No logic lives here."""

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple, Protocol, TypeAlias

__all__ = ["Array", "Draws", "Noise", "Probs", "Purpose", "Text", "TokenId", "Tokens", "Tree", "Uniform"]

Array: TypeAlias = Any
"""An array of NumPy (float64 or objects such as `Fraction`) or of torch: whatever array-api-compat understands."""

Probs: TypeAlias = Any
"""An `Array` of shape (..., V): non-negative, each row summing to 1."""

Uniform: TypeAlias = Any
"""A number in [0, 1), or an array of them: a float, or an unknown that the exact witness splits as it is compared."""

TokenId: TypeAlias = int
Tokens: TypeAlias = Sequence[int]


class Text(list[int]):
    """The token ids of a prompt and of what follows it; slices are plain lists, which stand for texts without a prompt.

    Args:
        tokens: the ids.
        prompt_length: how many of them are the prompt.
    """

    __slots__ = ("prompt_length",)

    def __init__(self, tokens: Iterable[int] = (), prompt_length: int = 0) -> None:
        super().__init__(tokens)
        self.prompt_length = prompt_length


class Tree(NamedTuple):
    """N drafted tokens that may branch; parents come before their children. A chain is a tree of only children.

    Of the rows that belong to a tree, row 0 follows the text itself and row i + 1 follows node i.
    """

    tokens: tuple[TokenId, ...]
    parents: tuple[int, ...]
    """For each node the node before it; -1 stands for the text itself."""


class Purpose(IntEnum):
    """What a uniform is for. Different purposes never share a uniform; 0 is the coupled rule's, which uses none."""

    DRAFT = 1
    ACCEPT = 2
    FINAL = 3


class Noise(Protocol):
    """Where random numbers come from: a pure function of the address, so that asking twice gives the same numbers."""

    def uniforms(self, purpose: Purpose, start: int, count: int, first: int = 0) -> Uniform:
        """Return (count,) uniforms: those numbered first .. first + count - 1 of the pass that begins at `start`."""
        ...

    def exponentials(self, position: int, vocab_size: int) -> Array:
        """Return (V,) exponentials of mean 1, one a token, that belong to a position of the text and to no pass."""
        ...


class Draws(Protocol):
    """The random numbers of one pass, or of a batch of passes in leading axes: a `Noise` with the start filled in."""

    def uniforms(self, purpose: Purpose, count: int, first: int = 0) -> Uniform:
        """Return (..., count) uniforms, numbered first .. first + count - 1."""
        ...

    def exponentials(self, depth: int, vocab_size: int) -> Array:
        """Return (..., V) exponentials of mean 1 for the position `depth` tokens after the start of the pass."""
        ...
