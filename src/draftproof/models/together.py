"""Deals out what several texts want to read over passes. In: the pieces of each text. Out: their rows.

It must never let two pieces of one text into one pass. One thread does it all: splitting a pass over two cores was
slower for 8 texts of 4 rows, since between small products the threads wait for each other.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from draftproof.models.blocks import Floats
from draftproof.models.transformer import Part

__all__ = ["run_all"]

Run = Callable[[Sequence[Part]], list[Floats]]


class _Turn(NamedTuple):
    """What a text reads next, and which text it is."""

    text: int
    part: Part


def run_all(run: Run, texts: Sequence[Iterable[Part]], most: int) -> list[list[Floats]]:
    """Return the rows of every part of every text.

    Args:
        run: reads parts of different texts in one pass.
        texts: the parts of each, in order.
        most: rows a pass may have.
    """
    found: list[list[Floats]] = [[] for _ in texts]
    for parts in zip_longest(*texts):
        turns = [_Turn(text, part) for text, part in enumerate(parts) if part is not None]
        for together in _passes(turns, most):
            for turn, rows in zip(together, run([turn.part for turn in together]), strict=True):
                found[turn.text].append(rows)
    return found


def _passes(turns: Iterable[_Turn], most: int) -> list[list[_Turn]]:
    """Put each turn, the largest first, into the first pass that has room for it."""
    passes: list[list[_Turn]] = []
    for turn in sorted(turns, key=_rows, reverse=True):
        open_ones = (one for one in passes if sum(map(_rows, one)) + _rows(turn) <= most)
        home = next(open_ones, None)
        if home is None:
            passes.append([turn])
        else:
            home.append(turn)
    return passes


def _rows(turn: _Turn) -> int:
    return len(turn.part.ids)
