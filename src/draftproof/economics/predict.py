"""From acceptance and costs to speed: how much faster, which draft length, and where the gain ends.

In: survival, costs in units of one plain pass. Out: numbers. Pure; it measures nothing.
A pass that drafts K tokens costs K draft steps, a target pass over the rows of the block, and what else it takes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from draftproof.economics.survival import iid_survival, tokens_per_pass
from draftproof.errors import UsageError

__all__ = [
    "LONGEST",
    "Costs",
    "best_length",
    "break_even_acceptance",
    "break_even_cost_ratio",
    "break_even_frontier",
    "largest_paying_cost",
    "speedup",
    "speedup_of_text",
    "straight_curve",
]

LONGEST = 256
"""The longest block that is considered where the costs allow any."""
FRONTIER = 32
"""The longest block that is tried where any length may be the one that pays."""
HALVINGS = 60
"""Of the interval in which a break-even lies: its width falls below the rounding of a float."""

Survival = Callable[[int], Sequence[float]]
"""Maps K to the survival of its tokens."""


@dataclass(frozen=True)
class Costs:
    """What things cost, in units of a plain pass: one of the target that emits one token for every text of a batch.

    Args:
        draft: c, one draft step; 0 or more.
        curve: T(n) / T(1), a target pass over n = 1, 2, .. rows, beginning with 1; without it every n costs the same.
        overhead: what each pass with a draft costs besides, such as the rule; 0 or more.
        replay: for targets that cannot rewind: reading an accepted token again, in passes where one was rejected.
        batch: texts decoded together; a pass has batch * (K + 1) rows.

    Raises:
        UsageError: if a number is out of range; it names the setting.
    """

    draft: float
    curve: tuple[float, ...] = ()
    overhead: float = 0.0
    replay: float = 0.0
    batch: int = 1

    def __post_init__(self) -> None:
        for setting, value in (("cost_ratio", self.draft), ("overhead", self.overhead), ("replay", self.replay)):
            if not 0 <= value < float("inf"):
                raise UsageError(f"got {value}; allowed are finite numbers from 0 up", setting)
        if self.batch < 1:
            raise UsageError(f"got {self.batch}; allowed are whole numbers from 1 up", "batch_size")
        if self.curve:
            _check_curve(self.curve, self.batch)

    @property
    def longest(self) -> int:
        """The longest block whose rows are on the curve."""
        return len(self.curve) // self.batch - 1 if self.curve else LONGEST

    def target(self, length: int) -> float:
        """Return the cost of a target pass over the rows of a block of `length` drafted tokens, of the whole batch."""
        if not self.curve:
            return 1.0
        rows = self.batch * (length + 1)
        if rows > len(self.curve):
            raise UsageError(f"has {len(self.curve)} entries; {rows} rows are needed", "target_pass_curve")
        return self.curve[rows - 1] / self.curve[self.batch - 1]

    def of_pass(self, survival: Sequence[float]) -> float:
        """Return the cost of a pass in which the drafted tokens have this survival."""
        length = len(survival)
        if length == 0:
            return 1.0
        again = tokens_per_pass(survival) - survival[-1] * (length + 1)
        return length * self.draft + self.target(length) + self.overhead + self.replay * again


def _check_curve(curve: tuple[float, ...], batch: int) -> None:
    setting = "target_pass_curve"
    if not all(0 < cost < float("inf") for cost in curve):
        raise UsageError(f"got {_listed(curve)}; allowed are finite numbers above 0", setting)
    if abs(curve[0] - 1) > 1e-9:
        raise UsageError(f"starts with {curve[0]:g}; it must start with 1, the cost of n = 1 row", setting)
    if len(curve) < 2 * batch:
        raise UsageError(f"got {len(curve)} entries; at least {2 * batch} are needed, for one drafted token", setting)


def _listed(curve: tuple[float, ...]) -> str:
    return ",".join(f"{cost:g}" for cost in curve)


def straight_curve(row_cost: float, rows: int) -> tuple[float, ...]:
    """Return T(n) / T(1) for n = 1 .. rows, if each row after the first costs `row_cost` plain passes more.

    >>> straight_curve(0.25, 4)
    (1.0, 1.25, 1.5, 1.75)
    """
    return tuple(1.0 + row_cost * more for more in range(rows))


def speedup(survival: Sequence[float], costs: Costs) -> float:
    """Return how many times as fast as plain decoding it is: tokens per pass / cost of a pass.

    With i.i.d. acceptance and a flat curve it is (1 - a^(K + 1)) / ((1 - a) (K c + 1)). Source: `leviathan2023`
    theorem 3.8.
    """
    return tokens_per_pass(survival) / costs.of_pass(survival)


def speedup_of_text(tokens: int, speedup: float, target_prefill: float, draft_prefill: float) -> float:
    """Return the speed-up of a whole text, reading the prompt included, all in plain passes; the draft reads it too."""
    return (target_prefill + tokens) / (target_prefill + draft_prefill + tokens / speedup)


def best_length(survival: Survival, costs: Costs, shortest: int = 0) -> tuple[int, float]:
    """Return the K from 0 (do not speculate), or `shortest`, that is fastest, the smallest of equals, and its speed."""
    speeds = {length: speedup(survival(length), costs) for length in range(shortest, costs.longest + 1)}
    best = max(speeds, key=speeds.__getitem__)
    return best, speeds[best]


def break_even_acceptance(length: int, costs: Costs) -> float | None:
    """Return the i.i.d. acceptance from which K tokens pay; None if they do not even if all are accepted."""
    if speedup(iid_survival(1.0, length), costs) <= 1:
        return None
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if speedup(iid_survival(middle, length), costs) >= 1 else (middle, high)
    return high


def break_even_cost_ratio(survival: Sequence[float], costs: Costs) -> float:
    """Return the draft cost c up to which this pays; below 0 if it does not even for nothing."""
    free = Costs(0.0, costs.curve, costs.overhead, costs.replay, costs.batch).of_pass(survival)
    return (tokens_per_pass(survival) - free) / len(survival)


def break_even_frontier(cost_ratios: Sequence[float], costs: Costs) -> list[float | None]:
    """Return for each draft cost the smallest acceptance with which some length pays; None where none does.

    On a flat curve this is the draft cost itself. Source: `leviathan2023` corollary 3.9.
    """
    frontier: list[float | None] = []
    for ratio in cost_ratios:
        there = Costs(ratio, costs.curve, costs.overhead, costs.replay, costs.batch)
        points = (break_even_acceptance(length, there) for length in range(1, min(there.longest, FRONTIER) + 1))
        frontier.append(min((point for point in points if point is not None), default=None))
    return frontier


def largest_paying_cost(survival: Survival, costs: Costs) -> float:
    """Return the draft cost c up to which some length pays; below 0 if none does even for nothing.

    Over i.i.d. acceptances it is the inverse of `break_even_frontier`, without a search.
    """
    lengths = range(1, min(costs.longest, FRONTIER) + 1)
    return max(break_even_cost_ratio(survival(length), costs) for length in lengths)
