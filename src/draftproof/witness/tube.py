"""Bets that stay fair although the engine's numbers are not ours: its law may lie anywhere in a tube around our law.

In: payoffs of a bet, laws, how far each log-probability may be off. Out: the most such a payoff can be worth on
average, which the bet has to pay for at every token.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from draftproof.types import Probs

__all__ = ["most_expected", "most_expected_roughly"]


def most_expected_roughly(payoffs: NDArray[Any], target: Probs, eta: NDArray[Any] | float) -> NDArray[np.float64]:
    """Return (B,) no less than `most_expected`, without sorting: as if every gain could grow and every loss shrink.

    Args:
        payoffs: see `most_expected`.
        target: see there.
        eta: see there.
    """
    weighed = target * payoffs
    return np.where(weighed > 0, weighed * np.exp(eta), weighed * np.exp(-eta)).sum(axis=-1)


def most_expected(payoffs: NDArray[Any], target: Probs, eta: NDArray[Any] | float) -> NDArray[np.float64]:
    """Return (B,) the largest mean of payoffs (B, V) over all laws in the tube.

    These are the laws with |log p'(v) - log p(v)| <= eta(v). The largest mean moves as much mass as the tube allows to
    the best payoffs, from the best down. A bet of strength e becomes (1 + e payoff) / (1 + e times this).

    Args:
        payoffs: whose mean is 0 under the target's law.
        target: (B, V) the target's laws.
        eta: one number, or (B, V).
    """
    least, room = target * np.exp(-eta), target * (np.exp(eta) - np.exp(-eta))
    order = np.argsort(-payoffs, axis=-1, kind="stable")
    falling = np.take_along_axis(room, order, axis=-1)
    spare = 1 - least.sum(axis=-1, keepdims=True)
    given = np.clip(spare - (np.cumsum(falling, axis=-1) - falling), 0, falling)
    return (least * payoffs).sum(axis=-1) + (given * np.take_along_axis(payoffs, order, axis=-1)).sum(axis=-1)
