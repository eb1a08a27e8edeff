"""What each newly read token may look back at, and at which position it stands: a chain, or a tree after a text.

In: how many tokens, and whose child each is. Out: positions, and -inf where a token must not look.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from draftproof.errors import ContractError
from draftproof.models.blocks import Floats

__all__ = ["LANES", "MOST_ROWS", "View", "chain_view", "check_tree", "tree_paths", "tree_view"]

LANES = 16
"""Attention reads whole groups of this many positions: the width of a vector register, so no edge kernel is used."""
MOST_ROWS = 64
"""Rows that are scored at once."""
_LATER = np.triu(np.full((MOST_ROWS, MOST_ROWS + LANES), -np.inf, np.float32), k=1)
"""Added to scores: row i of a chunk must not see the positions after its own."""


class View(NamedTuple):
    """The view of n tokens that are read after `base` others."""

    base: int
    positions: Sequence[int]
    """(n + idle,) where each stands in its own text; a token may be scored in the company of idle rows after it."""
    hidden: Floats | None
    """(n + idle, n + idle + LANES) added to the scores of the new tokens among themselves; None for a chain."""

    def of_rows(self, first: int, rows: int, end: int) -> tuple[int, Floats]:
        """Return where the mask of cache slots first .. first + rows - 1 begins, and the mask up to slot `end`."""
        if self.hidden is None:
            return first, _LATER[:rows, : end - first]
        return self.base, self.hidden[first - self.base : first - self.base + rows, : end - self.base]


def chain_view(base: int, count: int, idle: int) -> View:
    """Return the view of `count` tokens that follow one another, with room for idle rows."""
    return View(base, range(base, base + count + idle), None)


def tree_view(base: int, count: int, idle: int, parents: Sequence[int]) -> View:
    """Return the view of `count` tokens, the last len(parents) of them a tree (see `Model.extend`)."""
    trunk = count - len(parents)
    check_tree(trunk, parents)
    hidden = np.full((count + idle, count + idle + LANES), -np.inf, np.float32)
    hidden[:trunk, :trunk] = np.triu(hidden[:trunk, :trunk], k=1)
    positions = list(range(base, base + trunk))
    for node, parent in enumerate(parents):
        own = trunk + node
        hidden[own] = hidden[trunk + parent]
        hidden[own, own] = 0
        positions.append(positions[trunk + parent] + 1)
    hidden[count:] = 0
    return View(base, [*positions, *positions[-1:] * idle], hidden)


def check_tree(trunk: int, parents: Sequence[int]) -> None:
    """Refuse what is no tree after `trunk` tokens (see `Model.extend`)."""
    for node, parent in enumerate(parents):
        if not -1 <= parent < node or trunk < 1:
            raise ContractError(f"node {node} has parent {parent}; parents come before their children, after some text")


def tree_paths(parents: Sequence[int]) -> list[list[int]]:
    """Return the way to each node of a tree: the nodes from the text on, itself the last."""
    paths: list[list[int]] = []
    for node, parent in enumerate(parents):
        paths.append([*(paths[parent] if parent >= 0 else ()), node])
    return paths
