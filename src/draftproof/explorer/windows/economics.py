"""Window 6: when speculation pays. The law is kept whatever the draft is; the speed is not."""

from collections.abc import Callable
from html import escape
from typing import Any

from nicegui import ui

from draftproof.explorer.bench import Bench
from draftproof.explorer.charts import chart, show
from draftproof.explorer.controls import Slider, mark
from draftproof.explorer.frame import Window, action, markup
from draftproof.explorer.prospect import Prospect, prospect
from draftproof.explorer.shelf import Shelf, Stored
from draftproof.explorer.speeds import border_chart, speed_chart
from draftproof.explorer.tables import number, table

__all__ = ["WINDOW"]

SLIDERS = {
    "draft_cost": ("draft step c", 2.0),
    "row_cost": ("a further row", 1.0),
    "overhead": ("overhead", 1.0),
}
"""Maps a setting to its words and its highest value; all are in plain passes of the target."""
NOTHING_STORED = "nothing is stored: run `draftproof measure` on this machine, then look again"


def _build(bench: Bench) -> None:
    markup(
        "<p>A poor draft never spoils the text; it spoils the speed. A pass with K drafted tokens costs K draft steps, "
        "K + 1 rows of the target and what is fixed, and lands as many tokens as the rule keeps, plus one. All costs "
        "are in plain passes, one token each.</p>"
    ).classes("explains")
    shelf = Shelf(bench.measurements)
    decision = markup().props('role="status"')
    speeds = chart("Line: speed-up over plain decoding by number of drafted tokens K, the best K marked")
    figures = markup()
    refresh_costs = _costs(bench, shelf)
    border = chart("Line: acceptance from which speculation pays, by draft cost; a diamond: where this page stands")

    def refresh() -> None:
        found = prospect(bench.state.rule, bench.numbers.p, bench.numbers.q, shelf.costs_of(bench.state))
        decision.set_content(_decision(found) + _honest(bench))
        figures.set_content(_figures(found, bench.state.rule))
        refresh_costs(found)
        show(speeds, speed_chart(found))
        show(border, border_chart(found))

    bench.watch(refresh)


def _decision(found: Prospect) -> str:
    if found.length:
        words = (
            f"speculate with K = <data data-value='{found.length}'>{found.length}</data>, {number(found.speedup, 2)}x"
        )
        return f'<p class="decision lossless" data-decision="speculate">✓ {words}</p>'
    cheaper = f"a draft step would have to cost below {number(found.paying_cost)} (now {number(found.costs.draft)})"
    surer = f"the acceptance to be above {number(found.paying_acceptance)} (now {number(found.acceptance)})"
    if found.paying_cost <= 0 and found.paying_acceptance is None:
        change = "neither a draft that costs nothing nor one that is always right would help"
    elif found.paying_cost <= 0:
        change = f"a draft that costs nothing would not help; {surer.replace('to be', 'would have to be', 1)}"
    else:
        change = (
            f"{cheaper}, or {surer}"
            if found.paying_acceptance is not None
            else f"{cheaper}: at this cost not even an acceptance of 1 is enough"
        )
    words = f"do not speculate: no length pays; {change}"
    return f'<p class="decision wasteful" data-decision="do not speculate">✗ {words}</p>'


def _honest(bench: Bench) -> str:
    if not bench.state.tamper:
        return ""
    return f"<p class='faint'>The tamper is left out here: this is the rule {escape(bench.state.rule)} as shipped.</p>"


def _figures(found: Prospect, rule: str) -> str:
    at = f"at K = {found.judged}"
    rows = [
        ["best K", found.length],
        ["speed-up at the best K", found.speedup],
        ["tokens a pass at the best K", found.tokens],
        ["acceptance Σ min(p, q)", found.overlap],
        [f"a drafted token is kept by the {rule} rule", found.acceptance],
        [f"break-even draft cost {at}", found.break_even_cost],
        [f"break-even acceptance {at}", found.break_even_acceptance],
    ]
    return table("economics", ["", "value"], rows, "What speculation gains with these laws and costs")


def _costs(bench: Bench, shelf: Shelf) -> Callable[[Prospect], None]:
    """Build where costs come from; return what refreshes it."""
    refresh_sources = _sources(bench, shelf)
    words = markup(css="measured").props('role="status"')
    with ui.row().classes("choices"):
        sliders = [_slider(bench, name) for name in SLIDERS]

    def refresh(found: Prospect) -> None:
        refresh_sources()
        stored = shelf.stored.get(bench.state.measured)
        words.set_content(_source(bench.state.measured, stored, found))
        for slide in sliders:
            slide(stored is None)

    return refresh


def _slider(bench: Bench, name: str) -> Callable[[bool], None]:
    words, high = SLIDERS[name]
    with ui.element("label").classes("setting"):
        shown = markup()
        slider = Slider(min=0, max=high, step=0.01).props(f'aria-label="{words}" data-setting="{name}"')
        slider.heard(lambda value: bench.change(**{name: value}))

    def refresh(by_hand: bool) -> None:
        value = getattr(bench.state, name)
        slider.set_value(value)
        slider.set_enabled(by_hand)
        shown.set_content(f"{words} <b>{value:g}</b>" if by_hand else f"{words}: measured, rests")

    return refresh


def _sources(bench: Bench, shelf: Shelf) -> Callable[[], None]:
    """Build the choice between costs by hand and measured ones; return what refreshes it."""
    place = ui.element("div").classes("choices sources").props('role="group" aria-label="where costs come from"')
    buttons: dict[str, ui.button] = {}
    asked: list[Any] = []

    def look() -> None:
        shelf.look()
        bench.refresh()

    def fill() -> None:
        place.clear()
        buttons.clear()
        with place:
            for spec in ("", *shelf.stored):
                buttons[spec] = action("", lambda spec=spec: bench.change(measured=spec))
                buttons[spec].props["data-measured"] = spec
            if not shelf.stored:
                action("load the measured curve of this machine", look).props('data-measured="none"').disable()
                markup(NOTHING_STORED, "note")
            action("look again", look, about="look again: read the stored measurements")

    def refresh() -> None:
        if asked != [list(shelf.stored)]:
            asked[:] = [list(shelf.stored)]
            fill()
        for spec, button in buttons.items():
            on, words = spec == bench.state.measured, f"measured: {spec}" if spec else "costs by hand"
            button.set_text(f"● {words}" if on else words)
            mark(button, on)

    return refresh


def _source(spec: str, stored: Stored | None, found: Prospect) -> str:
    if not spec:
        return ""
    if stored is None:
        return (
            f"<p class='wasteful'>! there is no stored measurement of {escape(repr(spec))}: the costs are those set by "
            "hand; `draftproof measure` with that drafter makes one</p>"
        )
    costs = found.costs
    old = "".join(f"<p class='wasteful'>! it may not hold: {escape(reason)}</p>" for reason in stored.stale)
    return (
        f"<p>Measured, {escape(spec)} for {escape(stored.about)}: a draft step costs {number(costs.draft)} plain "
        f"passes; beside drafting, a pass of 2 rows costs {number(costs.curve[1])} and one of {len(costs.curve)} rows "
        f"{number(costs.curve[-1])}, rule and overhead included. The acceptance is that of the laws at hand.</p>{old}"
    )


WINDOW = Window(6, "Economics", "red", _build)
