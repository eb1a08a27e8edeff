"""The controls of window 10: every setting of a generation, and a file to open; refused in words where it must be."""

from collections.abc import Callable
from typing import Any

from nicegui import events, ui

from draftproof.errors import DraftproofError, UsageError
from draftproof.explorer.bench import Bench
from draftproof.explorer.frame import action, markup
from draftproof.explorer.laws import one
from draftproof.explorer.replays import LARGEST_FILE, read
from draftproof.explorer.state import DRAFTERS
from draftproof.records import Trace
from draftproof.rules.catalogue import CHAIN_RULES

__all__ = ["opener", "settings"]

NUMBERS = {
    "k": ("K, drafted a pass (0: plain)", 'min="0" max="16" step="1"'),
    "temperature": ("temperature (0: greedy)", 'min="0" max="2" step="0.05"'),
    "generation_top_k": ("top-k (0: all)", 'min="0" step="1"'),
    "generation_top_p": ("top-p", 'min="0" max="1" step="0.01"'),
    "generation_seed": ("seed", 'min="0" step="1"'),
    "max_tokens": ("most tokens", 'min="1" max="512" step="1"'),
}
"""Maps a number of the state to its words and what a browser is told about it; what is allowed, the state decides."""


def settings(bench: Bench) -> None:
    """Build the controls; what they set lives in the state."""
    with ui.element("label").classes("prompt"):
        markup("prompt (empty: from nothing)")
        _field(bench, "prompt", "textarea", 'rows="2" maxlength="4000"')
    with ui.element("div").classes("generation-settings"):
        for name, (words, props) in NUMBERS.items():
            with ui.element("label").classes("setting"):
                markup(words)
                _field(bench, name, "input", f'type="number" {props}')
    with ui.element("div").classes("generation-settings"):
        _choice(bench, "generation_rule", "rule", tuple(CHAIN_RULES))
        _choice(bench, "drafter", "drafter", DRAFTERS)


def opener(bench: Bench, show: Callable[[Trace], None]) -> None:
    """Build the button that opens a trace from a file, and hands it to `show`."""

    async def read_it(event: events.UploadEventArguments) -> None:
        upload.reset()
        if event.file.size() > LARGEST_FILE:
            refuse()
            return
        try:
            trace = read(await event.file.read(), event.file.name)
        except DraftproofError as error:
            bench.refuse(str(error))
        else:
            show(trace)

    def refuse() -> None:
        bench.refuse(f"trace: allowed is a .json file of at most {LARGEST_FILE // 10**6} MB")

    upload = ui.upload(max_file_size=LARGEST_FILE, auto_upload=True, on_upload=read_it, on_rejected=refuse)
    upload.props('accept=".json"').classes("hidden-upload")
    button = action("open a trace", lambda: None, about="open a file that generate --trace wrote")
    button.props('id="open-trace"').on("click", js_handler=f"() => getElement({upload.id}).$refs.qRef.pickFiles()")


def _field(bench: Bench, name: str, tag: str, props: str) -> None:
    field = ui.element(tag).classes("typed").props(f'data-setting="{name}" {props}')
    shown: list[Any] = []

    def enter(event: Any) -> None:
        shown.clear()  # what was typed gives way to what is set, also where it is refused
        bench.attempt(lambda: {name: _read(name, str(event.args), type(getattr(bench.state, name)))})

    def refresh() -> None:
        value = getattr(bench.state, name)
        if shown != [value]:  # otherwise somebody may be typing
            shown[:] = [value]
            field.props["value"] = f"{value:g}" if isinstance(value, float) else str(value)
            field.update()

    field.on("change", enter, js_handler="(event) => emit(event.target.value)")
    bench.watch(refresh)


def _read(name: str, text: str, kind: type) -> Any:
    if kind is float:
        return one(text, name)
    try:
        return kind(text)
    except ValueError:
        raise UsageError(f"got {text!r}; allowed are whole numbers", name) from None


def _choice(bench: Bench, name: str, words: str, options: tuple[str, ...]) -> None:
    with ui.row().classes("choices").props(f'role="group" aria-label="{words}"'):
        markup(words, "side")
        for option in options:
            _option(bench, name, option)


def _option(bench: Bench, name: str, option: str) -> None:
    button = action(option, lambda: bench.change(**{name: option})).props(f'data-{name}="{option}"')

    def refresh() -> None:
        on = getattr(bench.state, name) == option
        button.classes(add="on" if on else "", remove="" if on else "on").props(f'aria-pressed="{str(on).lower()}"')

    bench.watch(refresh)
