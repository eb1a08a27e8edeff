"""What every rule promises, and the acts all rules share: picking a token from weights, gathering rows and entries.

In: arrays of NumPy, torch or Fractions. Out: the same kind. It must never know where laws or uniforms come from.
"""

from typing import NamedTuple, Protocol

from draftproof.arrays import array_namespace, is_numpy_array
from draftproof.types import Array, Draws, Probs, Purpose, Tree, Uniform

__all__ = [
    "Place",
    "Rule",
    "Verdict",
    "drawn",
    "entries_at",
    "normalised",
    "pick",
    "positive",
    "row_at",
    "row_or_zeros",
    "surplus",
    "unless_empty",
]

LONG = 2**14
"""Rows with more entries than this are those of real vocabularies, mostly zeros where warpers truncate."""


class Verdict(NamedTuple):
    """What a rule decided: keep the first `accepted` drafted tokens (of a tree: those of `path`), then emit `token`."""

    accepted: Array
    """(...) whole numbers 0..K; of a tree, the length of `path`."""
    token: Array
    """(...) token ids: drawn after a rejection, or the bonus when all was accepted."""
    path: tuple[int, ...] | None = None
    """The nodes that stay, from the text on; None for a chain."""


class Place(NamedTuple):
    """A place in a pass at which tokens are drafted or tested, and the random numbers that belong to it."""

    draws: Draws
    row: int
    """Which row of the laws stands here: 0 after the text, i + 1 after node i."""
    depth: int
    """How many drafted tokens lead here."""
    children: tuple[int, ...]
    """The numbers of the nodes drafted here."""

    def each(self, purpose: Purpose) -> list[Uniform]:
        """Return one uniform for each child."""
        return [self.draws.uniforms(purpose, 1, child)[0, ...] for child in self.children]

    def final(self) -> Uniform:
        """Return the uniform for the token that is emitted here without having been drafted."""
        return self.draws.uniforms(Purpose.FINAL, 1, self.row)[0, ...]


class Rule(Protocol):
    """An accept/reject rule: a value, pure, the same code on NumPy, torch and Fractions."""

    @property
    def name(self) -> str:
        """What a user types."""
        ...

    @property
    def lossless(self) -> bool:
        """Whether the emitted law is the target's law, whatever the draft."""
        ...

    @property
    def branches(self) -> bool:
        """Whether it takes a `Tree`; otherwise a chain of token ids."""
        ...

    def children(self, law: Probs, place: Place) -> list[int]:
        """Draw the tokens that are drafted at `place`, at most one for each of its children, from the law (V,)."""
        ...

    def verify(self, target: Probs, draft: Probs, drafted: Array | Tree, draws: Draws) -> Verdict:
        """Decide how much of what was drafted stays, and what follows it.

        Args:
            target: (..., K + 1, V) row i is the target's law after i drafted tokens; row K is the bonus row. Of a tree
                with N nodes (N + 1, V), rows as in `Tree`.
            draft: (..., K, V) row i is the law that drafted token i was drawn from. Of a tree: rows as in `Tree`; those
                of leaves do not matter and may be missing at the end.
            drafted: (..., K) token ids, or a `Tree` for the rules that take one.
            draws: random numbers of this pass.

        Raises:
            ContractError: if a row is no law, a token is none of the vocabulary or has no mass where it was drawn.
        """
        ...

    def identity(self, target: Probs, draft: Probs, drafted: Array | Tree) -> tuple[Probs, Probs]:
        """Return two (..., n, V): what each place emits when reached, by the parts of this rule, and what it must.

        They are equal if and only if nothing is lost at the places of this pass.
        """
        ...

    def expected_accepted(self, target: Probs, draft: Probs, drafted: Array | Tree, accepted: int) -> float | None:
        """Return an unbiased estimate of how many drafted tokens such a pass keeps; None if the rule has none."""
        ...


def pick(weights: Array, uniform: Uniform) -> Array:
    """Draw by inverse CDF: the smallest j whose cumulative weight exceeds uniform * total.

    Args:
        weights: (..., V) non-negative, at least one positive, not necessarily summing to 1.
        uniform: (...) numbers in [0, 1).

    Returns:
        (...) indices. Rounding can push none past the token at which the cumulative weight reaches the total, which is
        the last one that matters.

    >>> import numpy as np
    >>> int(pick(np.array([0.2, 0.0, 0.8, 0.0]), np.array(0.5)))
    2
    """
    if weights.ndim == 1 and (weights.shape[0] > LONG or not is_numpy_array(weights)):
        # Adding zeros takes long and changes no sum; but on a device, which adds in another order at every place, it
        # could seem to, and a token without weight be drawn.
        some = array_namespace(weights).nonzero(weights > 0)[0]
        return some[_first_above(weights[some], uniform)]
    return _first_above(weights, uniform)


def _first_above(weights: Array, uniform: Uniform) -> Array:
    xp = array_namespace(weights)
    cumulative = xp.cumulative_sum(weights, axis=-1)
    total = cumulative[..., -1:]
    reached = (cumulative > uniform[..., None] * total) | (cumulative >= total)
    return xp.argmax(xp.astype(reached, xp.int8), axis=-1)


def drawn(law: Probs, place: Place) -> list[int]:
    """Draw a token for each child of `place` from the law (V,), independently: DRAFT uniforms, one a child."""
    return [int(pick(law, uniform)) for uniform in place.each(Purpose.DRAFT)]


def positive(differences: Array) -> Array:
    """Return (..., V) max(0, differences)."""
    xp = array_namespace(differences)
    return xp.maximum(differences, xp.zeros_like(differences[..., :1]))


def surplus(p: Array, q: Array) -> Array:
    """Return (..., V) max(0, p - q); where that leaves nothing, p itself.

    Of two laws nothing is left only if they are equal, when a rejection has probability zero (in floats: of a rounding
    error).
    """
    return unless_empty(positive(p - q), p)


def unless_empty(weights: Array, other: Array) -> Array:
    """Return weights (..., V); in place of each row that is all zeros that of `other`."""
    xp = array_namespace(weights, other)
    return xp.where(xp.sum(weights, axis=-1, keepdims=True) > 0, weights, other)


def normalised(weights: Array) -> Probs:
    """Return weights (..., V) divided by their sums."""
    xp = array_namespace(weights)
    return weights / xp.sum(weights, axis=-1, keepdims=True)


def row_at(rows: Array, index: Array) -> Array:
    """Return (..., V), the row of rows (..., N, V) that index (...) names."""
    if index.ndim == 0:
        return rows[int(index)]
    xp = array_namespace(rows)
    wanted = xp.broadcast_to(index[..., None, None], (*rows.shape[:-2], 1, rows.shape[-1]))
    return xp.take_along_axis(rows, wanted, axis=-2)[..., 0, :]


def row_or_zeros(rows: Array, index: Array, like: Array) -> Array:
    """Return (..., V), the row of rows (..., N, V) that index (...) names; where it is N, zeros like `like`."""
    if index.ndim == 0 and int(index) < rows.shape[-2]:
        return rows[int(index)]
    xp = array_namespace(rows, like)
    zeros = xp.zeros_like(like)
    return zeros if index.ndim == 0 else row_at(xp.concat([rows, zeros[..., None, :]], axis=-2), index)


def entries_at(rows: Array, index: Array) -> Array:
    """Return (..., N), from each row of rows (..., N, V) the entry that index (..., N) names."""
    xp = array_namespace(rows)
    if index.ndim == 1:
        return rows[xp.arange(index.shape[0], device=rows.device), index]
    return xp.take_along_axis(rows, index[..., None], axis=-1)[..., 0]
