"""What all windows look like: a number, a title, a team, a foldable explanation. In: words. Out: elements."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from nicegui import ui

from draftproof.explorer.bench import Bench
from draftproof.records import Conclusion, Finding

__all__ = ["Team", "Window", "action", "badge", "busy", "markup", "open_window"]

Team = Literal["blue", "red", "engine"]
TEAMS: dict[Team, tuple[str, str]] = {
    "blue": ("◆", "blue team: builds and defends"),
    "red": ("▲", "red team: tries to break it"),
    "engine": ("●", "the engine"),
}
"""Maps a team to its sign and its words: colour is never the only one."""
VERDICTS = {
    Conclusion.LOSSLESS: ("lossless", "✓"),
    Conclusion.LOSSY: ("lossy", "✗"),
    Conclusion.WASTEFUL: ("wasteful", "!"),
    Conclusion.UNDECIDED: ("undecided", "?"),
}


@dataclass(frozen=True)
class Window:
    """One window of the page.

    Args:
        number: as the document numbers it.
        title: a few words.
        team: whose it is.
        build: fills it, and leaves with the bench what is to be refreshed.
    """

    number: int
    title: str
    team: Team
    build: Callable[[Bench], None]


@contextmanager
def open_window(window: Window) -> Iterator[None]:
    """Frame what is built inside."""
    sign, words = TEAMS[window.team]
    section = ui.element("section").classes(f"window team-{window.team}")
    section.props(f'id="w{window.number}" aria-labelledby="w{window.number}-title"')
    with section:
        with ui.element("header"):
            markup(f'<span class="sign" title="{words}" aria-label="{words}">{sign}</span>')
            markup(f'<h2 id="w{window.number}-title"><span class="ordinal">{window.number}</span> {window.title}</h2>')
        yield


def markup(content: str = "", css: str = "") -> ui.html:
    """Return HTML of our own making: every foreign word in it is escaped."""
    return ui.html(content, sanitize=False).classes(css)


def action(label: str, do: Callable[[], object], css: str = "", about: str = "") -> ui.button:
    """Return a button; `about` is told by its tooltip, and is its name where the label is a sign."""
    button = ui.button(label, on_click=do, color=None).props("no-caps dense unelevated").classes(f"action {css}")
    if about:
        button.props["title"] = about
        if not any(letter.isalpha() for letter in label):
            button.props["aria-label"] = about
    return button


def badge(finding: Finding) -> str:
    """Return a verdict as HTML: a sign, a word, a colour."""
    css, sign = VERDICTS[finding.verdict]
    return f'<span class="verdict {css}" data-verdict="{finding.verdict}">{sign} {finding.verdict}</span>'


def busy(words: str) -> str:
    """Return what stands where a result will be."""
    return f'<span class="busy" role="status">◌ {words}</span>'
