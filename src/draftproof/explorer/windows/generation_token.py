"""A token of window 10 looked at, as HTML: where it came from, both laws, the account of its pass, its certificate."""

from collections.abc import Callable
from html import escape

from draftproof.explorer.frame import badge
from draftproof.explorer.generation import Generation
from draftproof.explorer.looking import ORIGINS, Alternative, Look
from draftproof.explorer.replays import Opened
from draftproof.explorer.tables import Cell, number, table
from draftproof.explorer.telling import told_all

__all__ = ["details", "nothing"]


def details(found: Look, generation: Generation, index: int, name_of: Callable[[int], str]) -> str:
    """Return what the page shows of a token."""
    return "".join(
        (
            _where(found, index, name_of),
            _numbers(found),
            "<h3>What could have stood there</h3>",
            _alternatives(found, name_of),
            f"<h3>Its pass, step by step, by the rule {escape(generation.rule.name)}</h3>",
            _account(found, generation, name_of),
        )
    )


def nothing(generation: Generation | None, file: Opened | None, index: int) -> str:
    """Return why there is no token to look at."""
    if file is not None:
        return "A file keeps no laws, so there is nothing to look at behind its tokens."
    if generation is None:
        return "Generate, then click a token: both models' laws at its place, and how it was decided."
    if index >= len(generation.trace.token_ids):
        return f"The text has no token {index}{'' if generation.reason else ' yet'}; click one."
    return f"Token {index} stands where its pass has no law: this engine emits more than it says that it kept."


def _where(found: Look, index: int, name_of: Callable[[int], str]) -> str:
    place = found.place
    origin = ORIGINS[place.origin]
    return (
        f'<p>token <b data-number="token">{index}</b> <span class="tok {place.origin}" data-number="token-id" '
        f'data-value="{place.token}">{escape(name_of(place.token))}</span> (id {place.token}), '
        f'place {place.within} of pass <b data-number="token-pass">{place.number}</b>: '
        f'<b data-number="token-origin">{escape(origin)}</b></p>'
    )


def _numbers(found: Look) -> str:
    chosen = found.chosen
    parts = {
        "p": chosen.p,
        "q": chosen.q,
        "a = min(1, p/q)": chosen.acceptance,
        "residual": chosen.residual,
    }
    items = "".join(
        f'<li data-number="token-{name.split()[0]}">{escape(name)} = {number(value)}</li>'
        for name, value in parts.items()
    )
    weight = f'<li data-number="token-weight">weight of p in the residual: w = {number(found.weight)}</li>'
    return (
        f'<ul class="facts">{items}{weight if found.weight is not None else ""}</ul>'
        f"<p>certificate of this pass: {badge(found.finding)} max |P<sub>emit</sub> &minus; p| = "
        f'<span data-number="pass-deviation">{number(found.finding.max_deviation)}</span></p>'
    )


def _alternatives(found: Look, name_of: Callable[[int], str]) -> str:
    def row(one: Alternative) -> list[object]:
        notes = [
            *(["emitted"] if one.token == found.place.token else []),
            *(["drafted"] if one.token == found.drafted else []),
        ]
        name = Cell(name_of(one.token), "emitted-row" if notes else "", ", ".join(notes))
        return [name, one.p, one.q, one.acceptance, one.residual]

    listed = {one.token for one in found.others}
    rows = [*(() if found.place.token in listed else (found.chosen,)), *found.others]
    columns = ["token", "p", "q", "a = min(1, p/q)", "residual r"]
    words = "The eight most probable tokens of the target and of the draft"
    return table("alternatives", columns, [row(one) for one in rows], words)


def _account(found: Look, generation: Generation, name_of: Callable[[int], str]) -> str:
    if found.untold:
        return f'<p class="faint">No account: {escape(found.untold)}</p>'
    done = generation.passes[found.place.number]
    left = ""
    if found.difference is not None:
        left = (
            f'<p class="moved" data-number="difference">▲ the engine leaves its rule: it {escape(found.difference)}</p>'
        )
    told = told_all(found.steps, done.target, done.draft, name_of)
    return f"{told}<p class='faint'>{_WORDS[generation.rule.name]}</p>{left}"


_WORDS = {
    "token": "Tests go from left to right; the first that fails ends the draft there.",
    "block": "Every prefix has its test; the longest that passes is kept. The residual is that of w·p &minus; q.",
    "match": "The target draws for itself at every place; drafts are kept as long as they are what it drew.",
    "coupled": "Draft and target race with the same noise; drafts are kept as long as both have the same winner.",
}
