"""Whether speculation pays for the laws at hand: what the room of economics says of them, gathered for one look.

In: a rule, two laws, costs in plain passes. Out: a `Prospect`, a frontier. Pure; what takes longer than a slider may
wait is remembered.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from draftproof.economics.predict import (
    Costs,
    best_length,
    break_even_acceptance,
    break_even_cost_ratio,
    break_even_frontier,
    largest_paying_cost,
    speedup,
    straight_curve,
)
from draftproof.economics.survival import acceptance, iid_survival, survival, tokens_per_pass
from draftproof.explorer.state import State
from draftproof.rules.token import expected_acceptance
from draftproof.types import Probs

__all__ = ["LONGEST", "Prospect", "costs_by_hand", "frontier", "prospect"]

LONGEST = 16
"""The longest block that is shown: the longest that is measured."""
STEPS = 40
"""Between the acceptances 0 and 1 for which the frontier is drawn."""


@dataclass(frozen=True)
class Prospect:
    """What speculation would gain or lose."""

    costs: Costs
    overlap: float
    """sum min(p, q)."""
    acceptance: float
    """The chance that the rule keeps a single drafted token."""
    speeds: tuple[float, ...]
    """The speed-up over plain decoding of K = 0, 1, .."""
    length: int
    """The best K; 0 if none pays."""
    tokens: float
    """Per pass, at the best K."""
    judged: int
    """The K of the two numbers that follow: the best one, or 1 if none pays."""
    break_even_cost: float
    """The draft cost up to which that K pays; below 0 if it does not even for nothing."""
    break_even_acceptance: float | None
    """The i.i.d. acceptance from which that K pays; None if not even 1 is enough."""
    paying_cost: float
    """The draft cost up to which some K pays."""
    paying_acceptance: float | None
    """The i.i.d. acceptance from which some K pays."""

    @property
    def speedup(self) -> float:
        """The speed-up at the best K, 1 if none pays."""
        return self.speeds[self.length]


def costs_by_hand(state: State) -> Costs:
    """Return the costs that are set on the page."""
    return Costs(state.draft_cost, straight_curve(state.row_cost, LONGEST + 1), state.overhead)


def prospect(rule: str, p: Probs, q: Probs, costs: Costs) -> Prospect:
    """Return what speculation would gain with a rule if every position had the laws p and q (V,).

    Args:
        rule: a chain rule, as shipped.
        p: the target's law.
        q: the draft's law.
        costs: with a curve of at most LONGEST + 1 rows.
    """
    return _prospect(rule, tuple(p.tolist()), tuple(q.tolist()), costs)


@lru_cache(maxsize=64)
def _prospect(rule: str, p_entries: tuple[float, ...], q_entries: tuple[float, ...], costs: Costs) -> Prospect:
    p, q = np.array(p_entries), np.array(q_entries)
    kept = _survival(rule, p_entries, q_entries)

    def survival_of(length: int) -> Sequence[float]:
        return kept[:length]

    length, _ = best_length(survival_of, costs)
    judged = length or 1
    return Prospect(
        costs=costs,
        overlap=float(expected_acceptance(p, q)),
        acceptance=float(acceptance(rule, p, q)),
        speeds=tuple(speedup(survival_of(k), costs) for k in range(costs.longest + 1)),
        length=length,
        tokens=float(tokens_per_pass(survival_of(length))),
        judged=judged,
        break_even_cost=break_even_cost_ratio(survival_of(judged), costs),
        break_even_acceptance=break_even_acceptance(judged, costs),
        paying_cost=largest_paying_cost(survival_of, costs),
        paying_acceptance=_paying_acceptance(costs),
    )


@lru_cache(maxsize=64)
def _paying_acceptance(costs: Costs) -> float | None:
    return break_even_frontier([costs.draft], costs)[0]


@lru_cache(maxsize=64)
def frontier(curve: tuple[float, ...], overhead: float) -> tuple[tuple[float, float], ...]:
    """Return points (draft cost, smallest i.i.d. acceptance with which some K pays), from a draft that is free on.

    There is none if nothing pays even then; the last is the draft cost from which nothing pays at any acceptance.
    """
    free = Costs(0.0, curve, overhead)
    lowest = break_even_frontier([free.draft], free)[0]
    if lowest is None:
        return ()
    every = [step / STEPS for step in range(STEPS + 1)]
    points = [(largest_paying_cost(partial(iid_survival, chance), free), chance) for chance in every if chance > lowest]
    return (free.draft, lowest), *points


@lru_cache(maxsize=256)
def _survival(rule: str, p: tuple[float, ...], q: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(float(share) for share in survival(rule, np.array(p), np.array(q), LONGEST))
