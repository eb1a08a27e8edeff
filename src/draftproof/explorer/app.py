"""The page: blue team on the left, tokens down the centre, red team on the right; under them the real thing.

In: the query of a link. Out: a page of its own for every browser. It holds no number and shares nothing.
"""

from collections.abc import Sequence
from pathlib import Path

from nicegui import ui

from draftproof.explorer.bench import Bench
from draftproof.explorer.frame import TEAMS, Team, Window, open_window
from draftproof.explorer.header import header
from draftproof.explorer.state import state_of
from draftproof.explorer.windows import (
    claims,
    draft,
    economics,
    engine,
    generation,
    identity,
    laws,
    lineage,
    output,
    redteam,
    witness,
)
from draftproof.records import Trace

__all__ = ["page"]

STYLE = Path(__file__).with_name("style.css")
COLUMNS: dict[Team, Sequence[Window]] = {
    "blue": (identity.WINDOW, lineage.WINDOW, witness.WINDOW),
    "engine": (laws.WINDOW, draft.WINDOW, engine.WINDOW, output.WINDOW),
    "red": (redteam.WINDOW, claims.WINDOW, economics.WINDOW),
}
"""Maps a team to its windows, from top to bottom."""
BELOW: Sequence[Window] = (generation.WINDOW,)


def page(measurements: Path, trace: Trace | None) -> None:
    """Build the page for the browser that asks.

    Args:
        measurements: folder of stored measurements.
        trace: a saved generation to show, if there is one.
    """
    client = ui.context.client
    query = client.request.query_params if client.request else {}
    state, refused = state_of(query)
    bench = Bench(state, client, measurements, trace)
    bench.refusal = f"Refused: {'; '.join(refused)}" if refused else ""
    ui.add_css(STYLE)
    header(bench)
    with ui.element("main").classes("page"):
        for team, windows in COLUMNS.items():
            with ui.element("div").classes(f"lane {team}"):
                _heading(team)
                _fill(bench, windows)
        with ui.element("div").classes("below"):
            _fill(bench, BELOW)
    bench.refresh()


def _heading(team: Team) -> None:
    sign, words = TEAMS[team]
    ui.html(f"<p class='team team-{team}'>{sign} {words}</p>", sanitize=False)


def _fill(bench: Bench, windows: Sequence[Window]) -> None:
    for window in windows:
        with open_window(window):
            window.build(bench)
