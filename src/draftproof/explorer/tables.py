"""Tables and numbers as HTML: rounded to read, whole to copy and to test.

In: numbers and words. Out: markup, escaped. Every number carries its full value in `data-value` and in its tooltip.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

__all__ = ["Cell", "number", "table", "term"]


class Cell(NamedTuple):
    """A cell with a style of its own."""

    value: Any
    style: str = ""
    note: str = ""
    """A word beside it, so that its colour is not the only sign."""


def number(value: float | None, digits: int = 4) -> str:
    """Return a number, rounded; small ones with an exponent, none as a dash."""
    return '<span class="none">–</span>' if value is None else _data(float(value), digits)


def term(name: str, value: float) -> str:
    """Return a number that a formula is substituted with, findable by its name."""
    return _data(float(value), 4, name)


def table(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """Return a table; the first cell of a row heads it.

    Args:
        name: by which it is found, `data-table`.
        columns: headings.
        rows: cells: text, numbers or `Cell`s.
        caption: for those who hear the page.
    """
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(_cell(value, i == 0) for i, value in enumerate(row))}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class="scroll"><table data-table="{escape(name)}">{title}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(value: Any, heads: bool) -> str:
    style, note = "", ""
    if isinstance(value, Cell):
        value, style, note = value
    if isinstance(value, bool) or not isinstance(value, (int, float, type(None))):
        shown = escape(str(value))
    elif isinstance(value, int):
        shown = f'<data data-value="{value}" value="{value}">{value}</data>'
    else:
        shown = number(None if value is None else float(value))
    beside = f' <span class="note">{escape(note)}</span>' if note else ""
    css = f' class="{escape(style)}"' if style else ""
    return f'<th scope="row"{css}>{shown}{beside}</th>' if heads else f"<td{css}>{shown}{beside}</td>"


def _data(value: float, digits: int, name: str = "") -> str:
    about, css, found = (f"{name}: ", f" term {name}", f' data-term="{name}"') if name else ("", "", "")
    whole = f'data-value="{value!r}" value="{value!r}" title="{about}{value!r}"'
    return f'<data class="number{css}"{found} {whole}>{_rounded(value, digits)}</data>'


def _rounded(value: float, digits: int) -> str:
    if value == 0 or 10**-digits <= abs(value) < 10**6:
        return f"{value:.{digits}f}"
    return f"{value:.2e}"
