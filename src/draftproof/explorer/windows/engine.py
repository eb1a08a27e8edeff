"""Window 4: accept or reject. One token drawn step by step under a seed; many drawn and counted."""

from collections.abc import Callable
from functools import partial
from html import escape

from nicegui import ui

from draftproof.explorer.bench import Bench
from draftproof.explorer.controls import entry, mark, slide
from draftproof.explorer.decision import Decision, decision_of
from draftproof.explorer.frame import Window, action, markup
from draftproof.explorer.laws import whole
from draftproof.explorer.pointers import bound, cumulative
from draftproof.explorer.results import Numbers
from draftproof.explorer.state import LONGEST_BLOCK
from draftproof.explorer.tables import Cell, table
from draftproof.explorer.telling import told
from draftproof.explorer.windows.draws import many
from draftproof.rules.catalogue import CHAIN_RULES
from draftproof.witness.account import Step
from draftproof.witness.identity import TOLERANCE

__all__ = ["WINDOW"]

PACE = 0.9
"""Seconds a step is shown when playing."""


def _build(bench: Bench) -> None:
    markup(
        "<p>The drafted token x meets a uniform u: while u &lt; min(1, p(x)/q(x)) it stays; else it goes, and the "
        "residual speaks. The seed fixes every number, so the same link plays the same decision.</p>"
    ).classes("explains")
    _controls(bench)
    steps, rows = markup(css="steps").props('aria-live="polite"'), markup()

    def refresh() -> None:
        steps.set_content(_steps(decision_of(bench.state), bench.state.step, bench.numbers))
        rows.set_content(_rows(bench.numbers))

    bench.watch(refresh)
    many(bench)
    _advanced(bench)


def _controls(bench: Bench) -> None:
    def advance() -> None:
        if bench.state.step >= decision_of(bench.state).last:
            playing.deactivate()
        else:
            bench.change(step=bench.state.step + 1)

    playing = ui.timer(PACE, advance, active=False)

    def draw() -> None:
        new = bench.state.draw + (1 if bench.state.step else 0)
        bench.change(draw=new, step=1)
        playing.activate()

    def go(step: Callable[[], int]) -> Callable[[], None]:
        def move() -> None:
            playing.deactivate()
            bench.change(step=max(0, min(step(), decision_of(bench.state).last)))

        return move

    with ui.row().classes("choices").props('role="group" aria-label="one decision, step by step"'):
        action("draw one token", draw, "main")
        action("◀ back", go(lambda: bench.state.step - 1), about="one step back")
        action("forward ▶", go(lambda: bench.state.step + 1), about="one step forward")
        action("▶▶ play", playing.activate, about="play the steps")
        action("to the end", go(lambda: decision_of(bench.state).last), about="all steps")
        _number(bench, "seed", "seed")
        _number(bench, "draw", "draw number")


def _number(bench: Bench, name: str, words: str) -> None:
    def enter(text: str) -> None:
        bench.attempt(lambda: {name: whole(text, name)})

    with ui.element("label").classes("inline"):
        markup(words)
        props = f'type="text" inputmode="numeric" class="law-field" data-field="{name}"'
        bench.watch(entry(lambda: str(getattr(bench.state, name)), enter, props))


def _steps(decision: Decision, shown: int, numbers: Numbers) -> str:
    if decision.done is None:
        return f"<p class='moved'>✗ the engine broke down: {escape(decision.broke)}</p>"
    emitted = ", ".join(map(str, decision.done.emitted))
    if not decision.steps:
        return f"<p>a tree was drafted: {list(decision.done.drafted)}; emitted: token {emitted}</p>"
    if shown == 0:
        return "<p>Press <i>draw one token</i>.</p>"
    items = "".join(_item(step, numbers, i == shown - 1) for i, step in enumerate(decision.steps[:shown]))
    return f"<ol>{items}</ol>" + (_outcome(decision, emitted) if shown >= decision.last else "")


def _item(step: Step, numbers: Numbers, current: bool) -> str:
    css = "current" if current else ""
    words = told(step, numbers.p, numbers.q, "token {}".format)
    return f'<li class="{css}" data-act="{step.act}">{words}{_bar(step)}</li>'


def _bar(step: Step) -> str:
    if step.uniform is None:
        return ""
    if step.law is None:
        return bound(float(step.bound or 0), step.uniform, bool(step.passed))
    return cumulative(step.law, step.uniform, step.token, _LAWS[step.act])


_LAWS = {"draft": "q", "residual": "residual", "bonus": "p", "own": "p"}


def _outcome(decision: Decision, emitted: str) -> str:
    kept = len(decision.done.path) if decision.done else 0
    words = (
        f"<p data-number='outcome'>emitted: token <b data-number='emitted'>{emitted}</b>; "
        f"kept {kept} of what was drafted</p>"
    )
    if decision.difference:
        words += f"<p class='moved'>✗ this engine leaves the rule here: it {escape(decision.difference)}</p>"
    return words


def _rows(numbers: Numbers) -> str:
    emitted = numbers.emitted.tolist() if numbers.emitted is not None else [None] * len(numbers.p)
    gaps = numbers.emission.difference
    parts = zip(numbers.p.tolist(), numbers.q.tolist(), numbers.terms.kept.tolist(), emitted, strict=True)
    rows = [
        [token, p, q, kept, Cell(out, "moved" if gaps is not None and abs(gaps[token]) > TOLERANCE else "")]
        for token, (p, q, kept, out) in enumerate(parts)
    ]
    return table("engine", ("token", "p", "q", "accepted min(p, q)", "P_emit"), rows, "What the engine does a token")


def _advanced(bench: Bench) -> None:
    with ui.expansion("advanced: a block of K drafted tokens, and the rule").classes("more"):
        with ui.row().classes("choices").props('role="group" aria-label="rule"'):
            buttons = {name: action(name, partial(bench.change, rule=name)) for name in CHAIN_RULES}
        note = markup()
        slide(bench, "num_speculative_tokens", "K, drafted tokens a pass", 1, LONGEST_BLOCK, 1)

    def refresh() -> None:
        for name, button in buttons.items():
            mark(button, name == bench.state.rule)
            button.set_enabled(not bench.state.tamper)
        note.set_content("<p>A tamper is on, which has a rule of its own.</p>" if bench.state.tamper else "")

    bench.watch(refresh)


WINDOW = Window(4, "The engine", "engine", _build)
