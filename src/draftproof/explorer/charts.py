"""Charts as ECharts options: bars, lines, bands. In: numbers. Out: options whose colours are those of the style sheet.

They are drawn as SVG, so that light and dark need no second chart.
"""

from collections.abc import Sequence
from typing import Any

from nicegui import ui

__all__ = ["bars", "chart", "line", "lines", "show"]

Options = dict[str, Any]
INK, FAINT = "var(--ink)", "var(--line)"


def chart(about: str, css: str = "chart") -> ui.echart:
    """Return an empty chart; `about` tells those who cannot see it what it shows."""
    made = ui.echart({}, renderer="svg").classes(css)
    made.props(f'role="img" aria-label="{about}"')
    return made


def show(made: ui.echart, options: Options) -> None:
    """Let a chart show these options, and nothing that it showed before."""
    made.options.clear()
    made.options.update(options)
    made.update()


def bars(tokens: Sequence[str], series: Sequence[Options], *, top: float | None = 1.0) -> Options:
    """Return bars by token."""
    axis = {"type": "value", "min": 0} | ({"max": top} if top else {})
    return _frame(series) | {"xAxis": _axis({"type": "category", "data": list(tokens)}), "yAxis": _axis(axis)}


def lines(series: Sequence[Options], x: Options, y: Options) -> Options:
    """Return lines over two axes of numbers."""
    return _frame(series) | {"xAxis": _axis({"type": "value"} | x), "yAxis": _axis({"type": "value"} | y)}


def line(name: str, points: Sequence[Sequence[float]], colour: str, **more: Any) -> Options:
    """Return a line through (x, y) points."""
    return {
        "name": name, "type": "line", "data": [list(point) for point in points], "symbolSize": 5,
        "lineStyle": {"color": colour, "width": 2}, "itemStyle": {"color": colour},
        "emphasis": {"disabled": True}, "animation": False,
    } | more  # fmt: skip


def _frame(series: Sequence[Options]) -> Options:
    return {
        "animation": False,
        "textStyle": {"fontFamily": "inherit", "color": INK},
        "grid": {"left": 8, "right": 12, "top": 30, "bottom": 4, "containLabel": True},
        "legend": {"top": 0, "left": 0, "itemWidth": 14, "itemHeight": 9, "textStyle": {"color": INK, "fontSize": 11}},
        "tooltip": {"trigger": "axis", "confine": True, "transitionDuration": 0},
        "series": [{"emphasis": {"disabled": True}} | one for one in series],
    }


def _axis(axis: Options) -> Options:
    return {
        "axisLabel": {"color": INK, "fontSize": 11, "hideOverlap": True},
        "axisLine": {"lineStyle": {"color": FAINT}},
        "splitLine": {"lineStyle": {"color": FAINT}},
        "nameTextStyle": {"color": INK, "fontSize": 11},
        "nameLocation": "middle",
        "nameGap": 24,
    } | axis  # fmt: skip
