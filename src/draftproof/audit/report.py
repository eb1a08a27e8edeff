"""A page about an audit that can be passed on: one file, nothing to load. In: an outcome and its arms. Out: HTML.

Drawn with matplotlib, filled in with jinja2 (extra `audit`).
"""

import importlib.util
import io
import math
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from draftproof.audit.arm import Point
from draftproof.audit.outcome import Outcome
from draftproof.audit.shapes import MEANING
from draftproof.errors import MissingExtraError, UsageError
from draftproof.witness.drift import Drift
from draftproof.witness.verdict import Limits, Verdict

__all__ = ["Drawn", "check", "write"]

LIBRARIES = "matplotlib", "jinja2"
COLOURS = {Verdict.LOSSLESS: "#1a7f37", Verdict.DRIFT: "#cf222e", Verdict.INCONCLUSIVE: "#9a6700"}
ARM_COLOURS = {"speculative": "#0969da", "control": "#8c959f"}
SLOT_NAMES = {"all": "all", "bonus": "after a pass that kept all its drafts", "after_reject": "after a rejected draft"}
WIDE, HIGH, LOW = 9.0, 3.2, 2.2
"""Inches."""


class Drawn(NamedTuple):
    """What the pictures show."""

    limits: Limits
    curves: Mapping[str, Sequence[Point]]
    """By arm."""
    growth: Sequence[float]
    """Log-wealth by place in a completion; empty where that is not known."""
    events: Mapping[str, Drift]
    missing: str
    """Why there is no control arm."""


def check(path: Path) -> None:
    """Refuse a report that could not be written, before the work is done.

    Raises:
        MissingExtraError: if a library is missing.
        UsageError: if there is no such folder.
    """
    for library in LIBRARIES:
        if importlib.util.find_spec(library) is None:
            raise MissingExtraError(f"a report needs {library}: pip install 'draftproof[audit]'", "report")
    if not path.parent.is_dir():
        raise UsageError(f"got {str(path)!r}, but {path.parent} is no folder", "report")


def write(path: Path, outcome: Outcome, drawn: Drawn) -> None:
    """Write the page."""
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    told = outcome.settings | outcome.settings["settings"] | outcome.settings["pair"] | outcome.versions
    facts = {name: value for name, value in told.items() if value not in ("", None) and not isinstance(value, dict)}
    page = Environment(loader=PackageLoader("draftproof.audit", "."), autoescape=True).get_template("report.html")
    text = page.render(
        outcome=outcome,
        settings=outcome.settings,
        colour=COLOURS[outcome.verdict],
        progress=Markup(_progress(drawn, outcome)),  # noqa: S704 (drawn here)
        places=Markup(_places(drawn.growth) if drawn.growth else ""),  # noqa: S704
        events=drawn.events.items(),
        facts=facts.items(),
        slot_names=SLOT_NAMES,
        meaning=MEANING,
        missing=drawn.missing,
        version=version("draftproof"),
    )
    path.write_text(text, encoding="utf-8")


def _progress(drawn: Drawn, outcome: Outcome) -> str:
    """Return the picture of log-wealth, and of the bound where there is one, over tokens."""
    from matplotlib.figure import Figure

    figure = Figure((WIDE, HIGH), layout="constrained")
    left, right = figure.subplots(1, 2)
    limits = drawn.limits
    for name, curve in drawn.curves.items():
        points = [point for point in curve if math.isfinite(point[1])]
        tokens = [point[0] for point in points]
        left.plot(tokens, [point[1] / math.log(10) for point in points], color=ARM_COLOURS[name], label=name)
        right.plot(tokens, [100 * point[2] for point in points], color=ARM_COLOURS[name], label=name)
    left.axhline(-math.log10(limits.alpha), color=COLOURS[Verdict.DRIFT], linestyle="--", linewidth=1)
    left.axhline(-math.log10(limits.watch), color=COLOURS[Verdict.INCONCLUSIVE], linestyle=":", linewidth=1)
    left.set(xlabel="tokens", ylabel="evidence, 10^x : 1")
    right.axhline(100 * limits.target, color=COLOURS[Verdict.LOSSLESS], linestyle="--", linewidth=1)
    right.set(xlabel="tokens", ylabel="drift, at most (%)", yscale="log")
    left.legend(frameon=False)
    if outcome.settings["black_box"]:
        right.remove()
    return _svg(figure)


def _places(growth: Sequence[float]) -> str:
    """Return the picture of the evidence by place in a completion."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure((WIDE, LOW), layout="constrained")
    axes = figure.subplots()
    places = range(1, len(growth) + 1)
    axes.bar(places, [gained / math.log(10) for gained in growth], color=ARM_COLOURS["speculative"])
    axes.axhline(0, color="#59636e", linewidth=0.8)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel="place of the token in its completion", ylabel="evidence, 10^x")
    return _svg(figure)


def _svg(figure: Any) -> str:
    written = io.StringIO()
    figure.savefig(written, format="svg", metadata={"Date": None})
    text = written.getvalue()
    return text[text.index("<svg") :]
