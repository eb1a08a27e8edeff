"""A uniform as a pointer on [0, 1), over a law laid out as lengths, or over a bound. In: numbers. Out: HTML.

No position is computed: the browser lays out segments by their weights.
"""

from collections.abc import Iterable

__all__ = ["bound", "cumulative"]


def cumulative(law: Iterable[float], uniform: float, token: int, css: str) -> str:
    """Return a law (V,) as a bar of segments, the pointer at the uniform, the token that it meets marked."""
    segments = "".join(
        f'<span class="segment{" hit" if i == token else ""}" style="flex-grow:{float(weight)!r}" '
        f'title="token {i}: {float(weight)!r}">{i}</span>'
        for i, weight in enumerate(law)
        if weight > 0
    )
    return _pointed(f'<div class="segments {css}">{segments}</div>', uniform, f"the uniform meets token {token}")


def bound(limit: float, uniform: float, passed: bool) -> str:
    """Return [0, 1) with the part below `limit` marked as kept, and the pointer at the uniform."""
    inside = f'<div class="limit" style="width:calc({float(limit)!r} * 100%)">keep</div>'
    return _pointed(f'<div class="segments test">{inside}</div>', uniform, "kept" if passed else "rejected")


def _pointed(bar: str, uniform: float, words: str) -> str:
    about = f"u = {float(uniform):.4f}: {words}"
    return (
        f'<div class="pointed" role="img" aria-label="{about}">{bar}'
        f'<span class="pointer" style="left:calc({float(uniform)!r} * 100%)" title="u = {float(uniform)!r}">'
        "</span></div>"
    )
