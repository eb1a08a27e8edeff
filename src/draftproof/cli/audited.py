"""What `audit` shows: a line that moves while it runs, then the verdict, what it rests on and what it leaves open.

In: arms, an outcome. Out: the line on standard error, the rest on standard output.
"""

import math
import time
from contextlib import AbstractContextManager
from typing import Self

from rich.console import Console
from rich.live import Live as Moving
from rich.table import Table
from rich.text import Text

from draftproof.audit.arm import Arm
from draftproof.audit.black_box import BlackBox
from draftproof.audit.outcome import Outcome
from draftproof.audit.pairs import Side
from draftproof.audit.requests import ARMS
from draftproof.audit.runner import Audit
from draftproof.audit.shapes import MEANING
from draftproof.witness.verdict import Verdict

__all__ = ["Live", "odds", "show"]

STYLES = {Verdict.LOSSLESS: "bold green", Verdict.DRIFT: "bold red", Verdict.INCONCLUSIVE: "bold yellow"}
NOTHING = "-"


class Live(AbstractContextManager["Live"]):
    """A table of both arms that follows the audit where somebody watches."""

    def __init__(self, running: Audit | BlackBox) -> None:
        console = Console(stderr=True)
        self._arms: dict[str, Arm | Side] = {}
        self._began, self._before = time.monotonic(), 0
        self._eps = running.options.eps
        waiting = Text(f"starting {running.options.subject} ..", "dim")
        self._moving = Moving(waiting, console=console, transient=True) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._moving is not None:
            self._moving.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._moving is not None:
            self._moving.stop()

    def __call__(self, name: str, arm: Arm | Side) -> None:
        """Show an arm after a batch."""
        self._arms[name] = arm
        if self._moving is None:
            return
        table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
        for heading in ("arm", "tokens", "evidence", f"drift, at most (aim {self._eps:.1%})", "accepted"):
            table.add_column(heading, justify="right" if heading != "arm" else "left")
        for each in ARMS:
            if each in self._arms:
                table.add_row(each, *_cells(self._arms[each]))
        seconds = time.monotonic() - self._began
        table.caption = f"{seconds:.0f} s; Ctrl-C keeps what is known, the same command goes on"
        table.caption_justify = "left"
        self._moving.update(table)


def show(outcome: Outcome, *, interrupted: bool) -> None:
    """Print what an audit ends with."""
    console = Console(highlight=False)
    console.print(Text(str(outcome.verdict), STYLES[outcome.verdict]), Text(f"({outcome.cause})", "dim"))
    console.print(outcome.reason, soft_wrap=True)
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    for heading in ("", "tokens", "evidence", "drift, at most"):
        table.add_column(heading, justify="right" if heading else "left")
    table.add_row("speculative", f"{outcome.tokens:,}", odds(outcome.log_evidence), _percent(outcome.drift_bound))
    for slot, told in outcome.slots.items():
        if slot != "all":
            table.add_row(f"  {slot.replace('_', '-')} slots", f"{told['tokens']:,}", "", _percent(told["drift_bound"]))
    if outcome.control is not None:
        of_control = outcome.control
        row = f"{of_control['tokens']:,}", odds(of_control["log_evidence"]), _percent(of_control["drift_bound"])
        table.add_row("control", *row)
    console.print(table)
    if outcome.shapes:
        first = outcome.shapes[0]
        where = "" if first["slot"] == "all" else f", in {first['slot'].replace('_', '-')} slots"
        console.print(f"most like: {first['shape']} ({MEANING[first['shape']]}){where}", soft_wrap=True)
    for note in outcome.notes:
        console.print(Text(f"note: {note}", "dim"), soft_wrap=True)
    versions = ", ".join(f"{name} {version}" for name, version in outcome.versions.items())
    if versions:
        console.print(Text(f"engine: {versions}", "dim"), soft_wrap=True)
    if interrupted:
        console.print("interrupted; the same command goes on from here", style="yellow")


def odds(log_evidence: float | None) -> str:
    """Return evidence in words: `10^6.2 : 1`; a dash if there is none."""
    if log_evidence is None:
        return NOTHING
    if math.isinf(log_evidence):
        return "certain"
    return f"10^{log_evidence / math.log(10):.1f} : 1"


def _cells(arm: Arm | Side) -> tuple[str, ...]:
    drafted = NOTHING if not arm.drafted else f"{arm.accepted / arm.drafted:.0%} of {arm.drafted:,}"
    return f"{arm.tokens:,}", odds(arm.log_evidence), _percent(arm.bound), drafted


def _percent(share: float | None) -> str:
    return NOTHING if share is None else f"{share:.2%}"
