"""Window 9: three things that are said of speculative decoding, each to be tried: two are cut, one is corrected."""

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

from nicegui import ui

from draftproof.explorer.bench import Bench
from draftproof.explorer.controls import mark
from draftproof.explorer.demonstrations import (
    ALIKE_BUT_SLOW,
    DRAFT_AGAIN,
    TARGET_AGAIN,
    UNLIKE,
    UNLIKE_BUT_CHEAP,
    shows,
    situation,
)
from draftproof.explorer.exactly import Exactly, exactly
from draftproof.explorer.frame import Window, action, badge, busy, markup
from draftproof.explorer.prospect import Prospect, costs_by_hand, prospect
from draftproof.explorer.results import laws_of
from draftproof.explorer.shelf import Shelf
from draftproof.explorer.state import State
from draftproof.explorer.tables import number, table
from draftproof.records import Conclusion

__all__ = ["WINDOW"]

CUT, KEPT = ("✗ cut", "cut"), ("✓ kept, corrected", "kept")
"""Verdicts: words with a sign, and their style."""


def _build(bench: Bench) -> None:
    markup("<p>Three sentences that one hears. Each button sets the page to a case; the numbers are that case's.</p>")
    _approximation(bench)
    _wasted(bench)
    _better(bench)


@contextmanager
def _claim(ordinal: int, said: str, verdict: tuple[str, str], why: str) -> Iterator[None]:
    words, style = verdict
    with ui.element("article").classes("claim").props(f'data-claim="{ordinal}" aria-labelledby="claim-{ordinal}"'):
        markup(f'<h3 id="claim-{ordinal}">“{said}” <span class="ruling {style}">{words}</span></h3><p>{why}</p>')
        yield


def _approximation(bench: Bench) -> None:
    why = (
        "Nothing is approximated. What a draft gets wrong is rejected and repaired, and both ways to a token together "
        "give the target's probability: the worse the draft, the more there is to repair, and still it is p."
    )
    with _claim(1, "It is a faster approximation of the big model.", CUT, why):
        with ui.row().classes("choices"):
            _demonstration(bench, "an unlike draft", UNLIKE)
            button = action("in fractions", lambda: None, about="in fractions: the engine, integrated exactly")
        distance = markup()
        _in_fractions(bench, button)

    def refresh() -> None:
        finding = bench.numbers.emission.finding
        reason = f" <span class='faint'>{escape(finding.reason)}</span>" if finding.max_deviation is None else ""
        tamper = ", and a tamper is on" if bench.state.tamper else ""
        distance.set_content(
            f"<p>{badge(finding)} max |P<sub>emit</sub> &minus; p| = <b data-number='claim-deviation'>"
            f"{number(finding.max_deviation)}</b>, where Σ min(p, q) = {number(bench.numbers.overlap)}{tamper}"
            f"{reason}</p>"
        )

    bench.watch(refresh)


def _in_fractions(bench: Bench, button: ui.button) -> None:
    """Build where the exact answer stands that the button asks for."""
    place = markup(css="exact-claim").props('role="status"')
    asked: list[State] = []

    def ask() -> None:
        asked[:] = [state := bench.state]
        place.set_content(busy("integrating in fractions"))
        button.disable()
        bench.work(exactly, state, then=lambda found: answer(state, found), process=True)

    def answer(state: State, found: Exactly) -> None:
        button.enable()
        if asked == [state]:
            place.set_content(_exact(found))

    def refresh() -> None:
        if asked and asked[0] != bench.state:
            asked.clear()
            place.set_content("")

    button.on_click(ask)
    bench.watch(refresh)


def _exact(found: Exactly) -> str:
    finding = found.finding
    if finding.verdict is Conclusion.LOSSLESS:
        return f"<p>{badge(finding)} equal in rational arithmetic, token by token: no tolerance is needed</p>"
    if finding.max_deviation is None:
        return f"<p>{badge(finding)} {escape(finding.reason)}</p>"
    apart = f"by {number(finding.max_deviation)} at most, total variation {number(finding.total_variation)}"
    return f"<p>{badge(finding)} not equal in rational arithmetic: {apart}</p>"


def _wasted(bench: Bench) -> None:
    why = (
        "A rejection is half of the proof: it tells that too much of q was tried, and the residual max(0, p &minus; q) "
        "puts back exactly what is missing. A second draw from q, or from p itself, puts back something else."
    )
    with _claim(2, "Rejected tokens are wasted work, so resample from q.", CUT, why):
        with ui.row().classes("choices"):
            _demonstration(bench, "resample from q", DRAFT_AGAIN, {"tamper": ""})
            _demonstration(bench, "… or from p", TARGET_AGAIN, {"tamper": ""})
        drift = markup()

    def refresh() -> None:
        finding, rejected = bench.numbers.emission.finding, float(bench.numbers.terms.rejected[0])
        engine = f"With {escape(bench.state.tamper)}" if bench.state.tamper else "With the residual, as shipped"
        drift.set_content(
            f"<p>The token rule rejects {number(rejected)} of the drafts, and then all depends on the next draw. "
            f"{engine}: max deviation <b data-number='claim-drift'>{number(finding.max_deviation)}</b>, total "
            f"variation <b data-number='claim-variation'>{number(finding.total_variation)}</b> {badge(finding)}</p>"
        )

    bench.watch(refresh)


def _better(bench: Bench) -> None:
    why = (
        "A draft that agrees more is accepted more. But each of its steps is paid for: speed is tokens a pass over the "
        "cost of a pass, and a slower draft can lose more below the line than it wins above."
    )
    with _claim(3, "A better draft always means a bigger speed-up.", KEPT, why):
        with ui.row().classes("choices"):
            _demonstration(bench, "better, slower draft", ALIKE_BUT_SLOW)
            _demonstration(bench, "cheaper, worse draft", UNLIKE_BUT_CHEAP)
        both = markup()
    shelf = Shelf(bench.measurements)
    fixed = {"cheaper, worse": _by_hand(UNLIKE_BUT_CHEAP), "better, slower": _by_hand(ALIKE_BUT_SLOW)}

    def refresh() -> None:
        state, numbers = bench.state, bench.numbers
        here = prospect(state.rule, numbers.p, numbers.q, shelf.costs_of(state))
        rows = [_row(name, found) for name, found in (fixed | {"this page now": here}).items()]
        both.set_content(
            table(
                "drafts", _COLUMNS, rows, "Draft step c, acceptance, best K and speed-up of two drafts and of this page"
            )
        )

    bench.watch(refresh)


_COLUMNS = ("draft", "c", "Σ min", "K", "speed-up")


def _by_hand(changes: dict[str, Any]) -> Prospect:
    state = situation(changes)
    return prospect(state.rule, *laws_of(state), costs_by_hand(state))


def _row(name: str, found: Prospect) -> list[Any]:
    return [name, found.costs.draft, found.overlap, found.length, found.speedup]


def _demonstration(bench: Bench, label: str, changes: dict[str, Any], back: dict[str, Any] | None = None) -> None:
    """Build a button that sets the page to a case, and says when the page shows it; `back` is what it then undoes."""

    def do() -> None:
        bench.change(**(back if back is not None and shows(bench.state, changes) else changes))

    button = action(label, do)
    button.props["data-demonstration"] = label

    def refresh() -> None:
        on = shows(bench.state, changes)
        button.set_text(f"● {label}: shown now" if on else label)
        mark(button, on)

    bench.watch(refresh)


WINDOW = Window(9, "Claims", "red", _build)
