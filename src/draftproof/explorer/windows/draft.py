"""Window 3: the draft samples a token from q, shown as a pointer on the cumulative bar, and hands it up."""

from draftproof.explorer.bench import Bench
from draftproof.explorer.decision import decision_of
from draftproof.explorer.frame import Window, markup
from draftproof.explorer.pointers import cumulative
from draftproof.explorer.tables import number, table
from draftproof.witness.account import Step

__all__ = ["WINDOW"]


def _build(bench: Bench) -> None:
    markup(
        "<p>The draft lays its law <b class='q'>q</b> out from 0 to 1; a uniform number points at a token, and that "
        "token goes up to the engine. The draft never decides what is emitted.</p>"
    ).classes("explains")
    shown = markup()

    def refresh() -> None:
        drafts = [step for step in decision_of(bench.state).steps if step.act == "draft"]
        if not drafts:
            shown.set_content("<p>This engine drafts a tree, or broke down: no single draft to show.</p>")
        elif bench.state.step == 0:
            shown.set_content("<p>Nothing is drafted yet: draw a token in window 4.</p>")
        else:
            shown.set_content("".join(_drawn(step) for step in drafts[: bench.state.step]))

    bench.watch(refresh)


def _drawn(step: Step) -> str:
    words = f"x<sub>{step.depth}</sub> = token <b data-number='drafted{step.depth}'>{step.token}</b>"
    if step.law is None:
        return ""
    if step.uniform is not None:
        return f"<p>u = {number(step.uniform)} points at {words}</p>" + cumulative(
            step.law, step.uniform, step.token, "q"
        )
    if step.exponentials is None:
        return ""
    rows = [[token, *pair] for token, pair in enumerate(zip(step.law, step.exponentials, strict=True))]
    race = table("race", ("token", "q", "noise E"), rows, "The race of the coupled rule")
    return f"<p>a race, won by the largest q/E: {words}</p>{race}"


WINDOW = Window(3, "The draft", "engine", _build)
