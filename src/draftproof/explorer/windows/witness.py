"""Window 7: the blue team's live check, on the laws at hand and on eight seeded pairs; on demand in Fractions."""

from collections.abc import Iterator
from fractions import Fraction
from html import escape
from typing import Any

from draftproof.explorer.bench import Bench
from draftproof.explorer.exactly import Exactly, exactly
from draftproof.explorer.frame import Window, action, badge, busy, markup
from draftproof.explorer.results import Numbers, verdict_of
from draftproof.explorer.state import State
from draftproof.explorer.tables import Cell, number, table
from draftproof.records import Conclusion, Finding
from draftproof.witness.identity import TOLERANCE

__all__ = ["WINDOW"]

LONGEST_FRACTION = 18


def _build(bench: Bench) -> None:
    verdict = markup(css="window-verdict")
    markup(
        "<p>The loop that is switched on runs here with its random numbers left open: every comparison with one splits "
        f"it, and what comes out is P<sub>emit</sub> itself. It may differ from p by {TOLERANCE:g}, no more.</p>"
    ).classes("explains")
    pairs = markup()
    _on_demand(bench)

    def refresh() -> None:
        finding = verdict_of(bench.state, bench.numbers, bench.scores.get(bench.state.tamper))
        verdict.set_content(_verdict(finding))
        pairs.set_content(table("witness", _COLUMNS, _rows(bench.numbers), "Deviation for each pair of laws"))

    bench.watch(refresh)


_COLUMNS = ("laws", "max |P_emit − p|", "TV", "verdict")


def _verdict(finding: Finding) -> str:
    where = f" · at {escape(finding.where)}" if finding.where else ""
    return (
        f"<p>{badge(finding)} <b>{escape(finding.witness)}</b>, {escape(finding.subject)}: max deviation "
        f"{number(finding.max_deviation)}{where}</p><p class='faint'>{escape(finding.reason)}</p>"
    )


def _rows(numbers: Numbers) -> Iterator[list[Any]]:
    for found in (numbers.emission, *numbers.seeded):
        finding = found.finding
        lossy = finding.verdict is Conclusion.LOSSY
        style, sign = ("moved", "✗") if lossy else ("", "✓" if finding.verdict is Conclusion.LOSSLESS else "?")
        shown = Cell(finding.max_deviation, style)
        yield [
            finding.subject.removeprefix("the laws of "),
            shown,
            finding.total_variation,
            Cell(f"{sign} {finding.verdict}", style),
        ]


def _on_demand(bench: Bench) -> None:
    asked: list[State] = []

    def ask() -> None:
        asked[:] = [bench.state]
        found.set_content(busy("integrating in Fractions"))
        bench.work(exactly, bench.state, then=lambda result: answer(asked[0], result), process=True)

    def answer(of: State, result: Exactly) -> None:
        if asked == [of]:
            found.set_content(_fractions(result))

    def refresh() -> None:
        if asked and asked[0] != bench.state:
            asked.clear()
            found.set_content("")

    action("prove it in exact fractions", ask, "main")
    found = markup(css="exact")
    bench.watch(refresh)


def _fractions(result: Exactly) -> str:
    rows = [
        [token, Cell(_short(emitted), "" if emitted == p else "moved"), _short(p), "=" if emitted == p else "≠"]
        for token, (emitted, p) in enumerate(zip(result.emitted, result.p, strict=False))
    ]
    shown = table("exact", ("token", "P_emit", "p", ""), rows, "Emitted law and p as fractions") if rows else ""
    return f"<p>{badge(result.finding)} {escape(result.finding.reason)}</p>{shown}"


def _short(value: Fraction) -> str:
    whole = str(value)
    return whole if len(whole) <= LONGEST_FRACTION else f"{float(value):.12f}… (a fraction of {len(whole)} digits)"


WINDOW = Window(7, "The witness", "blue", _build)
