"""What a person moves, types or presses: sliders, fields, buttons that stay down. In: a bench. Out: elements.

All follow what is set, and none takes from a hand what it is just moving or typing.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from nicegui import ui

from draftproof.explorer.bench import Bench
from draftproof.explorer.frame import markup

__all__ = ["PACE", "Slider", "entry", "mark", "slide"]

PACE = 0.05
"""Seconds between two words of a slider that is being dragged."""


class Slider(ui.slider):
    """A slider that the browser moves by itself; an echo from here would pull it back to where it was."""

    LOOPBACK: ClassVar[bool | None] = False  # pyright: ignore[reportIncompatibleVariableOverride]

    def heard(self, enter: Callable[[float], object]) -> "Slider":
        """Call `enter` with what a hand chose."""
        self.on("update:model-value", lambda event: enter(float(event.args)), throttle=PACE)
        return self


def slide(bench: Bench, name: str, words: str, low: float, high: float, step: float) -> Slider:
    """Return a slider for the setting `name`, with its value in words above it."""
    with ui.element("label").classes("setting"):
        shown = markup()
        slider = Slider(min=low, max=high, step=step).props(f'aria-label="{words}" data-setting="{name}"')
    kind = type(getattr(bench.state, name))
    slider.heard(lambda value: bench.change(**{name: kind(value)}))

    def refresh() -> None:
        value = getattr(bench.state, name)
        slider.set_value(value)
        shown.set_content(f"{words} <b>{value:g}</b>")

    bench.watch(refresh)
    return slider


def entry(
    read: Callable[[], str], enter: Callable[[str], object], props: str, tag: str = "input"
) -> Callable[[], None]:
    """Build a text field; return what refreshes it.

    Args:
        read: what is set, in words.
        enter: is called with what was typed.
        props: attributes.
        tag: `input` or `textarea`.
    """
    field = ui.element(tag).props(props)
    shown: list[str] = []

    def entered(event: Any) -> None:
        shown.clear()  # what was typed gives way to what is set, also where it is refused
        enter(str(event.args))

    def refresh() -> None:
        value = read()
        if shown != [value]:  # otherwise somebody may be typing
            shown[:] = [value]
            field.props["value"] = value
            field.update()

    field.on("change", entered, js_handler="(event) => emit(event.target.value)")
    return refresh


def mark(button: ui.button, on: bool) -> None:
    """Show whether a button is down."""
    button.props["aria-pressed"] = str(on).lower()
    button.classes(**{"add" if on else "remove": "on"})
