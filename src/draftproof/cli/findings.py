"""What `prove` shows: a table of rules and witnesses and every objection in full; of a pair a line for each finding.

In: findings. Out: a progress bar on standard error, a table or lines on standard output.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from draftproof.cli.screen import VERDICT_STYLES
from draftproof.records import Conclusion, Finding
from draftproof.witness.battery import battery

__all__ = ["FindingsTable", "bar", "print_ending", "print_finding", "print_whole"]

WORST_FIRST = (Conclusion.LOSSY, Conclusion.WASTEFUL, Conclusion.UNDECIDED, Conclusion.LOSSLESS)
MARKS = {
    Conclusion.LOSSLESS: "ok",
    Conclusion.LOSSY: "LOSSY",
    Conclusion.WASTEFUL: "wasteful",
    Conclusion.UNDECIDED: "?",
}


def bar() -> Progress:
    """Return a progress bar on standard error; it shows nothing where nobody watches."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def print_whole(console: Console, table: Table) -> None:
    """Print a table at its full width: a terminal wraps what is too long, a file keeps it."""
    wide = Console(highlight=False, width=1000)
    wide.width = max(console.width, wide.measure(table).maximum)
    wide.print(table)


def print_finding(finding: Finding) -> None:
    """Print a finding in a line, at once: the next may take a while."""
    console = Console(highlight=False)
    verdict = Text(finding.verdict, VERDICT_STYLES[finding.verdict])
    where = f" ({finding.where})" if finding.where else ""
    line = Text.assemble(verdict, f" {finding.witness} on {finding.subject}: {finding.reason}{where}")
    console.print(line, soft_wrap=True)
    console.file.flush()


def print_ending(findings: Sequence[Finding], remark: str = "") -> None:
    """Print what all findings amount to, and a remark."""
    lossy = sum(finding.verdict is Conclusion.LOSSY for finding in findings)
    kept = sum(finding.verdict is Conclusion.LOSSLESS for finding in findings)
    well = "LOSSLESS in all of" if kept == len(findings) else f"LOSSLESS in {kept} and LOSSY in none of"
    ended = Text(f"LOSSY in {lossy} of", "bold red") if lossy else Text(well, "bold green")
    Console(highlight=False).print(ended, f"{len(findings)} cases{remark}")


class FindingsTable:
    """A row for each rule, a column for each witness, in each cell the verdict and on how many cases it rests."""

    def __init__(self, rules: Sequence[str]) -> None:
        self._rules = list(rules)
        self._found: dict[str, list[Finding]] = {}

    @contextmanager
    def progress(self) -> Iterator[Callable[[str, list[Finding]], None]]:
        """Show a bar; the function that is given takes a rule and its findings."""
        with bar() as shown:
            task = shown.add_task("proving", total=2 * len(self._rules) if len(self._rules) > 1 else 1)

            def advance(rule: str, found: list[Finding]) -> None:
                self._found.setdefault(rule, []).extend(found)
                shown.advance(task)

            yield advance

    def show(self, findings: list[Finding]) -> None:
        """Print the table, every objection, and what it all amounts to."""
        console = Console(highlight=False)
        found_by = {finding.witness for finding in findings}
        witnesses = [witness.name for witness in battery() if witness.name in found_by]
        table = Table("rule", *witnesses, "max deviation", box=None, header_style="dim", padding=(0, 1, 0, 0))
        for rule in self._rules:
            found = self._found.get(rule, [])
            cells = [_cell([finding for finding in found if finding.witness == witness]) for witness in witnesses]
            largest = max((finding.max_deviation or 0.0 for finding in found), default=0.0)
            table.add_row(rule, *cells, f"{largest:.1e}")
        print_whole(console, table)
        for witness in witnesses:
            objections = [f for f in findings if f.witness == witness and f.verdict is not Conclusion.LOSSLESS]
            for finding in objections[:1]:
                verdict = Text(finding.verdict, VERDICT_STYLES[finding.verdict])
                more = f" (and {len(objections) - 1} more)" if len(objections) > 1 else ""
                console.print(verdict, f"{witness} on {finding.subject}: {finding.reason}{more}")
        print_ending(findings, "; a number is how many cases a verdict rests on")


def _cell(findings: list[Finding]) -> Text:
    if not findings:
        return Text("-", "dim")
    worst = next(verdict for verdict in WORST_FIRST if any(finding.verdict is verdict for finding in findings))
    return Text(f"{MARKS[worst]} {len(findings)}", VERDICT_STYLES[worst])
