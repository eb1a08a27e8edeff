"""Window 2: the two laws, to be dragged, typed, chosen, drawn at random and warped; always laws, or refused."""

from collections.abc import Callable
from math import isclose
from typing import Any

from nicegui import ui

from draftproof.explorer.bench import Bench
from draftproof.explorer.controls import Slider, entry, slide
from draftproof.explorer.frame import Window, action, markup
from draftproof.explorer.laws import (
    LARGEST,
    PRESETS,
    SMALLEST,
    law_of,
    one,
    preset,
    random_pair,
    resized,
    typed,
    with_probability,
)
from draftproof.explorer.tables import table

__all__ = ["WINDOW"]

SIDES = {"q": "draft q", "p": "target p"}
"""Maps a side to its words, in the order in which a token meets them."""
ROUNDING = 1e-9
"""A bar that is being dragged is not told its own value back: by the time it hears, it is elsewhere."""
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

        def number_it() -> None:
            button.set_text(f"random, seed {bench.state.law_seed}")

        bench.watch(number_it)
    with ui.row().classes("choices"):
        size = Slider(min=SMALLEST, max=LARGEST, step=1).props('label snap aria-label="size of the vocabulary"')
        words = markup(css="beside")

        def resize(value: float) -> None:
            new, state = int(value), bench.state
            bench.attempt(lambda: {"p": resized(state.p, new, "p"), "q": resized(state.q, new, "q")})

        size.heard(resize)

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
    bar = Slider(min=0, max=1, step=0.01).classes(f"law-bar {side}")
    bar.props(
        f'vertical reverse thumb-size="14px" aria-label="{SIDES[side]} of token {token}" data-bar="{side}{token}"'
    )
    bar.heard(lambda value: _set(bench, side, token, value))

    def refresh() -> None:
        value = _raw(bench, side, token)
        if not isclose(bar.value or 0, value, abs_tol=ROUNDING):
            bar.set_value(value)

    return refresh


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
    def enter(text: str) -> None:
        weights = getattr(bench.state, side)
        bench.attempt(lambda: {side: with_probability(weights, token, one(text, side), side)})

    about = f'aria-label="{SIDES[side]} of token {token}, as a number" data-field="{side}{token}"'
    props = f'type="text" inputmode="decimal" class="law-field {side}" {about}'
    return entry(lambda: f"{_raw(bench, side, token):.4g}", enter, props)


def _warpers(bench: Bench) -> None:
    with ui.expansion("temperature, top-k, top-p on either side; whole laws as text").classes("more"):
        for side, words in SIDES.items():
            with ui.row().classes("choices"):
                markup(words, f"side {side}")
                slide(bench, f"{side}_temperature", "temperature", 0, 2, 0.05)
                slide(bench, f"{side}_top_k", "top-k (0: all)", 0, LARGEST, 1)
                slide(bench, f"{side}_top_p", "top-p", 0, 1, 0.01)
                _whole(bench, side)


def _whole(bench: Bench, side: str) -> None:
    other = "q" if side == "p" else "p"

    def enter(text: str) -> None:
        def make() -> dict[str, Any]:
            weights = typed(text, side)
            return {side: weights, other: resized(getattr(bench.state, other), len(weights), other)}

        bench.attempt(make)

    def read() -> str:
        return ", ".join(f"{value:.6g}" for value in law_of(getattr(bench.state, side)))

    bench.watch(entry(read, enter, f'type="text" class="whole" aria-label="{side}, as text" data-whole="{side}"'))


def _set(bench: Bench, side: str, token: int, probability: float) -> None:
    if isclose(_raw(bench, side, token), probability, abs_tol=ROUNDING):
        return  # a slider says its last word twice
    weights = getattr(bench.state, side)
    bench.attempt(lambda: {side: with_probability(weights, token, probability, side)})


def _raw(bench: Bench, side: str, token: int) -> float:
    return float(law_of(getattr(bench.state, side))[token])


def _warped(bench: Bench) -> str:
    numbers = bench.numbers
    rows = [[token, *pair] for token, pair in enumerate(zip(numbers.q, numbers.p, strict=True))]
    return table("laws", ["token", "draft q", "target p"], rows, "The laws that the engine gets")


WINDOW = Window(2, "The two laws", "engine", _build)
