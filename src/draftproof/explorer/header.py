"""The bar at the top that stays in sight: the verdict, what is switched on, what was refused, light and dark.

In: a bench. Out: elements. Its last line changes with every state, so that a test knows which numbers it reads.
"""

import json
from html import escape

from nicegui import ui

from draftproof.explorer.bench import Bench
from draftproof.explorer.frame import action, badge, busy, markup
from draftproof.explorer.results import tamper_of, verdict_of
from draftproof.explorer.state import query_of
from draftproof.explorer.tables import number

__all__ = ["header"]

THEMES = {"auto": None, "light": False, "dark": True}
"""Maps a theme to what NiceGUI calls it."""
NEXT = {"auto": "dark", "dark": "light", "light": "auto"}


def header(bench: Bench) -> None:
    """Build the bar."""
    with ui.element("header").classes("bar"):
        markup("<h1>draftproof <span>explorer</span></h1>")
        verdict = markup(css="bar-verdict").props('aria-live="polite" id="badge"')
        engine = markup(css="bar-engine")
        off = action("switch off", lambda: bench.change(tamper=""), "off", "switch the tamper off")
        ui.element("div").classes("grow")
        _theme(bench)
        action("copy link", lambda: _copy(bench), about="copy a link to this page")
    refusal = markup(css="refusal").props('role="alert" id="refusal"')
    stamp = markup(css="stamp").props('id="stamp"')

    def refresh() -> None:
        verdict.set_content(_verdict(bench))
        engine.set_content(_engine(bench))
        off.set_visibility(bool(bench.state.tamper))
        refusal.set_content(f"<p>{escape(bench.refusal)}</p>" if bench.refusal else "")
        stamp.set_content(f'<span data-state="{escape(query_of(bench.state))}"></span>')

    def show_work() -> None:
        verdict.set_content(busy("running this engine"))

    bench.watch(refresh)
    bench.watch_work(show_work)


def _theme(bench: Bench) -> None:
    dark = ui.dark_mode()
    button = action("", lambda: bench.change(theme=NEXT[bench.state.theme]), about="light, dark, or as the system is")

    def refresh() -> None:
        dark.set_value(THEMES[bench.state.theme])
        button.set_text(f"theme: {bench.state.theme}")

    bench.watch(refresh)


def _verdict(bench: Bench) -> str:
    finding = verdict_of(bench.state, bench.numbers, bench.scores.get(bench.state.tamper))
    return f"{badge(finding)} max |P<sub>emit</sub> − p| {number(finding.max_deviation)}"


def _engine(bench: Bench) -> str:
    tamper = tamper_of(bench.state)
    if tamper is None:
        return f"engine as shipped, rule <b>{bench.state.rule}</b>"
    kind = "control" if tamper.harmless else "tamper"
    return f"▲ {kind} on: <b>{escape(tamper.name)}</b>"


async def _copy(bench: Bench) -> None:
    copied = await ui.run_javascript(f"{_COPY}({json.dumps(bench.link)})")
    ui.notify("the link is copied" if copied else "this browser lets no page copy: take the link from the address bar")


_COPY = """(async link => {
    try { await navigator.clipboard.writeText(new URL(link, location.href).href); return true; }
    catch { return false; }
})"""
