"""What is drawn of a plan, on paper or in a terminal. In: plans, samples. Out: charts as numbers. It draws nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from draftproof.economics.check import Cell
from draftproof.economics.forecast import Forecaster, Setting
from draftproof.economics.pair import LONGEST
from draftproof.economics.plan import ALL
from draftproof.economics.predict import Costs, speedup
from draftproof.economics.samples import Floats, Samples
from draftproof.economics.summary import kept_per_position, stage_seconds, target_curve
from draftproof.economics.survival import iid_survival
from draftproof.records import Candidate, Plan

__all__ = ["Chart", "Picture", "Point", "picture_by_hand", "picture_measured"]

SPEED, KEPT = "speed-up by draft length", "kept at each position"
SHOWN = 16
"""Draft lengths that a chart has, more only if the best one is longer."""


@dataclass(frozen=True)
class Point:
    """A value at a whole number, with its interval and a measured value where there are any."""

    x: int
    value: float
    interval: tuple[float, float] | None = None
    measured: float | None = None


@dataclass(frozen=True)
class Chart:
    """Points under a title, and of what they are; `best` is the x that was chosen."""

    title: str
    subject: str
    points: tuple[Point, ...]
    best: int | None = None


@dataclass(frozen=True)
class Picture:
    """Everything that is drawn of a plan.

    Args:
        speed: speed-up by draft length, a chart for each workload.
        kept: the share of passes that keep the first k tokens or more, a chart for each workload.
        curve: T(n) / T(1) by rows.
        costs: for the frontier.
        here: (name, draft cost, acceptance) of what was measured or given.
    """

    speed: tuple[Chart, ...]
    kept: tuple[Chart, ...]
    curve: Chart
    costs: Costs
    here: tuple[tuple[str, float, float], ...]


def picture_by_hand(plan: Plan, costs: Sequence[Costs]) -> Picture:
    """Return the picture of a plan from numbers: speed of each candidate, in the order of the costs given."""
    order = sorted(plan.candidates, key=lambda one: one.drafter)
    speed, kept = list[Chart](), list[Chart]()
    for one, its in zip(order, costs, strict=True):
        lengths = range(1, min(its.longest, max(SHOWN, one.num_speculative_tokens + 2)) + 1)
        found = [Point(k, speedup(iid_survival(one.acceptance, k), its)) for k in lengths]
        speed.append(Chart(SPEED, f"{one.drafter}, {one.rule}", tuple(found), one.num_speculative_tokens))
        shares = [Point(k, share) for k, share in enumerate(iid_survival(one.acceptance, len(lengths)), 1)]
        kept.append(Chart(KEPT, f"{one.drafter}, {one.rule}", tuple(shares)))
    curve = costs[0].curve or (1.0,) * (SHOWN + 1)
    here = tuple((one.drafter, one.cost_ratio, one.acceptance) for one in order)
    return Picture(
        tuple(speed), tuple(kept), _curve([Point(n, cost) for n, cost in enumerate(curve, 1)]), costs[0], here
    )


def picture_measured(plans: Sequence[Plan], samples: Samples, cells: Sequence[Cell]) -> Picture:
    """Return the picture of the plans of a measurement, with the points that `--check` measured."""
    forecaster = Forecaster(samples)
    speed, kept, here = list[Chart](), list[Chart](), list[tuple[str, float, float]]()
    for plan in plans:
        best, single = plan.candidates[0], plan.workload != ALL
        speed.append(_speed(forecaster, plan, [cell for cell in cells if cell.workload == plan.workload]))
        if single:
            shares = enumerate(kept_per_position(samples, best.drafter, best.rule, plan.workload), 1)
            points = tuple(Point(k, share, (low, high)) for k, (share, low, high) in shares)
            kept.append(Chart(KEPT, f"{plan.workload}, {best.drafter}, {best.rule}", points))
            here.append((plan.workload, best.cost_ratio, best.acceptance))
    rows = target_curve(samples)
    points = [Point(n, float(rows[:, n - 1].mean() / rows[:, 0].mean()), _spread(rows[:, n - 1] / rows[:, 0]))
              for n in range(1, LONGEST + 2)]  # fmt: skip
    return Picture(
        tuple(speed), tuple(kept), _curve(points), _costs(samples, plans[0].candidates[0], points), tuple(here)
    )


def _speed(forecaster: Forecaster, plan: Plan, cells: Sequence[Cell]) -> Chart:
    best = plan.candidates[0]
    workloads = [] if plan.workload == ALL else [plan.workload]
    seen = {cell.setting: cell.measured for cell in cells}
    points: list[Point] = []
    for k in range(1, LONGEST + 1):
        setting = Setting(best.drafter, best.rule, k)
        said = forecaster.forecast(setting, workloads)
        points.append(Point(k, said.speedup, said.interval, seen.get(setting)))
    subject = f"{plan.workload}, {best.drafter}, {best.rule}"
    return Chart(SPEED, subject, tuple(points), best.num_speculative_tokens)


def _curve(points: Sequence[Point]) -> Chart:
    return Chart("target pass over n rows", "in passes over one row", tuple(points))


def _spread(values: Floats) -> tuple[float, float]:
    return float(min(values)), float(max(values))


def _costs(samples: Samples, best: Candidate, curve: Sequence[Point]) -> Costs:
    """Return the costs of a measurement as the frontier needs them: the overhead is that of the best length."""
    length = best.num_speculative_tokens
    others = sum(
        float(stage_seconds(samples, stage, best.drafter, best.rule)[:, length].mean()) for stage in ("rule", "rest")
    )
    return Costs(
        best.cost_ratio, (1.0, *(point.value for point in curve[1:])), others / float(samples.plain.seconds.mean())
    )
