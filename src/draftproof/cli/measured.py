"""What `measure` shows: what passes cost, how much drafts get right, and how good predictions were, if checked.

In: a measurement. Out: text on standard output.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from draftproof.cli.findings import print_whole
from draftproof.economics.check import LEAST_COVERED, MOST_ERROR, Cell, verdict
from draftproof.economics.pair import LONGEST
from draftproof.economics.rehearsal import STAGES
from draftproof.economics.samples import Samples
from draftproof.economics.store import cells_of, samples_of
from draftproof.economics.summary import Position, cliff, kept_per_position, noise, stage_seconds, target_curve
from draftproof.records import Measurement

__all__ = ["show"]

SHOWN = (1, 2, 3, 4, 6, 8, 12, 16)
"""Draft lengths, or places in a block, that tables have; the record has all."""
Kept = dict[tuple[str, str, str], list[Position]]
"""By workload, drafter and rule the share of passes that keep the token at each position."""


def show(measurement: Measurement, path: Path | None) -> None:
    """Print a measurement."""
    console, samples = Console(highlight=False), samples_of(measurement)
    print_whole(console, _costs(samples))
    console.print()
    print_whole(console, _stages(samples))
    console.print()
    kept = {
        (workload, drafter, rule): kept_per_position(samples, drafter, rule, workload)
        for workload in samples.texts
        for drafter, rules in samples.passes.items()
        for rule in rules
    }
    print_whole(console, _kept(kept))
    for warning in _cliffs(kept):
        console.print(Text("suspicious: ", "bold yellow"), warning, sep="")
    if cells := cells_of(measurement):
        console.print()
        print_whole(console, _cells(cells))
        console.print(*_judged(cells))
    if path is not None:
        console.print(Text(f"kept in {path}; `draftproof plan` reads it there", "dim"), soft_wrap=True)


def _table(title: str, *columns: str) -> Table:
    shown = Table(
        title=title, title_justify="left", title_style="bold", box=None, header_style="dim", padding=(0, 2, 0, 0)
    )
    for i, column in enumerate(columns):
        shown.add_column(column, justify="left" if i == 0 else "right")
    return shown


def _costs(samples: Samples) -> Table:
    curve, plain = target_curve(samples), samples.plain.seconds
    table = _table(
        f"costs, {len(plain)} rounds: plain decoding {plain.mean() * 1e3:.2f} ms a token (noise {noise(plain):.1%})",
        "rows of a target pass", *(str(n) for n in range(1, LONGEST + 2)),
    )  # fmt: skip
    table.add_row("T(n) / T(1)", *(f"{curve[:, n].mean() / curve[:, 0].mean():.2f}" for n in range(LONGEST + 1)))
    table.add_row(Text("noise", "dim"), *(Text(f"{noise(curve[:, n]):.0%}", "dim") for n in range(LONGEST + 1)))
    return table


def _stages(samples: Samples) -> Table:
    table = _table("ms of a pass by draft length", "drafter", "rule", "stage", *(f"K={length}" for length in SHOWN))
    for drafter, rules in samples.passes.items():
        for rule in rules:
            for stage in STAGES:
                ms = stage_seconds(samples, stage, drafter, rule).mean(axis=0) * 1e3
                table.add_row(drafter, rule, stage, *(f"{ms[length]:.2f}" for length in SHOWN))
    return table


def _kept(kept: Kept) -> Table:
    table = _table("share of passes that keep the token at each position, and half the 90 % interval",
                   "workload", "drafter", "rule", *map(str, SHOWN))  # fmt: skip
    for names, found in kept.items():
        chosen = [found[k - 1] for k in SHOWN]
        table.add_row(*names, *(f"{x:.2f} ±{(high - low) / 2:.2f}" for x, low, high in chosen))
    return table


def _cliffs(kept: Kept) -> Iterator[str]:
    for (workload, drafter, rule), found in kept.items():
        place = cliff([share for share, _, _ in found])
        if place is not None:
            where = f"{drafter}, {rule}, {workload}: nothing is kept from position {place} on"
            yield f"{where}; acceptance decays, it does not end: look for a fault in the drafter"


def _cells(cells: Sequence[Cell]) -> Table:
    title = "predicted against measured"
    table = _table(title, "workload", "drafter", "rule", "K", "predicted", "90 % interval", "measured",
                   "error", "i.i.d. formula", "its error")  # fmt: skip
    for cell in cells:
        style = "green" if cell.covered else "red"
        low, high = cell.interval
        table.add_row(
            cell.workload, cell.setting.drafter, cell.setting.rule, str(cell.setting.length), f"{cell.predicted:.2f}",
            Text(f"{low:.2f} to {high:.2f}", style), f"{cell.measured:.2f}", Text(f"{cell.error:+.1%}", style),
            f"{cell.naive:.2f}", Text(f"{cell.naive_error:+.1%}", "dim"),
        )  # fmt: skip
    return table


def _judged(cells: Sequence[Cell]) -> tuple[Text, str]:
    found = verdict(cells)
    words = Text("predictions hold", "bold green") if found.good else Text("predictions do not hold", "bold red")
    return words, (
        f"in {len(cells)} cells: median error {found.median_error:.1%} (asked {MOST_ERROR:.0%} at most), "
        f"{found.covered:.0%} of the intervals hold (asked {LEAST_COVERED:.0%}); "
        f"the i.i.d. formula is {found.median_naive_error:.1%} off"
    )
