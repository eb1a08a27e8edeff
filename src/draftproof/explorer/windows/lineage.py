"""Window 1: from rejection sampling to block verification in five steps, each the premise of the next."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from draftproof.explorer.ancestry import DRAWN, blocks_of, classic_of, retried, same_draws
from draftproof.explorer.bench import Bench
from draftproof.explorer.charts import chart, line, lines, show
from draftproof.explorer.controls import mark
from draftproof.explorer.frame import Window, action, markup
from draftproof.explorer.tables import Cell, number, table

__all__ = ["WINDOW"]

SHOWN = 12
SPHERES = ("rejection sampling", "a draft proposes", "the residual repairs", "many in one pass", "a block decides")


def _build(bench: Bench) -> None:
    with ui.element("div").classes("spheres").props('role="group" aria-label="five steps"'):
        spheres = [_sphere(bench, i, name) for i, name in enumerate(SPHERES, 1)]
    shown, curve = (
        markup(css="demonstration"),
        chart("Lines: tokens a pass over K, by the token rule and by the block rule", "chart low"),
    )

    def refresh() -> None:
        for i, sphere in enumerate(spheres, 1):
            mark(sphere, i == bench.state.lineage)
        shown.set_content(_DEMONSTRATIONS[bench.state.lineage - 1](bench))
        blocks = bench.state.lineage >= 4
        curve.set_visibility(blocks)
        if blocks:
            show(curve, _curve(bench))

    bench.watch(refresh)


def _sphere(bench: Bench, i: int, name: str) -> ui.button:
    sphere = action(f"{i}", lambda: bench.change(lineage=i), "sphere", f"step {i}: {name}")
    return sphere.props(f'data-sphere="{i}"')


def _rejection(bench: Bench) -> str:
    envelope, share, chances = classic_of(bench.state)
    drawn = same_draws(bench.state)
    rows = [[token, chance] for token, chance in enumerate(chances.tolist())]
    if share == 0:
        impossible = "<p class='moved'>✗ q lacks a token of p: no M is large enough, and nothing is ever kept.</p>"
    else:
        impossible = ""
    return (
        "<h3>1 rejection sampling</h3><p>Draw x from q, keep it with probability p(x) / (M q(x)), else throw it away "
        "and begin again. M must lift q above p everywhere.</p>"
        f"{impossible}<p>M = {number(envelope)}, so 1/M = <b data-number='kept-share'>{number(share)}</b> of the "
        f"proposals are kept. Of {DRAWN} of them <b data-number='classic-tokens'>{drawn.classic_tokens}</b> become "
        "tokens here; of the others nothing comes.</p>"
        + table("rejection", ("token", "kept with p/(Mq)"), rows, "How often rejection sampling keeps each token")
    )


def _draft(bench: Bench) -> str:
    law = retried(bench.state)
    numbers = bench.numbers
    words = (
        "<h3>2 a draft proposes</h3><p>Let the cheap model be q, and do without M: keep x with min(1, p(x)/q(x)). More "
        f"is kept, Σ min(p, q) = {number(numbers.overlap)} instead of {number(classic_of(bench.state)[1])}. But to "
        "retry after a rejection is wrong now:</p>"
    )
    if law is None:
        return words + "<p class='moved'>✗ the laws share no token: one would retry for ever.</p>"
    rows = [
        [token, p, Cell(got, "" if got == p else "moved")]
        for token, (p, got) in enumerate(zip(numbers.p.tolist(), law.tolist(), strict=True))
    ]
    return words + table("retrying", ("token", "p", "emitted by retrying"), rows, "What retrying emits")


def _residual(bench: Bench) -> str:
    drawn = same_draws(bench.state)
    parts = (drawn.proposals, drawn.uniforms, drawn.classic, drawn.kept, drawn.emitted)
    rows: list[list[Any]] = []
    for i, (x, u, classic, kept, emitted) in enumerate(zip(*(part.tolist() for part in parts), strict=True)):
        source = "kept" if kept else "residual"
        rows.append([i, x, u, Cell(x if classic else "nothing", "" if classic else "faint"), Cell(emitted, "", source)])
    return (
        "<h3>3 the residual repairs</h3><p>After a rejection do not begin again: emit from norm(max(0, p − q)). That "
        "is just what was missing, and every proposal brings a token.</p>"
        f"<p>Of {DRAWN} proposals with the same uniforms rejection sampling makes <b>{drawn.classic_tokens}</b> "
        f"tokens, speculation <b>{len(drawn.emitted)}</b>: <b data-number='kept-tokens'>{drawn.kept_tokens}</b> kept, "
        "the others repaired.</p>"
        + table("same-draws", ("draw", "x", "u", "classic", "speculative"), rows[:SHOWN], "Both samplers, same draws")
    )


def _pass(bench: Bench) -> str:
    rows = [[k, token] for k, token, _ in blocks_of(bench.state)]
    return (
        "<h3>4 many in one pass</h3><p>The target reads K drafted tokens at once, for little more than one. Tests run "
        "along them until the first rejection; whatever happens, one token more is emitted.</p>"
        + table("passes", ("K", "tokens a pass, token rule"), rows, "Tokens a pass")
    )


def _block(bench: Bench) -> str:
    rows = [list(row) for row in blocks_of(bench.state)]
    return (
        "<h3>5 a block decides</h3><p>To test token by token wastes a little: a token that p likes more than q cannot "
        "make up for one it likes less. Judged together they keep as many or more, and the law is still p's.</p>"
        + table("blocks", ("K", "token rule", "block rule"), rows, "Tokens a pass by both rules")
    )


_DEMONSTRATIONS: tuple[Callable[[Bench], str], ...] = (_rejection, _draft, _residual, _pass, _block)


def _curve(bench: Bench) -> dict[str, Any]:
    found = blocks_of(bench.state)
    series = [line("token rule", [(k, token) for k, token, _ in found], "var(--p)")]
    if bench.state.lineage == len(SPHERES):
        series.append(line("block rule", [(k, block) for k, _, block in found], "var(--emitted)", symbol="rect"))
    options = lines(series, {"min": 1, "max": found[-1][0], "name": "K"}, {"scale": True})
    options["grid"] |= {"bottom": 18}
    return options


WINDOW = Window(1, "Lineage", "blue", _build)
