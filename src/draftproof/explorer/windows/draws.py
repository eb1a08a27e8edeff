"""The lower half of window 4: 100 or 10,000 passes of the engine that is switched on, counted against p."""

from html import escape
from itertools import cycle
from typing import Any

from nicegui import ui

from draftproof.explorer.bench import Bench
from draftproof.explorer.charts import bars, chart, line, lines, show
from draftproof.explorer.counting import FALSE_ALARM, Count, Narrowing, count_of, narrowing
from draftproof.explorer.drawing import Tally
from draftproof.explorer.frame import action, busy, markup
from draftproof.explorer.results import laws_of
from draftproof.explorer.state import State
from draftproof.explorer.tables import Cell, table

__all__ = ["many"]


def many(bench: Bench) -> None:
    """Build what counts many draws."""
    with ui.row().classes("choices").props('role="group" aria-label="many draws"'):
        action("draw 100", lambda: bench.change(draws=bench.state.draws + 100), "main")
        action("draw 10,000", lambda: bench.change(draws=bench.state.draws + 10_000), "main")
        action("start again", lambda: bench.change(draws=0))
    words, rows = markup().props('aria-live="polite"'), markup()
    frequencies = chart("Bars: observed frequencies beside p, with the band that chance explains")
    narrowing_chart = chart("Lines: frequency minus p over the number of draws, inside a band that narrows")
    tally = Tally(bench)

    def refresh() -> None:
        tally.follow()
        shown = len(tally.tokens) > 0
        frequencies.set_visibility(shown)
        narrowing_chart.set_visibility(shown)
        words.set_content(_words(bench, tally))
        rows.set_content("")
        if shown:
            count = count_of(bench.state, tally.tokens)
            rows.set_content(_rows(bench.state, count))
            show(frequencies, _bars(bench.state, count))
            show(narrowing_chart, _lines(narrowing(bench.state, tally.tokens)))

    bench.watch(refresh)


def _words(bench: Bench, tally: Tally) -> str:
    have, wanted = len(tally.tokens), bench.state.draws
    if tally.failed:
        return f"<p class='moved'>✗ the engine broke down: {escape(tally.failed)}</p>"
    if have < wanted:
        return busy(f"{have:,} of {wanted:,} draws")
    if not have:
        return ""
    outside = count_of(bench.state, tally.tokens).outside
    if not outside:
        verdict = "<b>✓ every frequency is inside the band</b>"
    else:
        verdict = f"<b class='moved'>✗ outside the band: token {', '.join(map(str, outside))}</b>"
    return (
        f"<p data-number='draws' data-draws='{have}'>{have:,} passes drawn, first tokens counted. {verdict}</p><p "
        f"class='faint'>A lossless engine leaves it with a chance of at most {FALSE_ALARM:.0%}.</p>"
    )


def _rows(state: State, count: Count) -> str:
    p, _ = laws_of(state)
    parts = zip(p, count.frequencies, count.low, count.high, strict=True)
    rows = [
        [token, wanted, Cell(found, "moved" if token in count.outside else ""), low, high]
        for token, (wanted, found, low, high) in enumerate(parts)
    ]
    return table("draws", ("token", "p", "observed", "band from", "to"), rows, "Observed frequencies")


def _bars(state: State, count: Count) -> dict[str, Any]:
    p, _ = laws_of(state)
    tokens = [str(token) for token in range(len(p))]
    series = [
        {"name": "target p", "type": "bar", "data": p.tolist(), "itemStyle": {"color": "var(--p)"}},
        {
            "name": "observed",
            "type": "bar",
            "data": count.frequencies.tolist(),
            "itemStyle": {"color": "var(--emitted)"},
        },
        _edge("band from", count.low.tolist()),
        _edge("band to", count.high.tolist()),
    ]
    return bars(tokens, series, top=None)


def _edge(name: str, values: list[float]) -> dict[str, Any]:
    return {
        "name": name, "type": "scatter", "data": values, "symbol": "rect", "symbolSize": [26, 2],
        "itemStyle": {"color": "var(--ink)"},
    }  # fmt: skip


def _lines(found: Narrowing) -> dict[str, Any]:
    series = [
        line(f"{token}", list(zip(found.draws, values, strict=True)), colour, symbolSize=3)
        for token, (values, colour) in enumerate(zip(found.strays.T.tolist(), cycle(_COLOURS), strict=False))
    ]
    for values in (found.low, found.high):
        edge = line("band", list(zip(found.draws, values, strict=True)), "var(--ink)", symbol="none")
        edge["lineStyle"] |= {"type": "dashed"}
        series.append(edge)
    x = {"type": "log", "min": found.draws[0], "max": max(found.draws[-1], 100), "name": "draws"}
    options = lines(series, x, {"scale": True, "name": "", "nameGap": 30})
    options["grid"] |= {"bottom": 18}
    return options


_COLOURS = ("var(--p)", "var(--q)", "var(--emitted)", "var(--red)", "var(--bonus)", "var(--faint)")
