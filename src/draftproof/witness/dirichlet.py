"""Counts of what can be listed, against the law they should have: for toy engines, and contexts visited many times.

In: counts, a law. Out: evidence that the counts do not come from it. Its rival is every other law at once, spread
around this one more or less widely (a mixture of Dirichlet laws), so no direction is overlooked.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from draftproof.witness.mixture import evenly

__all__ = ["KAPPAS", "log_evidence"]

KAPPAS = (1e1, 1e2, 1e3, 1e4, 1e5, 1e6)
"""How closely the rivals lie around the law."""


def log_evidence(counts: NDArray[np.int64], law: NDArray[np.float64], kappas: Sequence[float] = KAPPAS) -> float:
    """Return the natural logarithm of an e-value that holds at every look: infinite if what cannot happen happened.

    Args:
        counts: (n,) how often each outcome came.
        law: (n,) how probable each should be.
        kappas: see `KAPPAS`.
    """
    if (counts[law == 0] > 0).any():
        return math.inf
    seen = counts > 0  # the others change nothing: G(a + 0) / G(a) = 1
    counts, law, total = counts[seen], law[seen], int(counts.sum())
    expected = float(counts @ np.log(law))
    logs = [
        math.lgamma(kappa)
        - math.lgamma(kappa + total)
        + sum(math.lgamma(kappa * p + n) - math.lgamma(kappa * p) for p, n in zip(law, counts, strict=True))
        - expected
        for kappa in kappas
    ]
    return evenly(np.array(logs))
