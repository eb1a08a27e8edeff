"""What `plan` shows: the decision first, then why, the candidates, charts, and the words for other engines.

In: plans. Out: text on standard output. It computes nothing but what charts are drawn from.
"""

from collections.abc import Sequence

from rich.columns import Columns
from rich.console import Console
from rich.table import Table
from rich.text import Text

from draftproof.cli.charts import bars, frontier_map
from draftproof.cli.findings import print_whole
from draftproof.economics.flags import Command
from draftproof.economics.picture import Picture
from draftproof.economics.work import Work
from draftproof.records import Plan

__all__ = ["show"]

DECISION_STYLES = {"speculate": "bold green", "do not speculate": "bold red"}


def show(
    plans: Sequence[Plan],
    picture: Picture,
    commands: Sequence[Command],
    work: Work | None = None,
    measurement: str | None = None,
    stale: Sequence[str] = (),
) -> None:
    """Print plans, and what they rest on."""
    console = Console(highlight=False)
    if measurement is not None:
        console.print(Text(f"from {measurement}", "dim"), soft_wrap=True)
    for reason in stale:
        console.print(Text("stale: ", "bold yellow"), f"{reason}; `draftproof measure` measures anew", sep="")
    for plan in plans:
        console.print(_line(plan))
        console.print(Text(f"  {plan.reason}", "dim"))
    if work is not None:
        console.print(Text(f"  {_work(plans[0], work)}", "dim"))
    for plan in plans:
        console.print()
        print_whole(console, _candidates(plan))
    speed = [bars(chart, line=1.0) for chart in picture.speed]
    curve = [picture.curve] * any(point.value != 1 for point in picture.curve.points)
    others = [bars(chart) for chart in (*picture.kept, *curve)]
    console.print()
    console.print(Columns([*speed, *others, frontier_map(picture)], padding=(1, 2)))
    console.print()
    console.print(Text("in other engines", "bold"))
    for command in commands:
        console.print(Text(f"  {command.engine}", "cyan"), Text(f"({command.note})" if command.note else "", "dim"))
        console.print(Text(f"    {command.text}"), soft_wrap=True)


def _line(plan: Plan) -> Text:
    words = Text.assemble((f"{plan.workload}: ", "bold"), (plan.decision, DECISION_STYLES[plan.decision]))
    if plan.decision == "speculate":
        words.append(f" with {plan.num_speculative_tokens} tokens of {plan.drafter}, rule {plan.rule}: ")
        words.append(f"{plan.speedup:.2f}x", "bold green")
        words.append(_between(plan.interval))
    return words


def _work(plan: Plan, work: Work) -> str:
    best = plan.candidates[0]
    return (
        f"{best.drafter}, {best.rule}, K = {best.num_speculative_tokens}: {work.operations:.2f}x the operations and "
        f"{work.traffic:.2f}x the memory traffic for a token; {work.memory / 1e6:.1f} MB instead of "
        f"{work.memory_plain / 1e6:.1f}"
    )


def _candidates(plan: Plan) -> Table:
    table = Table(
        "drafter", "rule", "K", "speed-up", "90 % interval", "tokens a pass", "acceptance", "needed", "draft cost",
        "allowed", title=f"candidates: {plan.workload}", title_justify="left", title_style="bold", box=None,
        header_style="dim", padding=(0, 2, 0, 0),
    )  # fmt: skip
    for one in plan.candidates:
        style = "green" if one.interval[0] > 1 else "yellow" if one.speedup > 1 else "red"
        enough = "never" if one.break_even_acceptance is None else f"{one.break_even_acceptance:.3f}"
        table.add_row(
            one.drafter, one.rule, str(one.num_speculative_tokens), Text(f"{one.speedup:.2f}x", style),
            _between(one.interval).strip(), f"{one.tokens_per_pass:.2f}", f"{one.acceptance:.3f}", enough,
            f"{one.cost_ratio:.3f}", f"{one.break_even_cost_ratio:.3f}",
        )  # fmt: skip
    return table


def _between(interval: tuple[float, float]) -> str:
    low, high = interval
    return "" if low == high else f" {low:.2f} to {high:.2f}"
