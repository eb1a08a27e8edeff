"""How passes grow with the text before them. In: timed passes. Out: seconds for each further token, or none.

A slope moves every prediction, so it must never be noise: passes of a slow model are few, on a busy machine one of them
takes twice as long, and what looks like a slope then can predict passes that take no time or less.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from draftproof.economics.rehearsal import TimedPass
from draftproof.economics.samples import Floats

__all__ = ["slope"]

FEWEST_CONTEXTS = 4.0
"""Tokens of standard deviation that contexts need for a slope."""
SEEN = 10.0
"""The F statistic from which a slope is there: of normal noise, one measurement in twenty thousand reaches it."""
SUBSETS = ([0], [1], [0, 1])


def slope(passes: Sequence[TimedPass]) -> tuple[float, float]:
    """Return a and b of seconds = (what is usual for K) + (a + b K) (context - its mean), by least squares.

    Outliers, the slowest and the fastest twentieth of each length, are pulled in. Both are 0 where contexts hardly
    differ or the noise is as large. More text never costs less, so none is negative; and a pass without any text would
    take some time too, so neither explains more than all that passes take.
    """
    groups = list(_by_length(passes))
    values = np.concatenate([seconds - seconds.mean() for _, _, seconds in groups])
    matrix = np.concatenate([(texts - texts.mean())[:, None] * [1.0, float(drafted)] for drafted, texts, _ in groups])
    free = len(values) - len(groups) - matrix.shape[1]
    if np.std(matrix[:, 0]) < FEWEST_CONTEXTS or free < 1:
        return 0.0, 0.0
    found, left = _least_squares(matrix, values)
    explained = float(values @ values) - left
    if explained * free < SEEN * matrix.shape[1] * left or not found.any():
        return 0.0, 0.0
    shares = [found @ [1.0, float(drafted)] * texts.mean() / seconds.mean() for drafted, texts, seconds in groups]
    a, b = found / max(1.0, *shares)
    return float(a), float(b)


def _by_length(passes: Sequence[TimedPass]) -> Iterator[tuple[int, Floats, Floats]]:
    """Yield each draft length with the contexts and the seconds of its passes."""
    for drafted in sorted({done.drafted for done in passes}):
        alike = [done for done in passes if done.drafted == drafted]
        seconds = np.array([sum(done.seconds) for done in alike])
        yield (
            drafted,
            np.array([float(done.context) for done in alike]),
            np.clip(seconds, *np.quantile(seconds, [0.05, 0.95])),
        )


def _least_squares(matrix: Floats, values: Floats) -> tuple[Floats, float]:
    """Return what is fitted best without a negative number, and the squares that are left."""
    best, least = np.zeros(matrix.shape[1]), float(values @ values)
    for chosen in SUBSETS:
        found = np.zeros(matrix.shape[1])
        found[chosen] = np.linalg.lstsq(matrix[:, chosen], values, rcond=None)[0]
        left = float(np.square(values - matrix @ found).sum())
        if (found >= 0).all() and left < least:
            best, least = found, left
    return best, least
