"""Tokens of probability 0 that honest rounding explains: at the edge of what a filter keeps, or level with the best.

In: the row that a law came from, the token, a text of the same model. Out: whether such a row, moved as far as this
machine moves it when it reads in other pieces, would have kept the token. It is asked only where the answer decides
between a proof of a fault and nothing, since it takes readings of its own. To bet nothing there is fair: a token that
the law does not have multiplies no bet, and those that it has come by its own proportions.
"""

import math

import numpy as np

from draftproof.arrays import array_namespace, beside
from draftproof.models.base import Model
from draftproof.types import Array, Text
from draftproof.warpers.base import RowKind
from draftproof.warpers.pipeline import Pipeline
from draftproof.witness.readings import readings
from draftproof.witness.rounding import FARTHEST, margin_rounding

__all__ = ["excused", "rounding_of"]

LEAST = 1e-5
"""Logits of float32 carry some 1e-6 of their size, which is up to 20, and show it in some texts only."""
READ = 64
"""So many tokens of a text are read at least, those of its prompt among them, to see how that rounds."""
WIDTHS = 4, 1, 2
"""So many are read at a time."""
HOST = np.empty(0)


def rounding_of(target: Model, text: Text) -> float:
    """Return how far two scores of a model move against each other if a text is read in other pieces.

    Numbers of few bits round seldom, and then by much: two of them move by a unit in the last place each at least,
    whether that text shows it or not. Exact tables do not round.
    """
    if target.row_kind == "laws":
        return 0.0
    whole = text[: target.context_limit]
    first = max(1, min(text.prompt_length, len(whole) - READ))
    read = readings(target, whole[:first], [*whole[first:], 0], WIDTHS)
    return max(LEAST, margin_rounding(read), FARTHEST * 2 * _last_place(read.once))


def _last_place(rows: Array) -> float:
    """Return the unit in the last place of the largest score, of as many bits as the scores have."""
    scores = np.asarray(beside(rows, HOST)).astype(np.float32)
    largest = float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0))
    used = int(np.bitwise_or.reduce(scores.view(np.uint32), axis=None)) & 0x7FFFFF
    unused = (used & -used).bit_length() - 1 if used else 23
    return 2.0 ** (math.frexp(largest)[1] - 1 - 23 + unused) if largest else 0.0


def excused(pipeline: Pipeline, row: Array, kind: RowKind, before: Text, token: int, rounding: float) -> bool:
    """Return whether some row within rounding keeps a token.

    Filters look at which tokens are ahead, and at what they hold. So the token is raised and those ahead of it are
    lowered; and, for a filter that prefers what is usual, the other way round.

    Args:
        pipeline: the settings.
        row: (V,) what the target returned.
        kind: what that is; a law is taken as exact.
        before: the text before the token.
        token: whose probability is 0.
        rounding: how far two scores may move against each other.
    """
    if kind == "laws" or rounding == 0:
        return False
    xp = array_namespace(row)
    scores = xp.astype(row, xp.float64)
    places = xp.arange(len(row), device=row.device)
    toward = xp.where(places == token, rounding / 2, 0.0) - xp.where(scores > scores[token], rounding / 2, 0.0)
    moved = xp.stack([scores + toward, scores - toward])
    return bool((pipeline.laws(moved, kind, [before, before])[:, token] > 0).any())
