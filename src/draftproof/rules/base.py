"""What every rule promises, and the two acts all rules share: picking a token from weights, gathering a row.

In: arrays of NumPy, torch or Fractions. Out: the same kind. It must never know where laws or uniforms come from.
"""

from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from array_api_compat import array_namespace

from draftproof.types import Array, Probs, Uniform

array_namespace(np.empty(0))  # reads its NumPy part now; otherwise the first pass of a generation would wait for it

__all__ = ["Rule", "Verdict", "entries_at", "pick", "row_at"]


class Verdict(NamedTuple):
    """What a rule decided: keep the first `accepted` drafted tokens, then emit `token`."""

    accepted: Array
    """(...) whole numbers 0..K."""
    token: Array
    """(...) token ids: from the residual of the first rejected row, or the bonus when all K were accepted."""


class Rule(Protocol):
    """An accept/reject rule: a value, pure, the same code on NumPy, torch and Fractions."""

    name: ClassVar[str]
    """What a user types."""
    lossless: ClassVar[bool]
    """Whether the emitted law is the target's law, whatever the draft."""

    def verify(
        self, target: Probs, draft: Probs, tokens: Array, accept_uniforms: Uniform, final_uniform: Uniform
    ) -> Verdict:
        """Decide how much of a drafted block stays and what follows it.

        Args:
            target: (..., K + 1, V) row i is the target's law after i drafted tokens; row K is the bonus row.
            draft: (..., K, V) row i is the law that `tokens[..., i]` was drawn from.
            tokens: (..., K) drafted token ids.
            accept_uniforms: (..., K) uniforms.
            final_uniform: (...) uniform for the residual or bonus draw.
        """
        ...

    def emitted_law(self, p: Probs, q: Probs) -> Probs:
        """Return (..., V), the law of the token that one position emits: equal to p if and only if nothing is lost."""
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
    xp = array_namespace(weights)
    cumulative = xp.cumulative_sum(weights, axis=-1)
    total = cumulative[..., -1:]
    reached = (cumulative > uniform[..., None] * total) | (cumulative >= total)
    return xp.argmax(xp.astype(reached, xp.int8), axis=-1)


def row_at(rows: Array, index: Array) -> Array:
    """Return (..., V), the row of rows (..., N, V) that index (...) names."""
    if index.ndim == 0:
        return rows[int(index)]
    xp = array_namespace(rows)
    wanted = xp.broadcast_to(index[..., None, None], (*rows.shape[:-2], 1, rows.shape[-1]))
    return xp.take_along_axis(rows, wanted, axis=-2)[..., 0, :]


def entries_at(rows: Array, index: Array) -> Array:
    """Return (..., N), from each row of rows (..., N, V) the entry that index (..., N) names."""
    xp = array_namespace(rows)
    if index.ndim == 1:
        return rows[xp.arange(index.shape[0]), index]
    return xp.take_along_axis(rows, index[..., None], axis=-1)[..., 0]
