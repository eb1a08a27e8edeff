"""Where a fault sits, once one is known: in the accept test or in the residual. A diagnosis, never a verdict.

In: passes of an instrumented engine, whose drafts and flags can be seen. Out: evidence against its accept test and its
replacements, and the first that no random number explains. An engine may break both and be lossless: one that draws a
token of the target and accepts the draft if it is the same has no accept test at all.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from draftproof.types import Probs
from draftproof.witness.mixture import STRENGTHS, evenly

__all__ = ["Localisers"]

LEAST = 1e-300
"""Keeps a draft that gives no mass where the residual has some from dividing by it: that bet is lost."""


@dataclass
class Localisers:
    """Evidence so far, from one tested draft after another. Log-wealth is in nats."""

    accepting: NDArray[np.float64]
    """(2, 13) of bets that drafts are accepted more often than they should be, or less."""
    replacing: NDArray[np.float64]
    """(2, 13) of bets that replacements are like the target's law, or the draft's, among the tokens of the residual."""
    tested: int = 0
    first_refused: int | None = None
    """The first draft, counted from 0, that was rejected although the target gives it no less than the draft does."""
    first_replaced: int | None = None
    """The first replacement, counted as drafts are, to which the target gives no more than the draft does."""

    @classmethod
    def begin(cls) -> "Localisers":
        """Return no evidence."""
        shape = (2, len(STRENGTHS))
        return cls(np.zeros(shape), np.zeros(shape))

    def add(self, target: Probs, draft: Probs, drafted: int, replacement: int | None) -> None:
        """Take in a draft that was tested.

        Args:
            target: (V,) the target's law there.
            draft: (V,) the law that the draft was drawn from.
            drafted: the draft.
            replacement: the token in its place; None if it was accepted.
        """
        chance = min(1.0, float(target[drafted] / draft[drafted]))
        off = float(replacement is None) - chance
        self.accepting = self.accepting + np.log1p(np.array([off, -off])[:, None] * STRENGTHS)
        if replacement is not None:
            if chance >= 1 and self.first_refused is None:
                self.first_refused = self.tested
            self._replaced(target, draft, replacement)
        self.tested += 1

    def log_wealth(self) -> tuple[float, float]:
        """Return that against the accept test, and that against the replacements."""
        return evenly(self.accepting), evenly(self.replacing)

    def _replaced(self, target: Probs, draft: Probs, token: int) -> None:
        residual = np.maximum(target - draft, 0)
        possible = residual > 0
        if not possible[token]:  # a proof by itself; bets go on with what could have happened
            self.first_replaced = self.tested if self.first_replaced is None else self.first_replaced
            return
        chance = residual[token] / residual.sum()
        shares = [law[token] / max(law[possible].sum(), LEAST) for law in (target, draft)]
        ratios = np.array(shares) / chance - 1
        self.replacing = self.replacing + np.log1p(ratios[:, None] * STRENGTHS)
