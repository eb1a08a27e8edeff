"""The controls of window 10: every setting of a generation, refused in words where it cannot be honoured."""

from typing import Any

from nicegui import ui

from draftproof.errors import UsageError
from draftproof.explorer.bench import Bench
from draftproof.explorer.frame import action, markup
from draftproof.explorer.laws import one
from draftproof.explorer.state import DRAFTERS
from draftproof.rules.catalogue import CHAIN_RULES

__all__ = ["settings"]

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
