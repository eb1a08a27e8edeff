"""Where tokens lie in the unit interval: bets on shapes that nobody thought of as a fault.

In: emitted tokens. Out: for orderings fixed before a token was drawn, the part of the unit interval that it takes. A
uniform point of it is uniform on [0, 1] under the target's law; every bet is averaged over it instead.
"""

from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from draftproof.types import Array
from draftproof.witness.emitted import Emitted
from draftproof.witness.events import earlier

__all__ = ["BINS", "DEGREES", "EDGES", "ORDERINGS", "Intervals", "intervals", "legendre_means", "overlaps"]

ORDERINGS = ("qp", "desc", "id")
"""By rising draft ratio q / p, by falling probability, by id; equals by id."""
BINS = 16
DEGREES = 4
_EVEN = np.arange(BINS + 1) / BINS
_TAILED = np.array([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999, 1])
EDGES = np.array([_EVEN, _TAILED, _EVEN])
"""(3, 17) of the bins, for each ordering."""
NARROW = 5e-8
"""A narrower interval is taken for its middle: the difference of two integrals would be rounding."""


class Intervals(NamedTuple):
    """Where B tokens lie."""

    starts: NDArray[np.float64]
    """(B, 3) in each ordering."""
    widths: NDArray[np.float64]
    """(B, 1) the probability of each token."""
    there: NDArray[np.bool_]
    """(3,) which orderings there are."""

    @property
    def middles(self) -> NDArray[np.float64]:
        """(B, 3) from -1 to 1."""
        return 2 * self.starts + self.widths - 1


def intervals(emitted: Emitted, ratio: Array | None) -> Intervals:
    """Return where tokens lie.

    Args:
        emitted: B tokens.
        ratio: (B, V) see `draft_ratio`.
    """
    starts = np.zeros((len(emitted), len(ORDERINGS)))
    there = np.array([ratio is not None, True, True])
    for o, score in enumerate((ratio, emitted.target, None)):
        if there[o]:
            starts[:, o] = earlier(emitted, score, falling=ORDERINGS[o] == "desc")
    return Intervals(starts, emitted.at_tokens(emitted.target)[:, None], there)


def legendre_means(found: Intervals) -> NDArray[np.float64]:
    """Return (B, 3, 4) the mean of each Legendre polynomial of 2u - 1, degrees 1 to 4, over the intervals."""
    left, right = 2 * found.starts - 1, 2 * (found.starts + found.widths) - 1
    narrow = found.widths < NARROW
    widths = np.where(narrow, 1, 2 * found.widths)
    means = np.empty((*left.shape, DEGREES))
    for k in range(1, DEGREES + 1):
        whole = np.zeros(k + 2)
        whole[k + 1], whole[k - 1] = 1 / (2 * k + 1), -1 / (2 * k + 1)  # an antiderivative of P_k
        area = legendre.legval(right, whole) - legendre.legval(left, whole)
        middle = legendre.legval(found.middles, np.eye(k + 1)[k])
        means[..., k - 1] = np.where(narrow, middle, area / widths)
    return means


def overlaps(found: Intervals) -> NDArray[np.float64]:
    """Return (B, 3, 16) the share of each interval that lies in each bin; they sum to 1, however narrow it is."""
    with np.errstate(over="ignore"):  # of a token of probability 1e-300 no edge is anywhere near
        reached = np.clip((EDGES - found.starts[..., None]) / found.widths[..., None], 0, 1)
    reached[..., 0], reached[..., -1] = 0, 1
    return np.diff(reached, axis=-1)
