"""Window 10: the real thing. The shipped engine generates, pass by pass, with its certificate; a token can be asked.

It shows one generation at a time: of the engine that is switched on, or of a trace that is run again.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from draftproof.explorer.bench import Bench
from draftproof.explorer.frame import Window, action, busy, markup
from draftproof.explorer.generation import Generation, kept, prepared
from draftproof.explorer.looking import look, namer
from draftproof.explorer.replays import Opened, fitting, opened
from draftproof.explorer.windows.generation_controls import opener, settings
from draftproof.explorer.windows.generation_summary import asked, serialised, status, summary
from draftproof.explorer.windows.generation_text import Sheet
from draftproof.explorer.windows.generation_token import details, nothing
from draftproof.records import Trace

__all__ = ["WINDOW"]


def _build(bench: Bench) -> None:
    markup(
        "<p>The same engine as above, on two real models that come with the package: a target and a small draft, "
        "trained on one old book and no assistants. The text is drawn from the target's own law, whatever the draft "
        "guesses; the certificate recomputes the identity at every position as it happens.</p>"
    ).classes("explains")
    with ui.element("div").classes("generation"):
        with ui.element("div"):
            settings(bench)
            stage = _Stage(bench)
        stage.look_here()
    if bench.trace is not None:
        ui.timer(0.1, partial(stage.open, bench.trace, trusted=True), once=True)


class _Stage:
    """The generation that is shown, and the elements that show it."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._generation: Generation | None = None
        self._file: Opened | None = None
        self._busy = ""
        self._job = 0
        """Which generation was asked for last: what comes late from others is dropped."""
        self._buttons()
        self._asked, self._status = markup(), markup().props('id="generation-status"')
        self._sheet = Sheet(lambda index: bench.change(token=index))
        self._summary = markup().props('id="generation-summary"')

    def look_here(self) -> None:
        """Build the place for the token that is looked at; the bench refreshes all from now on."""
        self._details = markup(css="details").props('id="generation-token" aria-live="polite"')
        self._looked: object = None
        self._bench.watch(self._show)

    def start(self) -> None:
        """Generate with the settings and the engine of the state."""
        self._begin("loading the models", prepared, self._bench.state, then=self._play)

    def stop(self) -> None:
        """End the generation; what was generated stays."""
        if self._generation is not None:
            self._generation.stop()

    def open(self, trace: Trace, *, trusted: bool) -> None:
        """Run a trace again, or show what it says; its settings become those of the page."""
        self._bench.attempt(lambda: fitting(self._bench.state, trace))
        self._begin("loading the models", partial(opened, trusted=trusted), trace, then=self._unfold)

    def _buttons(self) -> None:
        with ui.row().classes("choices"):
            action("generate", self.start, "main").props('id="generate"')
            self._stop = action("stop", self.stop).props('id="stop"')
            self._save = action("save trace", self._keep, about="save the generation as a file").props(
                'id="save-trace"'
            )
            opener(self._bench, partial(self.open, trusted=False))

    def _begin(self, words: str, make: Callable[..., Any], argument: Any, then: Callable[[Any], None]) -> None:
        self.stop()
        self._job += 1
        self._busy, job = words, self._job

        def ready(made: Any) -> None:
            if job != self._job or made is None:
                return
            self._busy = ""
            if isinstance(made, Exception):
                self._bench.refuse(str(made))
            else:
                then(made)

        self._show()
        self._bench.work(_attempted, make, argument, then=ready, process=False)

    def _unfold(self, made: Opened) -> None:
        if made.generation is not None:
            self._play(made.generation)
            return
        self._generation, self._file, records = None, made, made.trace.passes
        prompt = made.trace.prompt
        self._sheet.clear(made.tokenizer, made.tokenizer.decode(prompt) if made.tokenizer else f"{len(prompt)} tokens")
        self._sheet.add(records, [() if one.tree_depth else range(one.accepted) for one in records])
        self._sheet.finish()
        self._show()

    def _play(self, generation: Generation) -> None:
        self._generation, self._file, self._looked = generation, None, None
        self._sheet.clear(generation.run.tokenizer, generation.run.tokenizer.decode(generation.run.prompt))
        self._continue(generation)

    def _continue(self, generation: Generation, _: Any = None) -> None:
        """Show what is new, and go on aside until it ends or another is asked for."""
        if generation is not self._generation:
            return
        shown = self._sheet.number
        self._sheet.add(generation.records[shown:], [done.path for done in generation.passes[shown:]])
        if generation.reason:
            self._sheet.finish()
        else:
            self._bench.work(generation.go_on, then=partial(self._continue, generation), process=False)
        self._show()

    def _show(self) -> None:
        generation, bench = self._generation, self._bench
        going = generation is not None and not generation.reason
        self._asked.set_content(asked(bench.state, generation))
        self._status.set_content(busy(self._busy) if self._busy else status(generation, self._file))
        self._summary.set_content(summary(generation, self._file))
        self._stop.set_enabled(going)
        whole = generation is not None and not going and bool(generation.passes)
        honest = generation is not None and generation.tamper is None and not generation.trouble
        self._save.set_enabled(whole and honest and not bench.state.tamper)
        self._look()

    def _look(self) -> None:
        index, generation = self._bench.state.token, self._generation
        self._sheet.point_at(index)
        if generation is not None and self._looked == (id(generation), index):
            return
        found = None if generation is None else look(generation, index)
        self._looked = None if found is None else (id(generation), index)
        if found is None or generation is None:
            words = nothing(generation, self._file, index)
            self._details.set_content(f"<h3>A token</h3><p class='faint'>{words}</p>")
        else:
            words = details(found, generation, index, namer(generation.run.tokenizer))
            self._details.set_content(f"<h3>A token</h3>{words}")

    def _keep(self) -> None:
        if self._generation is not None:
            ui.download.content(serialised(kept(self._generation)), "trace.json", "application/json")


def _attempted(make: Callable[[Any], Any], argument: Any) -> Any:
    """Return what `make` makes, or what it raises: the one who waits has to hear of both."""
    try:
        return make(argument)
    except Exception as error:  # noqa: BLE001  a page that waits for ever is worse than any message
        return error


WINDOW = Window(10, "The real thing", "engine", _build)
