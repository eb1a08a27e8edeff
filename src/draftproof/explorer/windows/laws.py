"""Window 2: the two laws, to be dragged, typed, chosen, drawn at random and warped; always laws, or refused."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from draftproof.explorer.bench import Bench
from draftproof.explorer.frame import Window, action, markup
from draftproof.explorer.laws import LARGEST, PRESETS, SMALLEST, law_of, one, preset, random_pair, resized, typed
from draftproof.explorer.laws import with_probability
from draftproof.explorer.tables import table

__all__ = ["WINDOW"]

SIDES = {"q": "draft q", "p": "target p"}
"""Maps a side to its words, in the order in which a token meets them."""
Refresh = Callable[[], None]


def _build(bench: Bench) -> None:
    markup(
        "<p>Two laws of the next token over a small vocabulary: the cheap draft <b class='q'>q</b> guesses, the "
        "expensive target <b class='p'>p</b> is what must come out. Drag a bar (or focus it and use the arrow keys), "
        "type a number, or choose a pair. The other tokens share what is left.</p>"
    ).classes("explains")
    _choices(bench)
    bars = ui.element("div").classes("law-bars")
    numbers = ui.element("div").classes("law-numbers")
    _warpers(bench)
    warped = markup()
    shown: list[int] = []
    refreshers: list[Refresh] = []

    def refresh() -> None:
        size = bench.state.vocab_size
        if shown != [size]:
            shown[:] = [size]
            refreshers[:] = [*_bars(bench, bars), *_numbers(bench, numbers)]
        for one_of_them in refreshers:
            one_of_them()
        warped.set_content(_warped(bench))

    bench.watch(refresh)


def _choices(bench: Bench) -> None:
    with ui.row().classes("choices").props('role="group" aria-label="presets"'):
        for name in PRESETS:

            def choose(name: str = name) -> None:
                p, q = preset(name, bench.state.vocab_size)
                bench.change(p=p, q=q)

            action(name, choose, about=f"laws: {name}")

        def randomly() -> None:
            seed = bench.state.law_seed
            p, q = random_pair(seed, bench.state.vocab_size)
            bench.change(p=p, q=q, law_seed=seed + 1)

        button = action("random", randomly, about="two random laws, by seed")
        bench.watch(lambda: button.set_text(f"random, seed {bench.state.law_seed}"))
    with ui.row().classes("choices"):
        size = ui.slider(min=SMALLEST, max=LARGEST, step=1).props('label snap aria-label="size of the vocabulary"')
        words = markup(css="beside")

        def resize(event: Any) -> None:
            new, state = int(event.args), bench.state
            bench.attempt(lambda: {"p": resized(state.p, new, "p"), "q": resized(state.q, new, "q")})

        size.on("update:model-value", resize)

        def refresh() -> None:
            size.set_value(bench.state.vocab_size)
            words.set_content(f"vocabulary: <b>{bench.state.vocab_size}</b> tokens")

        bench.watch(refresh)


def _bars(bench: Bench, place: ui.element) -> list[Refresh]:
    """Fill `place` with a bar for each token and side; return what refreshes them."""
    place.clear()
    refreshers: list[Refresh] = []
    with place:
        for token in range(bench.state.vocab_size):
            with ui.element("div").classes("law-token"):
                with ui.element("div").classes("law-pair"):
                    refreshers += [_bar(bench, side, token) for side in SIDES]
                markup(f"{token}", "token-name")
    return refreshers


def _bar(bench: Bench, side: str, token: int) -> Refresh:
    bar = ui.slider(min=0, max=1, step=0.01).classes(f"law-bar {side}")
    bar.props(f'vertical reverse aria-label="{SIDES[side]} of token {token}" data-bar="{side}{token}"')
    bar.on("update:model-value", lambda event: _set(bench, side, token, float(event.args)), throttle=0.05)
    return lambda: bar.set_value(_raw(bench, side, token))


def _numbers(bench: Bench, place: ui.element) -> list[Refresh]:
    """Fill `place` with a field for each number; return what refreshes them."""
    place.clear()
    refreshers: list[Refresh] = []
    with place:
        for side, words in SIDES.items():
            markup(words, f"side {side}")
            refreshers += [_field(bench, side, token) for token in range(bench.state.vocab_size)]
    return refreshers


def _field(bench: Bench, side: str, token: int) -> Refresh:
    field = ui.element("input").classes(f"law-field {side}")
    field.props(f'type="text" inputmode="decimal" aria-label="{SIDES[side]} of token {token}, as a number"')
    field.props(f'data-field="{side}{token}"')

    def enter(event: Any) -> None:
        weights = getattr(bench.state, side)
        bench.attempt(lambda: {side: with_probability(weights, token, one(str(event.args), side), side)})

    field.on("change", enter, js_handler="(event) => emit(event.target.value)")

    def refresh() -> None:
        value = _raw(bench, side, token)
        field.props["value"] = f"{value:.4g}"
        field.props["title"] = repr(value)
        field.update()

    return refresh


def _warpers(bench: Bench) -> None:
    with ui.expansion("temperature, top-k, top-p on either side; whole laws as text").classes("more"):
        for side, words in SIDES.items():
            with ui.row().classes("choices"):
                markup(words, f"side {side}")
                _slider(bench, f"{side}_temperature", "temperature", 0, 2, 0.05)
                _slider(bench, f"{side}_top_k", "top-k (0: all)", 0, LARGEST, 1)
                _slider(bench, f"{side}_top_p", "top-p", 0, 1, 0.01)
                _whole(bench, side)


def _slider(bench: Bench, name: str, words: str, low: float, high: float, step: float) -> None:
    with ui.element("label").classes("setting"):
        shown = markup()
        slider = ui.slider(min=low, max=high, step=step).props(f'aria-label="{name}" data-setting="{name}"')
        kind = type(getattr(bench.state, name))
        slider.on("update:model-value", lambda event: bench.change(**{name: kind(event.args)}), throttle=0.05)

        def refresh() -> None:
            value = getattr(bench.state, name)
            slider.set_value(value)
            shown.set_content(f"{words} <b>{value:g}</b>")

        bench.watch(refresh)


def _whole(bench: Bench, side: str) -> None:
    field = ui.input(f"{side}, as text").props(f'dense data-whole="{side}"').classes("whole")

    def enter() -> None:
        other = "q" if side == "p" else "p"

        def make() -> dict[str, Any]:
            weights = typed(field.value or "", side)
            return {side: weights, other: resized(getattr(bench.state, other), len(weights), other)}

        bench.attempt(make)

    field.on("keydown.enter", enter)
    bench.watch(lambda: field.set_value(", ".join(f"{value:.6g}" for value in law_of(getattr(bench.state, side)))))


def _set(bench: Bench, side: str, token: int, probability: float) -> None:
    weights = getattr(bench.state, side)
    bench.attempt(lambda: {side: with_probability(weights, token, probability, side)})


def _raw(bench: Bench, side: str, token: int) -> float:
    return float(law_of(getattr(bench.state, side))[token])


def _warped(bench: Bench) -> str:
    numbers = bench.numbers
    rows = [[token, *pair] for token, pair in enumerate(zip(numbers.q, numbers.p, strict=True))]
    return table("laws", ["token", "draft q", "target p"], rows, "The laws that the engine gets")


WINDOW = Window(2, "The two laws", "engine", _build)
