"""Window 8: the gallery of tampers. Each is a real engine with one part replaced; switched on, it runs everywhere."""

from collections.abc import Callable
from html import escape
from itertools import groupby
from typing import Any

from nicegui import ui

from draftproof.explorer.bench import Bench
from draftproof.explorer.controls import mark
from draftproof.explorer.frame import Window, action, badge, busy, markup
from draftproof.explorer.results import tamper_of
from draftproof.explorer.tables import Cell, number, table
from draftproof.records import Conclusion
from draftproof.redteam.base import Tamper
from draftproof.redteam.campaign import judge_named
from draftproof.redteam.scorecard import Score
from draftproof.redteam.tampers.catalogue import TAMPERS

__all__ = ["WINDOW"]

FIRST = next(iter(TAMPERS))
"""The document's own."""
FAMILIES = {
    family: [tamper.name for tamper in members]
    for family, members in groupby(
        sorted(TAMPERS.values(), key=lambda tamper: tamper.family), key=lambda tamper: tamper.family
    )
}


def _build(bench: Bench) -> None:
    markup(
        "<p>On rejection, emit from p itself instead of the residual. It looks right, as p is what must come out; and "
        "it counts twice what was accepted already. Switch it on and look at the badge.</p>"
    ).classes("explains")
    first = action("emit raw p on rejection", lambda: bench.switch(tamper=FIRST), "main first")
    bench.watch(lambda: mark(first, bench.state.tamper == FIRST))
    shown, drift, caught = markup(css="tamper"), markup(), markup()
    _gallery(bench)

    def refresh() -> None:
        tamper = tamper_of(bench.state)
        shown.set_content(_story(tamper))
        drift.set_content(_drift(bench) if tamper else "")
        caught.set_content(_caught(bench.scores.get(tamper.name)) if tamper else "")

    bench.watch(refresh)
    bench.watch(_judging(bench))


def _judging(bench: Bench) -> Callable[[], None]:
    """Return what asks all witnesses about a tamper as soon as it is switched on, once."""
    asked: set[str] = set()

    def refresh() -> None:
        name = bench.state.tamper
        if name and name not in asked:
            asked.add(name)
            bench.work(judge_named, name, then=answer, process=True)

    def answer(score: Score) -> None:
        bench.scores[score.name] = score
        bench.refresh()

    return refresh


def _gallery(bench: Bench) -> None:
    with ui.row().classes("choices"):
        family = ui.select(_families(), with_input=False, label="family").classes("family")
        family.props('dense options-dense data-select="family"')
        every = ui.select(list(TAMPERS), with_input=True, label="or find one by name").classes("family")
        every.props('dense options-dense data-select="tamper"')
    names = ui.element("div").classes("choices gallery").props('role="group" aria-label="tampers of this family"')
    buttons: dict[str, ui.button] = {}

    def fill() -> None:
        names.clear()
        buttons.clear()
        with names:
            for name in FAMILIES[bench.state.family]:
                buttons[name] = _switch(bench, TAMPERS[name])

    def refresh() -> None:
        family.set_value(bench.state.family)
        every.set_value(bench.state.tamper or None)
        if set(buttons) != set(FAMILIES[bench.state.family]):
            fill()
        for name, button in buttons.items():
            mark(button, name == bench.state.tamper)

    def choose(event: Any) -> None:
        bench.change(family=list(FAMILIES)[event.args["value"]])

    def find(event: Any) -> None:
        name = list(TAMPERS)[event.args["value"]] if event.args else ""
        bench.switch(tamper=name, family=TAMPERS[name].family if name else bench.state.family)

    family.on("update:model-value", choose)
    every.on("update:model-value", find)
    bench.watch(refresh)


def _families() -> dict[str, str]:
    return {family: f"{family} ({len(names)})" for family, names in FAMILIES.items()}


def _switch(bench: Bench, tamper: Tamper) -> ui.button:
    sign = "✓ control:" if tamper.harmless else "▲"
    name = tamper.name

    def flip() -> None:
        bench.switch(tamper="" if bench.state.tamper == name else name)

    button = action(f"{sign} {name}", flip, "switch", escape(tamper.story))
    return button.props(f'data-tamper="{name}"')


def _story(tamper: Tamper | None) -> str:
    if tamper is None:
        return "<p>No tamper is on: the engine is as shipped.</p>"
    kind = "a control: it looks wrong and loses nothing" if tamper.harmless else f"a tamper of {tamper.family}"
    return (
        f"<h3>{escape(tamper.name)}</h3><p>{escape(kind)}; it pretends to be the rule "
        f"<b>{escape(tamper.rule.name)}</b>.</p><p>{escape(tamper.story)}</p>"
        f"<p class='faint'>seen in: {escape(tamper.seen_in)}</p>"
    )


def _drift(bench: Bench) -> str:
    finding = bench.numbers.emission.finding
    return (
        f"<p>drift for the laws at hand: max deviation <b data-number='drift'>{number(finding.max_deviation)}</b>, "
        f"total variation <b data-number='variation'>{number(finding.total_variation)}</b> {badge(finding)}</p>"
    )


def _caught(score: Score | None) -> str:
    if score is None:
        return busy("all witnesses are looking")
    rows = [
        [finding.witness, Cell(str(finding.verdict), _style(finding.verdict)), Cell(finding.reason, "words")]
        for finding in score.findings
    ]
    if score.caught_by:
        words = f"✗ caught by {', '.join(score.caught_by)}"
    else:
        words = "✓ no witness finds fault" + (", as it should be" if score.harmless else ": it escaped")
    return f"<p data-number='caught'>{escape(words)}</p>" + table(
        "witnesses", ("witness", "verdict", "what it says"), rows, "What each witness says about this engine"
    )


def _style(verdict: Conclusion) -> str:
    return "moved" if verdict is Conclusion.LOSSY else ""


WINDOW = Window(8, "The red team", "red", _build)
