"""Draws a picture of a plan into a file, PNG or SVG, with matplotlib (extra `plot`). In: a `Picture`. Out: a file."""

from pathlib import Path
from typing import Any

from draftproof.economics.picture import Chart, Picture
from draftproof.economics.plan import ALL
from draftproof.economics.predict import break_even_frontier
from draftproof.errors import MissingExtraError, UsageError

__all__ = ["FORMATS", "draw"]

FORMATS = (".png", ".svg")
COST_RATIOS = [0.01 * i for i in range(101)]
LEVEL = "0.6"
"""The grey of lines that only guide the eye."""


def check_path(path: Path) -> None:
    """Refuse a file that could not be drawn.

    Raises:
        UsageError: if it is neither .png nor .svg, or its folder does not exist.
        MissingExtraError: if matplotlib is not installed.
    """
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"got {str(path)!r}; allowed are names that end in {' or '.join(FORMATS)}", "plot")
    if not path.parent.is_dir():
        raise UsageError(f"got {str(path)!r}, but {path.parent} is no folder", "plot")
    try:
        import matplotlib.figure as _  # noqa: F401
    except ImportError:
        raise MissingExtraError("needs matplotlib: pip install 'draftproof[plot]'", "plot") from None


def draw(picture: Picture, path: Path) -> None:
    """Write the picture: speed-up, acceptance by position, T(n), and the frontier of what pays.

    Raises:
        UsageError: see `check_path`.
    """
    check_path(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 9), layout="constrained")
    speed, kept, curve, frontier = figure.subplots(2, 2).flat
    for chart in picture.speed:
        _series(speed, chart)
    speed.axhline(1, color=LEVEL, linestyle="--")
    _named(speed, "speed-up over plain decoding", "draft length K", "x plain")
    for chart in picture.kept:
        _series(kept, chart)
    kept.set_ylim(0, 1)
    _named(kept, "share of passes that keep the token at each position", "position", "share")
    _series(curve, picture.curve)
    curve.set_ylim(bottom=0)
    _named(curve, "T(n): a target pass over n rows", "rows n", "x one row")
    _frontier(frontier, picture)
    figure.savefig(path)


def _series(axes: Any, chart: Chart) -> None:
    xs = [point.x for point in chart.points]
    (line,) = axes.plot(
        xs, [point.value for point in chart.points], marker=".", label=chart.subject, **_colour(chart.subject)
    )
    spread = [(point.x, *point.interval) for point in chart.points if point.interval]
    if spread:
        axes.fill_between(*zip(*spread, strict=True), alpha=0.15, color=line.get_color())
    seen = [(point.x, point.measured) for point in chart.points if point.measured is not None]
    if seen:
        axes.plot(*zip(*seen, strict=True), "D", color=line.get_color(), label="measured")
    if chart.best is not None:
        axes.axvline(chart.best, color=line.get_color(), linestyle=":", alpha=0.5)


def _colour(subject: str) -> dict[str, str]:
    """Return the colour of a subject's workload or drafter: the same in every chart, black for all together."""
    name = subject.partition(",")[0]
    return {"color": "black" if name == ALL else f"C{sum(map(ord, name)) % 10}"}


def _frontier(axes: Any, picture: Picture) -> None:
    edge = [1.0 if some is None else some for some in break_even_frontier(COST_RATIOS, picture.costs)]
    axes.fill_between(COST_RATIOS, edge, 1, alpha=0.15, color="green", label="pays")
    axes.plot(COST_RATIOS, edge, color="green", label="break-even")
    for name, cost, acceptance in picture.here:
        axes.plot([cost], [acceptance], "D", label=name, **_colour(name))
    axes.set_ylim(0, 1)
    axes.set_xlim(0, max(1.0, *(cost for _, cost, _ in picture.here)))
    _named(axes, "where speculation pays", "draft step / plain token", "acceptance (i.i.d.)")


def _named(axes: Any, title: str, x: str, y: str) -> None:
    axes.set(title=title, xlabel=x, ylabel=y)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize="small")
