"""Where a text lives: its sequences in a context. In: what is to be read or forgotten. Out: cells to read.

A tree is one sequence a branch, which share the cells of what they have in common. It must never go on from a tree.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from draftproof.errors import ContractError, UsageError
from draftproof.models.gguf.context import BATCH, SEQUENCES, Cell, Context

__all__ = ["Place", "branches"]

_NO_TREE: tuple[Sequence[int], ...] = ((),)


class Place:
    """One text, which may end in a tree.

    Args:
        context: where there is room for it.
        sequence: one of the context's, which nobody else holds.
    """

    def __init__(self, context: Context, sequence: int) -> None:
        self.context, self.sequences = context, [sequence]
        self.length = self.claimed = 0
        """How many tokens were read, all nodes of a tree counted; and how many cells are set aside."""
        self.broken = False
        """Whether a reading was interrupted."""
        self._trunk = 0
        self._paths: list[Sequence[int]] = [*_NO_TREE]
        """Of each sequence the nodes that it has after the trunk."""
        context.forget(sequence)

    def mended(self) -> "Place":
        """Make good what an interrupted reading left, and return itself."""
        if self.broken:
            self._only(self.sequences[0], min(self._trunk, self.length))
        return self

    def clear(self) -> None:
        """Forget everything, for good."""
        for sequence in self.sequences:
            self.context.forget(sequence)

    def grow(self, sequences: Sequence[int]) -> None:
        """Take more sequences, which nobody else holds, and let each hold the text."""
        self.broken = True
        for sequence in sequences:
            self.context.forget(sequence)
            if self.length:
                self.context.copy(self.sequences[0], sequence)
        self.sequences = [*self.sequences, *sequences]

    def cells(
        self, tokens: Sequence[int], asked: int, parents: Sequence[int], paths: Sequence[Sequence[int]]
    ) -> list[Cell]:
        """Return what to read so that `tokens`, the last of them a tree with these ways to its leaves, follow."""
        trunk, first = len(tokens) - len(parents), len(tokens) - asked
        everywhere = tuple(self.sequences)
        found = [Cell(tokens[i], self.length + i, everywhere, i >= first) for i in range(trunk)]
        members: list[list[int]] = [[] for _ in parents]
        depths = [0] * len(parents)
        for sequence, path in zip(self.sequences, paths, strict=False):
            for depth, node in enumerate(path):
                members[node].append(sequence)
                depths[node] = depth
        for node, where in enumerate(members):
            i = trunk + node
            found.append(Cell(tokens[i], self.length + trunk + depths[node], where, i >= first))
        return found

    def hold(self, tokens: int, nodes: int, paths: list[Sequence[int]]) -> None:
        """Take note that the cells were read."""
        self._paths, self._trunk, self.length = paths or [*_NO_TREE], self.length + tokens - nodes, self.length + tokens
        self.claimed = self.length
        self.broken = False

    def keep(self, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`; the numbers have been checked."""
        start = min(length, self._trunk)
        kept = [*range(start, length), *(length + offset for offset in path)]
        straight, nodes = kept[: self._trunk - start], [i - self._trunk for i in kept[self._trunk - start :]]
        branch = next((i for i, way in enumerate(self._paths) if [*way[: len(nodes)]] == nodes), None)
        if branch is None or straight != [*range(start, start + len(straight))]:
            raise ContractError(f"keep: {[*path]} after {length} tokens is no text")
        self._only(self.sequences[branch], length + len(path))

    def copy_to(self, other: "Place") -> None:
        """Let an empty place hold the same text."""
        self.refuse_a_tree()
        if self.length and other.context is self.context:
            self.context.copy(self.sequences[0], other.sequences[0])
        elif self.length:
            other.context.load(other.sequences[0], self.context.saved(self.sequences[0]))
        other.hold(self.length, 0, [])

    def become(self, length: int, state: NDArray[np.uint8] | None) -> None:
        """Hold what a saved state holds; None is nothing. It works after an interrupted reading too."""
        self.broken = True
        self.clear()
        self.sequences, self.length = self.sequences[:1], 0
        if state is not None:
            self.context.load(self.sequences[0], state)
        self.hold(length, 0, [])

    def refuse_a_tree(self) -> None:
        """Refuse to go on from what is no text."""
        if self._trunk != self.length:
            raise ContractError("a tree was read; keep one of its paths first")

    def _only(self, sequence: int, length: int) -> None:
        """Hold the first `length` tokens of one sequence and give the others back."""
        self.broken = True
        others = [one for one in self.sequences if one != sequence]
        self.sequences, self._trunk, self.length = [sequence, *others], length, length
        for other in others:
            self.context.forget(other)
        if not self.context.forget(sequence, length):
            raise ContractError(f"llama.cpp could not forget what follows {length} tokens")
        self.sequences, self._paths, self.claimed = [sequence], [*_NO_TREE], length
        self.broken = False


def branches(parents: Sequence[int]) -> list[Sequence[int]]:
    """Return the way to each leaf of a tree.

    Raises:
        UsageError: if there are more than llama.cpp can read.
    """
    ways: list[list[int]] = []
    for node, parent in enumerate(parents):
        ways.append([*(ways[parent] if parent >= 0 else ()), node])
    leaves = sorted({*range(len(parents))} - {*parents})
    if len(leaves) > SEQUENCES or len(parents) > BATCH:
        raise UsageError(
            f"got a tree of {len(parents)} tokens and {len(leaves)} branches;"
            f" llama.cpp reads at most {BATCH} tokens and {SEQUENCES} branches"
        )
    return [ways[leaf] for leaf in leaves]
