"""The layers of a Llama decoder, run over new tokens of any number of texts at once.

In: tokens and the cache of the text each belongs to. Out: logits. The linear layers multiply the rows of all texts
together, so that the weights are read once; attention runs text by text, each on its own cache, so nothing is padded.
A row must not depend on the company it is scored in: see `tiny.py`.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from draftproof.models.attention import Cache, whole_lanes
from draftproof.models.blocks import SMALL_PRODUCT, Floats
from draftproof.models.llama_weights import Weights
from draftproof.models.view import LANES, MOST_ROWS, View

__all__ = ["Part", "Transformer"]

FEWEST_ROWS = 2
"""A product of one row takes another path of BLAS (gemv) and rounds differently; it costs no less than two rows."""
STEADY_ROWS = 8
"""Rows of every product where the bits of a score must not depend on the number of tokens read with it."""


class Part(NamedTuple):
    """Tokens of one text that are read in one go."""

    cache: Cache
    ids: list[int]
    view: View
    wanted: int
    """So many of the last rows are asked for."""


class Transformer:
    """Weights, and how many rows their products have: what the models that may be read together share.

    Args:
        weights: of a folder, or of its first layers.
        steady: whether every product has the same number of rows, so that bits never depend on the company.
    """

    def __init__(self, weights: Weights, steady: bool = False, known: "_Known | None" = None) -> None:
        self.weights, self._steady = weights, steady
        self.fewest = self._steady_rows() if steady else FEWEST_ROWS
        self.most = self.fewest if steady else weights.rows_at_once
        self._head_rows = self.fewest if steady else weights.head.rows_at_once
        self._known: _Known = {} if known is None else known
        self._known[weights.shape.layers, steady] = self

    def steady(self) -> "Transformer":
        """Return the same, with one number of rows in every product; always the same object."""
        return self._other(self.weights.shape.layers, steady=True)

    def first(self, layers: int) -> "Transformer":
        """Return the first layers, with the same norm and head after them; always the same object."""
        return self._other(layers, self._steady)

    def sizes(self, length: int, count: int) -> Iterator[int]:
        """Cut `count` tokens after `length` others into pieces whose every product stays on the small-matrix path."""
        width = self.weights.shape.head_size + LANES
        while count:
            fits = self.most if self._steady else SMALL_PRODUCT // (width * whole_lanes(length + self.most))
            size = min(max(min(fits, self.most), FEWEST_ROWS), MOST_ROWS, count)
            yield size
            length, count = length + size, count - size

    def __call__(self, parts: Sequence[Part]) -> list[Floats]:
        """Read the parts, each of another text, and return the wanted rows (n, V) of each."""
        with np.errstate(over="ignore"):  # in SwiGLU exp(-gate) = inf gives gate / inf = 0, which is the limit
            state = self._states(parts)
        ends = [*accumulate(len(part.ids) for part in parts)]
        if len(parts) == 1:
            return [self._logits(state[ends[0] - parts[0].wanted : ends[0]])]
        wanted = [row for end, part in zip(ends, parts, strict=True) for row in range(end - part.wanted, end)]
        logits = self._logits(state[wanted])
        return np.split(logits, [*accumulate(part.wanted for part in parts)][:-1])

    def _other(self, layers: int, steady: bool) -> "Transformer":
        return self._known.get((layers, steady)) or Transformer(self.weights.first(layers), steady, self._known)

    def _steady_rows(self) -> int:
        shape = self.weights.shape
        fits = SMALL_PRODUCT // ((shape.head_size + LANES) * whole_lanes(shape.context_limit + STEADY_ROWS))
        return max(min(STEADY_ROWS, fits, self.weights.rows_at_once), FEWEST_ROWS)

    def _states(self, parts: Sequence[Part]) -> Floats:
        """Run the layers, filling the caches: final normalised states (n + idle, hidden)."""
        spans, ids, places = [0], list[int](), list[int]()
        for cache, tokens, view, _ in parts:
            first = cache.length - view.base
            ids += tokens
            places += view.positions[first : first + len(tokens)]
            spans.append(len(ids))
        if (idle := self.fewest - len(ids)) > 0:  # the last text has idle rows
            ids += ids[-1:] * idle
            places += places[-1:] * idle
            spans[-1] = len(ids)
        turn = self.weights.turns[places]
        state = self.weights.embedding[ids]
        whose = [(part, slice(*span)) for part, span in zip(parts, pairwise(spans), strict=True)]
        for i, layer in enumerate(self.weights.layers):
            state += layer.out(self._attention(i, layer.qkv(self._norm(state)), turn, whose))
            state += layer.down(_swiglu(layer.gate_up(self._norm(state))))
        for part in parts:
            part.cache.length += len(part.ids)
        return self._norm(state)

    def _attention(
        self, i: int, heads: Floats, turn: NDArray[np.complex64], whose: Sequence[tuple[Part, slice]]
    ) -> Floats:
        """Let n rows attend, each to its own text: (heads + 2 kv_heads, n, head_size) to (heads, n, head_size)."""
        shape, rows = self.weights.shape, heads.shape[1]
        turned = heads[: -shape.kv_heads].view(np.complex64)
        turned *= turn
        mixed = np.empty((shape.kv_heads, shape.heads // shape.kv_heads, rows, shape.head_size), np.float32)
        for part, span in whose:
            part.cache.attend(i, heads[:, span], part.view, self.fewest, mixed[:, :, span])
        return mixed.reshape(shape.heads, rows, shape.head_size)

    def _norm(self, x: Floats) -> Floats:
        """Scale rows (n, hidden) to unit length; the square root of hidden and the gain are in the matrix that follows.

        Dividing by sqrt(mean square + epsilon) and by sqrt(sum of squares + hidden * epsilon) differ by that root.
        """
        squares: Floats = np.vecdot(x, x)[:, None]
        squares += x.shape[1] * self.weights.shape.norm_epsilon
        lengths: Floats = np.sqrt(squares)
        return x / lengths

    def _logits(self, states: Floats) -> Floats:
        """Return (n, V) logits of final states (n, hidden); n may be 0."""
        head, most = self.weights.head, self._head_rows
        if not len(states):
            return np.empty((0, head.outer), np.float32)
        pieces = [states[first : first + most] for first in range(0, len(states), most)]
        whole = [head.joined(self._in_company(piece))[: len(piece)] for piece in pieces]
        return whole[0] if len(whole) == 1 else np.concatenate(whole)

    def _in_company(self, rows: Floats) -> Floats:
        """Return rows (n, hidden), repeated if they are too few to be multiplied alone."""
        missing = self.fewest - len(rows)
        return np.concatenate([rows, np.repeat(rows[-1:], missing, axis=0)]) if missing > 0 else rows


_Known = dict[tuple[int, bool], Transformer]
"""Those of one folder, by number of layers and steadiness."""


def _swiglu(gate_up: Floats) -> Floats:
    """Return silu(gate) * up for (2 blocks, n, block) of -gate and -up: g * u / (1 + exp(-g))."""
    half = len(gate_up) // 2
    gate, up = gate_up[:half], gate_up[half:]
    up *= gate
    np.exp(gate, out=gate)
    gate += 1
    up /= gate
    return up
