"""Two arms of an engine that shows nothing but its tokens: a bet, pair by pair, that they do not write alike.

In: completions of the same prompts, one of each arm. Out: wealth. If both arms draw from one law, each pair might as
well have come the other way round, so no bet on a difference gains on average, whatever it was learned from. Nothing is
said of which law that is; and it takes some hundred times as many tokens as where the target's laws are known.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from draftproof.witness.mixture import evenly

__all__ = ["FEATURES", "TwoSample", "counted"]

FEATURES = ((1, 16), (1, 64), (1, 256), (2, 64), (2, 256), (2, 1024))
"""(tokens in a row, bins) of each bet; bins are a power of 2."""
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio, made odd: products with it spread over the upper bits."""
DEVIATIONS = 3
"""A difference of so many standard deviations counts as 1; a larger one too."""
STRONGEST = 0.5
STEP = 2 / (2 - math.log(3))
"""Of an online Newton step on a payoff from -1 to 1, for strengths up to 1/2."""


def counted(tokens: Sequence[int], row: int, bins: int) -> NDArray[np.float64]:
    """Return (bins,) how many of the runs of `row` tokens fall into each bin."""
    hashed = np.zeros(max(0, len(tokens) - row + 1), dtype=np.uint64)
    given = np.array(tokens, dtype=np.uint64)
    for i in range(row):
        hashed = (hashed ^ (given[i : len(hashed) + i] + np.uint64(1))) * MULTIPLIER  # modulo 2^64
    places = hashed >> np.uint64(64 - (bins.bit_length() - 1))
    return np.bincount(places.astype(np.int64), minlength=bins).astype(np.float64)


@dataclass
class _Bet:
    """One bet: that the next difference points where those before did."""

    row: int
    bins: int
    direction: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """(bins,) the sum of the differences so far."""
    pairs: int = 0
    squares: float = 0.0
    """The sum of the squares of how far each difference went that way."""
    strength: float = 0.0
    curvature: float = 1.0
    log: float = 0.0

    def add(self, difference: NDArray[np.float64]) -> None:
        length = float(np.linalg.norm(self.direction)) if self.pairs else 0.0
        along = float(self.direction @ difference) / length if length > 0 else 0.0
        if self.squares > 0:
            deviation = math.sqrt(self.squares / (self.pairs - 1))  # none of the first pair: there was no direction
            payoff = min(1.0, max(-1.0, along / (DEVIATIONS * deviation)))
            self.log += math.log1p(self.strength * payoff)
            slope = payoff / (1 + self.strength * payoff)
            self.curvature += slope**2
            self.strength = min(STRONGEST, max(0.0, self.strength + STEP * slope / self.curvature))
        self.squares += along**2
        self.direction = self.direction + difference if self.pairs else difference
        self.pairs += 1


@dataclass
class TwoSample:
    """The bets so far, with equal parts of the wealth. Wealth of several shards may be multiplied or averaged."""

    bets: list[_Bet] = field(default_factory=lambda: [_Bet(*feature) for feature in FEATURES])
    highest: float = 0.0
    """The largest log-wealth after any pair so far, in nats."""

    @property
    def log_wealth(self) -> float:
        """The natural logarithm of the wealth now."""
        return evenly(np.array([bet.log for bet in self.bets]))

    def add(self, on: Sequence[int], off: Sequence[int], before: Sequence[int] = ()) -> float:
        """Take in a pair; return the log-wealth after it.

        Args:
            on: the completion of one arm.
            off: that of the other, asked for in the same way; both drew with fresh random numbers.
            before: the end of the prompt, of which the last token makes the first pair with theirs.
        """
        for bet in self.bets:
            start = list(before[len(before) - min(bet.row - 1, len(before)) :])
            one, other = (counted([*start, *tokens], bet.row, bet.bins) for tokens in (on, off))
            bet.add(one - other)
        self.highest = max(self.highest, self.log_wealth)
        return self.log_wealth

    def to_json(self) -> dict[str, Any]:
        """Return the state in lists and numbers; `from_json` makes the same of it."""
        return {
            "highest": self.highest,
            "bets": [vars(bet) | {"direction": bet.direction.tolist()} for bet in self.bets],
        }

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Self:
        """Return the state that was saved."""
        bets = [_Bet(**bet | {"direction": np.array(bet["direction"])}) for bet in saved["bets"]]
        return cls(bets, saved["highest"])
