"""`draftproof plan`: which drafter, rule and draft length, how much faster, or that speculation does not pay here."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from draftproof.cli import options
from draftproof.cli.pairs import Choice, settings_of
from draftproof.economics.flags import Command, commands
from draftproof.economics.picture import Picture, picture_by_hand, picture_measured
from draftproof.economics.plan import plan_by_hand, plans_measured
from draftproof.economics.plots import check_path, draw
from draftproof.economics.predict import Costs
from draftproof.economics.store import cells_of, find, fingerprints, folder, read, samples_of, stale
from draftproof.economics.work import Work, work_of
from draftproof.engine.setup import Options
from draftproof.errors import UsageError
from draftproof.records import Measurement, Plan
from draftproof.rules.catalogue import CHAIN_RULES

__all__ = ["plan"]

DEFAULT = Options()
SETTINGS = ("target", "temperature", "top_k", "top_p", "chat")
BY_HAND, MEASURED = ("target_pass_curve", "overhead", "batch_size"), ("measurement", "drafter", *SETTINGS)
"""Options that only one way of planning takes."""
PLACEHOLDER = "DRAFT"
"""Stands for the draft model where none was named."""


@dataclass(frozen=True)
class Planned:
    """Everything that is shown: plans, the first for everything, and what they rest on."""

    plans: Sequence[Plan]
    picture: Picture
    commands: Sequence[Command]
    work: Work | None = None
    measurement: str | None = None
    stale: Sequence[str] = ()


def plan(
    context: typer.Context,
    acceptance: options.Acceptances = None,
    cost_ratio: options.CostRatios = None,
    rule: options.OneRule = None,
    target_pass_curve: options.Curve = None,
    overhead: options.Overhead = 0.0,
    batch_size: options.BatchSize = 1,
    measurement: options.MeasurementFile = None,
    target: options.Target = DEFAULT.target,
    drafter: options.Drafters = None,
    temperature: options.Temperature = DEFAULT.temperature,
    top_k: options.TopK = DEFAULT.top_k,
    top_p: options.TopP = DEFAULT.top_p,
    chat: options.Chat = False,
    plot: options.Plot = None,
    as_json: options.AsJson = False,
) -> None:
    """Plan speculation from a measurement of this machine, or from acceptance and costs given by hand."""
    if rule is not None and rule not in CHAIN_RULES:
        raise UsageError(f"got {rule!r}; allowed are {', '.join(CHAIN_RULES)}", "rule")
    if plot is not None:
        check_path(plot)
    _refuse_what_would_be_ignored(context)
    if acceptance or cost_ratio:
        costs = target_pass_curve, overhead, batch_size
        planned = _by_hand(acceptance or [], cost_ratio or [], costs, rule or "token")
    else:
        choice = Choice(target, tuple(dict.fromkeys(drafter or [])), temperature, top_k, top_p, chat)
        planned = _measured(choice, measurement, rule)
    if plot is not None:
        draw(planned.picture, plot)
    if as_json:
        sys.stdout.write(json.dumps(_report(planned)) + "\n")
    else:
        from draftproof.cli.planned import show

        show(planned.plans, planned.picture, planned.commands, planned.work, planned.measurement, planned.stale)


def _refuse_what_would_be_ignored(context: typer.Context) -> None:
    """Refuse options that belong to another way of planning than the one that was chosen."""

    def typed(name: str) -> bool:
        source = context.get_parameter_source(name)
        return source is not None and source.name == "COMMANDLINE"

    by_hand = typed("acceptance") or typed("cost_ratio")
    for name in filter(typed, MEASURED if by_hand else BY_HAND):
        other = "a measurement; leave out" if by_hand else "numbers by hand; give"
        raise UsageError(f"belongs to a plan from {other} --acceptance and --cost-ratio", name)
    for name in filter(typed, SETTINGS if typed("measurement") else ()):
        raise UsageError("is written in the measurement; leave it out", name)


def _by_hand(
    acceptances: Sequence[float], ratios: Sequence[float], costs: tuple[str | None, float, int], rule: str
) -> Planned:
    if len(acceptances) != len(ratios):
        less = "acceptance" if len(acceptances) < len(ratios) else "cost_ratio"
        both = f"got {len(acceptances)} --acceptance and {len(ratios)} --cost-ratio; give both once for each drafter"
        raise UsageError(both, less)
    curve, overhead, batch = costs
    its = [Costs(ratio, _curve(curve), overhead, batch=batch) for ratio in ratios]
    found = plan_by_hand(list(zip(acceptances, its, strict=True)), rule)
    return Planned([found], picture_by_hand(found, its), commands(rule, PLACEHOLDER, found.num_speculative_tokens))


def _curve(words: str | None) -> tuple[float, ...]:
    if words is None:
        return ()
    try:
        return tuple(float(word) for word in words.split(","))
    except ValueError:
        raise UsageError(
            f"got {words!r}; allowed are numbers with commas, as 1,1.02,1.05", "target_pass_curve"
        ) from None


def _measured(choice: Choice, path: Path | None, rule: str | None) -> Planned:
    path, found, old = _found(choice) if path is None else _read(path)
    samples = samples_of(found)
    plans = plans_measured(samples, rule, choice.drafters)
    first, best = plans[0], plans[0].candidates[0]
    words = commands(first.rule or best.rule, first.drafter or best.drafter, first.num_speculative_tokens)
    picture = picture_measured(plans, samples, cells_of(found))
    return Planned(plans, picture, words, work_of(best, found, samples), str(path), old)


def _found(choice: Choice) -> tuple[Path, Measurement, list[str]]:
    """Return the newest measurement that holds, else the newest, of what was chosen, and why it is stale."""
    several = [(path, found, _stale(found)) for path, found in find(folder(), settings_of(choice), choice.drafters)]
    if not several:
        words = "there is no measurement of these models with these settings: run `draftproof measure` with the same"
        raise UsageError(f"{words} options first, or give --acceptance and --cost-ratio")
    return min(several, key=lambda one: bool(one[2]))


def _read(path: Path) -> tuple[Path, Measurement, list[str]]:
    found = read(path)
    return path, found, _stale(found)


def _stale(found: Measurement) -> list[str]:
    return stale(found, fingerprints(list(found.subject["fingerprints"])))


def _report(planned: Planned) -> dict[str, object]:
    first, *others = planned.plans
    return first.to_json() | {
        "workloads": [other.to_json() for other in others],
        "commands": [vars(command) for command in planned.commands],
        "work": planned.work and planned.work._asdict(),
        "measurement": planned.measurement,
        "stale": list(planned.stale),
    }
