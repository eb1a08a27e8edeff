"""From speeds to a decision: what drafts, which rule, how many tokens; or not to, and what would have to change.

In: samples of a measurement, or acceptance and costs by hand. Out: a `Plan` for each workload. It measures nothing.
"""

from collections.abc import Sequence
from dataclasses import replace

from draftproof.economics.costs import pass_seconds, plain_seconds, usual_context
from draftproof.economics.forecast import Forecast, Forecaster, Setting
from draftproof.economics.pair import LONGEST
from draftproof.economics.predict import (
    Costs,
    best_length,
    break_even_acceptance,
    break_even_cost_ratio,
    break_even_frontier,
)
from draftproof.economics.samples import Samples
from draftproof.economics.summary import stage_seconds
from draftproof.economics.survival import iid_survival, tokens_per_pass
from draftproof.errors import UsageError
from draftproof.records import Candidate, Plan

__all__ = ["ALL", "BY_HAND", "plan_by_hand", "plans_measured"]

ALL = "all"
"""Names all workloads together, for who must choose one setting for everything."""
BY_HAND = "by hand"
"""Names the workload of which only numbers are known."""


def plan_by_hand(drafts: Sequence[tuple[float, Costs]], rule: str) -> Plan:
    """Return the plan for drafters of which only acceptance and costs are known.

    Args:
        drafts: for each its i.i.d. acceptance, the chance that the rule keeps a drafted token, and its costs.
        rule: token, block, match or coupled. The block rule keeps at least what the token rule does, and less than
            1 + K a; which, the acceptance alone does not say: the speed-up is the lower end of the interval.
    """
    found = [(_candidate_by_hand(f"draft {i}", *draft, rule), draft) for i, draft in enumerate(drafts, 1)]
    found.sort(key=lambda pair: -pair[0].speedup)
    best, (_, costs) = found[0]
    plan = _decided(BY_HAND, [candidate for candidate, _ in found])
    notes = [plan.reason]
    if rule == "block":
        notes.append("at least: how much more the block rule keeps than the token rule, an acceptance does not tell")
    if plan.decision == "speculate" and best.num_speculative_tokens == costs.longest:
        notes.append(f"{costs.longest} is the longest considered, a longer one may be faster")
    return replace(plan, reason="; ".join(notes))


def plans_measured(samples: Samples, rule: str | None = None, drafters: Sequence[str] = ()) -> list[Plan]:
    """Return the plan for all workloads of a measurement together, and then for each.

    Args:
        samples: what was measured.
        rule: only this one.
        drafters: only these; all if none is named.

    Raises:
        UsageError: if that rule or one of the drafters was not measured.
    """
    chosen = {name: rules for name, rules in samples.passes.items() if not drafters or name in drafters}
    measured = {name: [one for one in rules if rule in {None, one}] for name, rules in chosen.items()}
    if missing := [name for name in drafters if name not in samples.passes]:
        raise UsageError(f"got {missing[0]!r}; measured were {', '.join(samples.passes)}", "drafter")
    if not any(measured.values()):
        every = dict.fromkeys(one for rules in samples.passes.values() for one in rules)
        raise UsageError(f"got {rule!r}; measured were {', '.join(every)}", "rule")
    forecaster = Forecaster(samples)
    names = list(samples.texts)
    classes = [(ALL, names)] * (len(names) > 1) + [(name, [name]) for name in names]
    plans: list[Plan] = []
    for name, workloads in classes:
        candidates = [
            _candidate_measured(forecaster, drafter, one, workloads)
            for drafter, rules in measured.items()
            for one in rules
        ]
        plans.append(_decided(name, sorted(candidates, key=lambda candidate: -candidate.speedup)))
    return [_with_losers(plans[0], forecaster), *plans[1:]]


def _with_losers(plan: Plan, forecaster: Forecaster) -> Plan:
    """Return a plan for several workloads that names those on which its setting loses."""
    if plan.drafter is None or plan.rule is None or plan.workload != ALL:
        return plan
    setting = Setting(plan.drafter, plan.rule, plan.num_speculative_tokens)
    said = {name: forecaster.forecast(setting, [name]).speedup for name in forecaster.samples.texts}
    losers = [f"{name} ({speed:.2f}x)" for name, speed in said.items() if speed < 1]
    return replace(plan, reason=f"{plan.reason}; it loses on {', '.join(losers)}") if losers else plan


def _candidate_by_hand(name: str, acceptance: float, costs: Costs, rule: str) -> Candidate:
    def survival(length: int) -> list[float]:
        return iid_survival(acceptance, length)

    length, speed = best_length(survival, costs, shortest=1)
    kept = survival(length)
    most = (1 + length * acceptance) / costs.of_pass(kept) if rule == "block" else speed
    return Candidate(
        name,
        rule,
        length,
        speed,
        (speed, most),
        tokens_per_pass(kept),
        acceptance,
        costs.draft,
        break_even_frontier([costs.draft], costs)[0],
        break_even_cost_ratio(kept, costs),
    )


def _candidate_measured(forecaster: Forecaster, drafter: str, rule: str, workloads: Sequence[str]) -> Candidate:
    samples = forecaster.samples
    found = [forecaster.forecast(Setting(drafter, rule, length), workloads) for length in range(1, LONGEST + 1)]
    best: Forecast = max(found, key=lambda one: one.speedup)
    length, usual = best.setting.length, usual_context(samples, workloads)
    plain = float(plain_seconds(samples, usual).mean())
    costs = pass_seconds(samples, drafter, rule, usual).mean(axis=0) / plain
    draft = float(stage_seconds(samples, "draft", drafter, rule)[:, length].mean()) / length / plain
    enough = (break_even_acceptance(k, Costs(0, overhead=max(costs[k] - 1, 0.0))) for k in range(1, LONGEST + 1))
    return Candidate(
        drafter,
        rule,
        length,
        best.speedup,
        best.interval,
        best.tokens_per_pass,
        best.acceptance,
        draft,
        min((some for some in enough if some is not None), default=None),
        (best.tokens_per_pass - (float(costs[length]) - length * draft)) / length,
    )


def _decided(workload: str, candidates: Sequence[Candidate]) -> Plan:
    """Return the plan that follows from candidates, the best first."""
    best = candidates[0]
    if best.interval[0] > 1:
        cost = best.tokens_per_pass / best.speedup
        reason = f"{best.tokens_per_pass:.2f} tokens a pass, which costs {cost:.2f} plain ones"
        choice = best.drafter, best.rule, best.num_speculative_tokens, best.speedup, best.interval
        return Plan(workload, "speculate", *choice, reason, tuple(candidates))
    if best.speedup > 1:
        reason = f"{_reached(best)}, but its interval begins at {best.interval[0]:.2f}: that may be no gain at all"
    else:
        reason = f"{_reached(best)}; {_what_would_have_to_change(best)}"
    return Plan(workload, "do not speculate", None, None, 0, 1.0, (1.0, 1.0), reason, tuple(candidates))


def _reached(best: Candidate) -> str:
    named = "" if best.drafter.startswith("draft ") else f"{best.drafter}, "
    setting = f"{named}{best.rule}, K = {best.num_speculative_tokens}"
    return f"the best setting ({setting}) is {best.speedup:.2f}x plain decoding"


def _what_would_have_to_change(best: Candidate) -> str:
    cheaper, surer = best.break_even_cost_ratio, best.break_even_acceptance
    draft = f"a draft step below {cheaper:.3f} plain passes (now {best.cost_ratio:.3f})"
    acceptance = f"an acceptance above {surer or 1:.3f} (now {best.acceptance:.3f})"
    if surer is not None and surer <= best.acceptance:
        return f"{acceptance} would do if drafts came evenly, but many passes have none, or err at the first token"
    if cheaper <= 0 and surer is None:
        return (
            "not even a draft that costs nothing, or one that is always accepted, would pay: the passes cost too much"
        )
    if cheaper <= 0:
        return f"a cheaper draft would not help; {acceptance} would"
    return f"it would pay with {draft}" + ("" if surer is None else f" or {acceptance}")
