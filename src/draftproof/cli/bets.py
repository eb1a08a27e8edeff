"""`draftproof attack --statistical`: after how many tokens each tamper is convicted; status 1 if an innocent is.

In: names, how many tokens a tamper may take. Out: a bar on standard error, a table or JSON on standard output.
"""

import json
import math
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from draftproof.cli.findings import bar, print_whole
from draftproof.cli.statuses import INTERRUPTED
from draftproof.records import SCHEMA
from draftproof.redteam.bets import bets
from draftproof.redteam.bettable import MODELS, SETTINGS
from draftproof.redteam.betting import Tried
from draftproof.redteam.expected import expected

__all__ = ["show_bets"]

LEVELS = "1e-3", "1e-6"
"""How `betting.WATCH` and `betting.ALARM` are written."""


def show_bets(names: Sequence[str], most: int, *, as_json: bool) -> int:
    """Bet against the named tampers, show what came of it, and return the exit status; Ctrl-C keeps what is known."""
    found, interrupted = dict[str, Tried](), False
    try:
        with bar() as shown:
            task = shown.add_task("betting", total=len(names))
            for one in bets(names, most):
                found[one.name] = one
                shown.advance(task)
    except KeyboardInterrupt:
        interrupted = True
    told = [found[name] for name in names if name in found]
    if as_json:
        sys.stdout.write(json.dumps(_report(told, most)) + "\n")
    else:
        _show(told, most)
        if interrupted:
            Console().print(f"interrupted; {len(told)} of {len(names)} were tried", style="yellow")
    accused = any(one.harmless and one.seen for one in told)
    return INTERRUPTED if interrupted else int(accused)


def _report(told: Sequence[Tried], most: int) -> dict[str, object]:
    return {
        "models": MODELS,
        "settings": [setting.name for setting in SETTINGS],
        "max_tokens_total": most,
        "tampers": [one.to_json() for one in told],
        "same_tokens": [one.name for one in told if one.same and not one.harmless],
        "not_seen": [one.name for one in told if not (one.harmless or one.seen or one.same)],
        "false_alarms": [one.name for one in told if one.harmless and one.seen],
        "schema": SCHEMA,
    }


def _show(told: Sequence[Tried], most: int) -> None:
    console, family = Console(highlight=False), ""
    table = Table("tamper", box=None, header_style="dim", padding=(0, 2, 0, 0))
    for heading in (*LEVELS, "expected"):
        table.add_column(heading, justify="right")
    table.add_column("where, and how")
    for one in told:
        if one.family != family:
            table.add_row(Text(one.family, "bold"))
        family = one.family
        table.add_row(*_row(one))
    print_whole(console, table)
    remarks = (
        f"{', '.join(LEVELS)}: tokens until evidence is 1,000 : 1 and 1,000,000 : 1, in the setting named",
        "expected: what engines with such a fault took in simulations, on other laws: right to a factor of some two",
        f"models: {MODELS}",
    )
    for remark in remarks:
        console.print(remark, style="dim", soft_wrap=True)
    _summary(console, told, most)


def _row(one: Tried) -> tuple[Text | str, ...]:
    wanted, last = expected(one.name), one.trials[-1]
    style = "bold red" if one.harmless and one.seen else "cyan" if one.harmless else "" if one.seen else "yellow"
    numbers = (last.suspected_at, last.convicted_at) if one.seen else (None, None)
    cells = [
        *(("" if number is None else f"{number:,}") for number in numbers),
        "" if wanted is None else f"{wanted:,}",
    ]
    return Text("  " + one.name, "" if one.same else style), *cells, Text(_how(one), "dim")


def _how(one: Tried) -> str:
    if one.seen:
        how = one.trials[-1].how
        return one.trials[-1].setting + ("" if how == "evidence" else f": {how}")
    if one.same:
        return ("left alone: " if one.harmless else "") + "emits the tokens of the honest engine"
    highest = max(trial.log_evidence for trial in one.trials) / math.log(10)
    what = "left alone" if one.harmless else "not seen"
    return f"{what} in {one.tokens:,} tokens (evidence 10^{highest:.1f} : 1)"


def _summary(console: Console, told: Sequence[Tried], most: int) -> None:
    tampers, innocents = ([one for one in told if one.harmless == harmless] for harmless in (False, True))
    seen, same = [one for one in tampers if one.seen], [one for one in tampers if one.same]
    missed = [one.name for one in tampers if not (one.seen or one.same)]
    accused = [one.name for one in innocents if one.seen]
    console.print(Text(f"{len(seen)} of {len(tampers)} tampers convicted", "bold green"))
    if same:
        kept = f"{len(same)} emit the tokens of the honest engine for the same random numbers: nothing to bet on"
        console.print(kept, style="dim", soft_wrap=True)
    if missed:
        console.print(f"{len(missed)} not seen within {most:,} tokens: {', '.join(missed)}", soft_wrap=True)
    left = f"{len(innocents) - len(accused)} of {len(innocents)} innocent look-alikes left alone"
    console.print(Text(left, "bold red" if accused else "bold green"), *accused)
