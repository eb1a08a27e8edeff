"""Charts of a terminal: bars about a line, and a map. In: numbers. Out: things that rich prints."""

from rich.table import Table
from rich.text import Text

from draftproof.economics.picture import Chart, Picture, Point
from draftproof.economics.predict import break_even_frontier

__all__ = ["bars", "frontier_map"]

WIDTH = 26
"""Characters of the longest bar: two charts fit beside each other on a narrow terminal."""
GAIN, LOSS, PLAIN, SPREAD = "green", "red", "cyan", "dim"
STEP = 0.04
"""Of the draft cost, between two columns of the map."""
COST_RATIOS = [STEP * i for i in range(WIDTH + 1)]


def bars(chart: Chart, line: float | None = None) -> Table:
    """Return a bar for each point; with a `line` green above and red below it, which is drawn as well."""
    points = chart.points
    ends = [point.interval[1] if point.interval else point.value for point in points]
    scale = WIDTH / max([*ends, *(point.measured or 0 for point in points), line or 0, 1e-12])
    table = _table(
        f"{chart.title}\n{chart.subject}" + (" (◆ measured)" if any(point.measured for point in points) else "")
    )
    for point in points:
        style = PLAIN if line is None else GAIN if point.value > line else LOSS
        label = Text(f"{point.x:3}", "bold reverse" if point.x == chart.best else "")
        table.add_row(label, _bar(point, scale, style, line), Text(f"{point.value:.2f}", f"bold {style}"))
    return table


def _table(title: str) -> Table:
    return Table(
        title=title, title_justify="left", title_style="bold", box=None, show_header=False, padding=(0, 1, 0, 0)
    )


def _bar(point: Point, scale: float, style: str, line: float | None) -> Text:
    end = round(point.value * scale)
    cells = [("█", style) if i < end else (" ", "") for i in range(WIDTH + 1)]
    if point.interval:
        for i in range(round(point.interval[0] * scale), round(point.interval[1] * scale) + 1):
            cells[i] = ("▓" if i < end else "─", style)
    if line is not None:
        cells[round(line * scale)] = ("│", "bold")
    if point.measured is not None:
        cells[round(point.measured * scale)] = ("◆", "bold yellow")
    return Text.assemble(*cells)


def frontier_map(picture: Picture) -> Table:
    """Return where speculation pays, acceptance upwards and draft cost to the right.

    Acceptance is i.i.d., the curve and the overhead those of the picture; what was measured or given is marked.
    """
    frontier = break_even_frontier(COST_RATIOS, picture.costs)
    table = _table("where it pays (◆ here): upwards\nacceptance, to the right draft cost")
    last = len(COST_RATIOS) - 1
    marks = {(min(round(cost / STEP), last), round(acceptance * 10)) for _, cost, acceptance in picture.here}
    for tenths in range(10, -1, -1):
        row = Text()
        for i, edge in enumerate(frontier):
            pays = edge is not None and tenths / 10 > edge
            mark = (i, tenths) in marks
            row.append("◆" if mark else "█" if pays else "·", "bold yellow" if mark else GAIN if pays else SPREAD)
        table.add_row(f"{tenths / 10:.1f}", row)
    table.add_row("", Text("0" + f"{COST_RATIOS[-1]:.2f}".rjust(last), SPREAD))
    return table
