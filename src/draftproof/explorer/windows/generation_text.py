"""The text of window 10 as it comes, a tint and an underline for each token, and beside it a column for each pass."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from nicegui import ui

from draftproof.explorer.frame import markup
from draftproof.explorer.looking import ORIGINS, Place, namer, places
from draftproof.models.tokenizer import Tokenizer
from draftproof.records import PassRecord

__all__ = ["Sheet"]


class Sheet:
    """Text and columns on the page; new passes are added, what is there is not sent again.

    Args:
        choose: called with the number of the token that somebody clicks, or the first of the pass.
    """

    def __init__(self, choose: Callable[[int], None]) -> None:
        markup(_LEGEND, "legend")
        self._prompt = markup(css="prompt-text")
        self._text = ui.element("div").classes("generated").props('id="generated" aria-label="generated text"')
        markup("<h3>Pass by pass</h3>")
        self._passes = ui.element("div").classes("passes").props('id="passes" aria-label="passes"')
        self._looked = markup()
        for place in (self._text, self._passes):
            for event in ("click", "keydown.enter"):
                place.on(event, lambda said: choose(int(said.args)), js_handler=_CLOSEST)
        self.clear(None, "")

    def clear(self, tokenizer: Tokenizer | None, prompt: str) -> None:
        """Begin a text after this prompt."""
        self._text.clear()
        self._passes.clear()
        self._prompt.set_content(f"<b>prompt</b> {escape(prompt)}" if prompt else "")
        self._piece = tokenizer.stream() if tokenizer is not None else _numbered
        self._name, self._decode = namer(tokenizer), tokenizer.decode if tokenizer else None
        self._tokens, self._written = list[int](), 0
        self.number = 0
        """How many passes are shown."""

    def add(self, records: Sequence[PassRecord], paths: Sequence[Sequence[int]]) -> None:
        """Show more passes, of each the drafted nodes that it kept."""
        if not records:
            return
        spans, columns = list[str](), list[str]()
        for record, path in zip(records, paths, strict=True):
            columns.append(_column(record, path, self.number, len(self._tokens), self._name))
            spans += [self._span(place) for place in places([record])]
            self.number += 1
        with self._text:
            ui.html("".join(spans), sanitize=False, tag="span")
        with self._passes:
            ui.html("".join(columns), sanitize=False, tag="span").classes("columns")

    def finish(self) -> None:
        """Show what could not be shown as it came: bytes that never became a character."""
        rest = self._decode(_sane(self._tokens))[self._written :] if self._decode else ""
        if rest:
            with self._text:
                ui.html(escape(rest), sanitize=False, tag="span")

    def point_at(self, index: int) -> None:
        """Mark the token that is looked at."""
        self._looked.set_content(f'<style>#w10 [data-token="{index}"] {{ outline: 2px solid var(--blue); }}</style>')

    def _span(self, place: Place) -> str:
        index, piece = len(self._tokens), self._said(place.token)
        self._tokens.append(place.token)
        self._written += len(piece)
        css = f"tok {place.origin}{' unseen' if not piece else ' newline' if piece.strip(' ') == chr(10) else ''}"
        about = escape(f"token {index}, pass {self.number}, {ORIGINS[place.origin]}: {self._name(place.token)}")
        return (
            f'<span class="{css}" data-token="{index}" data-id="{place.token}" data-origin="{place.origin}" '
            f'tabindex="0" role="button" title="{about}">{escape(piece)}</span>'
        )

    def _said(self, token: int) -> str:
        try:
            return self._piece(token)
        except Exception:  # noqa: BLE001  a tampered engine emits ids that no tokenizer takes
            return ""


def _column(record: PassRecord, path: Sequence[int], number: int, first: int, name: Callable[[int], str]) -> str:
    last = next((place.origin for place in places([record]) if place.within == record.accepted), "cut")
    cells = "".join(f'<i class="cell {"kept" if i in path else "refused"}"></i>' for i in range(len(record.drafted)))
    expected = "" if record.expected_accepted is None else f", expected {record.expected_accepted:.3f}"
    drafted = " ".join(map(name, record.drafted)) or "nothing"
    words = _ENDS[last]
    about = escape(
        f"pass {number}: drafted {len(record.drafted)} ({drafted}), kept {record.accepted}{expected}; {words}; "
        f"emitted {len(record.emitted)}"
    )
    return (
        f'<span class="pass" data-pass="{number}" data-first="{first}" tabindex="0" role="button" title="{about}">'
        f'{cells}<i class="cell {last}"></i><b>{len(record.emitted)}</b></span>'
    )


def _numbered(token: int) -> str:
    return f"#{token} "


def _sane(tokens: Sequence[int]) -> list[int]:
    return [token for token in tokens if 0 <= token < 2**32]


_ENDS = ORIGINS | {"accepted": "the text ends inside", "cut": "the text ends inside"}
_LEGEND = (
    "".join(f'<span class="tok {origin}">{escape(words)}</span>' for origin, words in ORIGINS.items())
    + "<span>click a token, or press Enter on it</span>"
)
_CLOSEST: Any = (
    "(event) => { const at = event.target.closest('[data-token], [data-first]'); "
    "if (at) emit(at.dataset.token ?? at.dataset.first) }"
)
