"""The same few contexts again and again: the only way to see a deviation whose direction nobody could have named.

In: the target's laws at some contexts, and the tokens that an engine emits there. Out: evidence that they do not come
from these laws, and a bound on how far its laws are from them, in total variation. Both are of these contexts alone,
and of the likeliest tokens one by one and all others together.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from draftproof.types import Probs
from draftproof.witness.dirichlet import log_evidence

__all__ = ["CELLS", "Revisits", "farthest"]

CELLS = 64
"""The likeliest tokens, one fewer, and the rest."""
THIRDS, STEPS = 60, 8
"""How long is searched: to 1e-10, and to the last bits."""
SLACK = 1e-9
"""Added to a bound that was searched for, as the search ends a little beside the top."""


@dataclass
class Revisits:
    """Counts so far. Each context has its own evidence; multiplied they are evidence too, as no token counts twice."""

    numbers: NDArray[np.int64]
    """(m, V) the cell of each token in each context; -1 if it cannot come there."""
    laws: NDArray[np.float64]
    """(m, cells) the target's law over cells."""
    counts: NDArray[np.int64]
    """(m, cells) how often each came."""
    highest: float = 0.0
    """The largest log-wealth at any look, in nats; there is one after each batch."""
    impossible: bool = False
    """Whether a token came that cannot."""

    @classmethod
    def of(cls, laws: Probs, cells: int = CELLS) -> Self:
        """Return no counts.

        Args:
            laws: (m, V) the target's, in main memory.
            cells: at least 2.
        """
        best = np.argsort(-laws, axis=-1, kind="stable")[:, : cells - 1]
        numbers = np.full(laws.shape, best.shape[-1])
        np.put_along_axis(numbers, best, np.arange(best.shape[-1])[None, :], axis=-1)
        alone = np.take_along_axis(laws, best, axis=-1)
        rest = np.where(numbers == best.shape[-1], laws, 0).sum(axis=-1, keepdims=True)
        cell_laws = np.concatenate([alone, rest], axis=-1)
        numbers[laws == 0] = -1
        return cls(
            numbers, cell_laws / cell_laws.sum(axis=-1, keepdims=True), np.zeros(cell_laws.shape, dtype=np.int64)
        )

    @property
    def log_wealth(self) -> float:
        """The natural logarithm of the wealth now; infinite once a token was impossible."""
        return math.inf if self.impossible else sum(self._evidence(i) for i in range(len(self.laws)))

    def add(self, contexts: NDArray[np.int64], tokens: NDArray[np.int64]) -> float:
        """Take in tokens (B,) that came at contexts (B,), by number; return the log-wealth after them."""
        cells = self.numbers[contexts, tokens]
        self.impossible |= bool((cells < 0).any())
        np.add.at(self.counts, (contexts[cells >= 0], cells[cells >= 0]), 1)
        self.highest = max(self.highest, self.log_wealth)
        return self.log_wealth

    def bound(self, delta: float) -> float:
        """Return how far, at most, the engine's laws over cells are from the target's, on average over the contexts.

        It holds at every look at once with probability 1 - delta, if at each context the engine always draws from the
        same law. The laws that are not ruled out are those against which the evidence is below m / delta.
        """
        return float(self.bounds(delta).mean())

    def bounds(self, delta: float) -> NDArray[np.float64]:
        """Return (m,) the same of each context; all of them hold at once."""
        return np.array([self._bound(i, delta / len(self.laws)) for i in range(len(self.laws))])

    def to_json(self) -> dict[str, Any]:
        """Return the state in lists and numbers; `from_json` makes the same of it."""
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Self:
        """Return the state that was saved."""
        numbers, laws, counts = (np.array(saved[name]) for name in ("numbers", "laws", "counts"))
        return cls(numbers, laws, counts, saved["highest"], saved["impossible"])

    def _evidence(self, i: int) -> float:
        return log_evidence(self.counts[i], self.laws[i]) if self.counts[i].any() else 0.0

    def _bound(self, i: int, delta: float) -> float:
        counts, law, total = self.counts[i], self.laws[i], int(self.counts[i].sum())
        if not total or self.impossible:
            return 1.0
        seen = counts > 0
        fit = float(counts[seen] @ np.log(counts[seen] / total / law[seen]))  # of the frequencies, against the law
        return farthest(counts / total, law, (fit - self._evidence(i) - math.log(delta)) / total)


def farthest(frequencies: NDArray[np.float64], law: NDArray[np.float64], budget: float) -> float:
    """Return how far from a law another can be, in total variation, that is near to some frequencies.

    The other law is farthest where it has more of some cells and less of the rest, each in proportion to the
    frequencies. The cells that it has more of are those which came oftenest for their probability; one of them in part,
    so that the distance is a concave function of their share.

    Args:
        frequencies: (n,) adding up to 1.
        law: (n,) adding up to 1.
        budget: the most relative entropy of the frequencies to the other law, in nats.
    """
    came = np.flatnonzero(frequencies)
    order = came[np.argsort(-frequencies[came] / law[came], kind="stable")]
    shares, masses = (np.concatenate([[0.0], np.cumsum(of[order])]) for of in (frequencies, law))

    def distance(share: float) -> float:
        return _largest(share, budget) - float(np.interp(share, shares, masses))

    return min(1.0, _top(distance) + SLACK)


def _largest(share: float, budget: float) -> float:
    """Return the largest chance whose relative entropy from a share is within the budget, or a little more.

    Newton's steps come down to it from above, as the entropy is convex: no number of them is too few.
    """
    if share >= 1:
        return 1.0
    surely = share * math.log(share) if share > 0 else 0.0  # two limits: one by Pinsker, one below 1
    chance = min(share + math.sqrt(budget / 2), 1 - (1 - share) * math.exp((surely - budget) / (1 - share)))
    for _ in range(STEPS):
        if not share < chance < 1:
            break
        entropy = surely - (share * math.log(chance) if share > 0 else 0.0)
        entropy += (1 - share) * math.log((1 - share) / (1 - chance))
        chance -= max(entropy - budget, 0.0) * chance * (1 - chance) / (chance - share)
    return chance


def _top(concave: Callable[[float], float]) -> float:
    """Return the largest value of a concave function on [0, 1]."""
    low, high = 0.0, 1.0
    for _ in range(THIRDS):
        third = (high - low) / 3
        left, right = low + third, high - third
        low, high = (left, high) if concave(left) < concave(right) else (low, right)
    return concave((low + high) / 2)
