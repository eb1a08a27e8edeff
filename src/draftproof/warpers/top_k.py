"""Top-k: keep the k most probable tokens. In: a law. Out: weights. Tokens level with the k-th are all kept."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import array_namespace, is_numpy_array
from draftproof.errors import UsageError
from draftproof.types import Array, Probs
from draftproof.warpers.base import is_whole, keep_only

__all__ = ["TopK"]

BLOCK = 32
"""Entries in a block of a long row."""


@dataclass(frozen=True)
class TopK:
    """Keep every token at least as probable as the k-th.

    Args:
        k: at least 1; k >= V keeps everything.

    >>> import numpy as np
    >>> TopK(2)(np.array([0.5, 0.1, 0.4])).tolist()
    [0.5, 0.0, 0.4]
    """

    k: int

    def __post_init__(self) -> None:
        if not is_whole(self.k, 1):
            raise UsageError(f"got {self.k}; allowed are whole numbers from 1 up, or 0 for no limit", "top_k")

    def __call__(self, law: Probs, out: Array | None = None) -> Array:
        """See `LawFilter.__call__`: 0 in place of everything less probable than the k-th token."""
        xp = array_namespace(law)
        if self.k >= law.shape[-1]:
            return law
        if is_numpy_array(law) and law.dtype == np.float64 and self.k * BLOCK <= law.shape[-1]:
            weights = np.empty(law.shape) if out is None else out
            for place in np.ndindex(law.shape[:-1]):
                keep_only(law[place], _largest(law[place], self.k), weights[place])
            return weights
        ordered = np.partition(law, -self.k, axis=-1) if is_numpy_array(law) else xp.sort(law, axis=-1)
        kth = ordered[..., -self.k, None]
        return xp.where(law >= kth, law, xp.zeros_like(law))


def _largest(row: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Return the tokens of a long row (V,) that are at least as probable as the k-th.

    The row is cut into blocks, k of them and more. The k-th largest of their largest entries is no larger than the k-th
    largest of all, and few entries are as large.
    """
    whole = len(row) - len(row) % BLOCK
    bests = row[:whole].reshape(BLOCK, -1).max(axis=0)
    few = np.flatnonzero(row >= np.partition(bests, -k)[-k])
    entries = row[few]
    return few[entries >= np.partition(entries, -k)[-k]]
