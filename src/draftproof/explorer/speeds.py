"""Two charts of speed: over the draft length, and where speculation begins to pay. In: a `Prospect`. Out: options."""

from collections.abc import Sequence
from math import ceil
from typing import Any

from draftproof.explorer.charts import line, lines
from draftproof.explorer.prospect import Prospect, frontier

__all__ = ["border_chart", "speed_chart"]

Options = dict[str, Any]
FONT = "bold 11px sans-serif"
DEAREST = 2.0
"""The highest draft cost that a slider reaches."""


def speed_chart(found: Prospect) -> Options:
    """Return speed-up by K, with plain decoding as a line and the best K named."""
    points = list(enumerate(found.speeds))
    named = f"K = {found.length}: {found.speedup:.2f}x" if found.length else "best: K = 0, do not speculate"
    plain = {
        "silent": True, "symbol": "none", "data": [{"yAxis": 1}],
        "lineStyle": {"color": "var(--ink)", "type": "dashed", "width": 1.5},
        "label": _label("1x: plain decoding", "insideEndTop"),
    }  # fmt: skip
    side = "right" if found.length < len(points) / 2 else "left"
    best = line("best K", [points[found.length]], "var(--red)") | {
        "symbol": "diamond", "symbolSize": 13, "z": 5,
        "label": _label(named, side) | {"offset": [0, -12], "fontWeight": "bold"},
    }  # fmt: skip
    series = [line("speed-up over K", points, "var(--p)", markLine=plain), best]
    top = max(1.5, ceil(max(found.speeds) * 2.2) / 2)
    return lines(
        series,
        {"name": "K, drafted tokens in a pass", "min": 0, "max": len(points) - 1, "minInterval": 1},
        {"min": 0, "max": top, "name": ""},
    ) | {"grid": _grid(30)}


def border_chart(found: Prospect) -> Options:
    """Return the acceptance from which speculation pays over the draft cost, and where the page stands."""
    border = frontier(found.costs.curve, found.costs.overhead)
    pays = {"origin": "end", "color": "var(--good)", "opacity": 0.16}
    series = [
        line("break-even", border, "var(--good)", symbol="none", areaStyle=pays),
        line("here", [(found.costs.draft, found.acceptance)], "var(--red)") | {
            "symbol": "diamond", "symbolSize": 13, "z": 5,
            "label": _label("here", "right") | {"fontWeight": "bold"},
        },
    ]  # fmt: skip
    words = [("✓ above the line: it pays", "var(--good)", {"left": 46, "top": 24})] if border else []
    words += [("✗ below it: it does not", "var(--bad)", {"right": 18, "bottom": 52})]
    return lines(
        series,
        {"name": "c, cost of a draft step in plain passes", "min": 0, "max": max(DEAREST, ceil(found.costs.draft))},
        {"min": 0, "max": 1, "name": ""},
    ) | {"grid": _grid(42), "graphic": _words(words)}


def _label(words: str, position: str) -> Options:
    return {"show": True, "formatter": words, "position": position, "color": "var(--ink)", "fontSize": 11}


def _grid(top: int) -> Options:
    return {"left": 8, "right": 14, "top": top, "bottom": 22, "containLabel": True}


def _words(words: Sequence[tuple[str, str, Options]]) -> list[Options]:
    return [
        {"type": "text", "silent": True, "z": 4, "style": {"text": text, "fill": colour, "font": FONT}} | place
        for text, colour, place in words
    ]
