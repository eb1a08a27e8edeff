"""How wealth is spread over bets, and what a token makes of each bet. In: readings of tokens. Out: logarithms.

A bet of strength e on a payoff g, whose mean is 0 under the target's law and which is nowhere below -1, multiplies its
wealth by 1 + e g. Strengths are constants, so the logarithms of a bet add up, whatever the order of the tokens.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from draftproof.witness.experts import EXPERTS
from draftproof.witness.intervals import DEGREES, EDGES, ORDERINGS, Intervals, legendre_means, overlaps

__all__ = [
    "BLOCKS", "SHAPES", "SLOTS", "STRENGTHS", "block", "evenly", "expert_gains", "histogram_gains", "lag_gains",
    "legendre_gains", "mean", "mixed",
]  # fmt: skip

STRENGTHS = np.array([0.9, *(2.0**-i for i in range(1, 13))])
"""Which part of its wealth a bet risks on a token."""
SLOTS = {"all": 0.6, "bonus": 0.2, "after_reject": 0.2}
"""Which tokens an expert bets on, and how much of the wealth is theirs."""
BLOCKS = {"lr": 0.55, "leg": 0.20, "hist": 0.20, "lag": 0.05}
"""Experts, Legendre polynomials, histograms, bets on used random numbers; and how much of the wealth is theirs."""
KAPPAS = np.array([30.0, 300.0, 3e3, 3e4, 3e5])
"""How many tokens' worth of the target's own law a histogram begins with."""
LAGGED = ("desc", "id")
"""Orderings in which a token is compared with the one before."""
SIGNS = np.array([1.0, -1.0])
SHAPES = {
    "lr": (len(SLOTS), len(EXPERTS), len(STRENGTHS)),
    "leg": (len(ORDERINGS), DEGREES, len(SIGNS), len(STRENGTHS)),
    "hist": (len(ORDERINGS), len(KAPPAS)),
    "lag": (len(LAGGED), len(SIGNS), len(STRENGTHS)),
}
"""The bets of each block."""


def expert_gains(ratios: NDArray[Any], slots: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return (B, 3, 14, 13), given a(x) / p(x) of each expert (B, 14) and the slot classes of each token (B, 3)."""
    gains = np.log1p((ratios - 1)[:, :, None] * STRENGTHS)
    return gains[:, None] * slots[:, :, None, None]


def legendre_gains(where: Intervals) -> NDArray[np.float64]:
    """Return (B, 3, 4, 2, 13)."""
    means = legendre_means(where) * where.there[:, None]
    return np.log1p(means[..., None, None] * SIGNS[:, None] * STRENGTHS)


def histogram_gains(
    where: Intervals, filled: NDArray[Any], tokens: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (B, 3, 5), and how full the bins (3, 16) are now: each token is bet on with the counts of those before it.

    Args:
        where: B tokens lie.
        filled: (3, 16) how full they were.
        tokens: how many tokens they held.
    """
    shares, widths = overlaps(where), np.diff(EDGES, axis=-1)
    counts = filled + np.cumsum(shares, axis=0)
    past, total = counts - shares, tokens + np.arange(len(shares))
    kappas = KAPPAS[:, None]
    heights = (kappas * widths[:, None] + past[:, :, None]) / (kappas + total[:, None, None, None]) / widths[:, None]
    return np.log(np.sum(heights * shares[:, :, None], axis=-1)) * where.there[:, None], counts[-1]


def lag_gains(middles: NDArray[Any], first: NDArray[Any] | None) -> NDArray[np.float64]:
    """Return (B, 2, 2, 13), given where tokens lie (B, 3), from -1 to 1, and where the one before them lay (3,)."""
    which = [ORDERINGS.index(name) for name in LAGGED]
    before = np.zeros(len(ORDERINGS)) if first is None else first
    earlier = np.concatenate([before[None], middles[:-1]])
    return np.log1p((earlier * middles)[:, which, None, None] * SIGNS[:, None] * STRENGTHS)


def mean(logs: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (...) the logarithm of the weighted mean of wealth, given logs (..., the shape of the weights)."""
    flat = logs.reshape(*logs.shape[: logs.ndim - weights.ndim], -1)
    largest = flat.max(axis=-1, keepdims=True)
    wealth = flat - largest
    return np.log(np.exp(wealth, out=wealth) @ weights.reshape(-1)) + largest[..., 0]


def evenly(logs: NDArray[np.float64]) -> float:
    """Return the logarithm of the mean of wealth, given the logarithms of equal parts, of any shape."""
    return float(mean(logs, np.full(logs.shape, 1 / logs.size)))


def block(name: str, logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (...) the logarithm of the wealth of a block."""
    return mean(logs, _WEIGHTS[name])


def mixed(logs: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return (...) the logarithm of the whole wealth."""
    blocks = np.stack([block(name, logs[name]) for name in BLOCKS], axis=-1)
    return mean(blocks, np.array([*BLOCKS.values()]))


_OF_SLOTS = np.array([*SLOTS.values()])[:, None, None]
_WEIGHTS = {name: np.full(shape, 1 / np.prod(shape)) for name, shape in SHAPES.items()}
_WEIGHTS["lr"] = np.broadcast_to(_OF_SLOTS / np.prod(SHAPES["lr"][1:]), SHAPES["lr"])
