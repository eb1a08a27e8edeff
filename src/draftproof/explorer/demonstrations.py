"""Settings of the page that show a claim at work. In: nothing. Out: changes for a bench. No result is kept here."""

from dataclasses import replace
from typing import Any

from draftproof.explorer.laws import preset
from draftproof.explorer.state import State

__all__ = ["ALIKE_BUT_SLOW", "DRAFT_AGAIN", "TARGET_AGAIN", "UNLIKE", "UNLIKE_BUT_CHEAP", "shows", "situation"]

Changes = dict[str, Any]
VOCABULARY = 5


def _pair(name: str) -> Changes:
    """Return the changes to a preset, with no warper in its way."""
    target, draft = preset(name, VOCABULARY)
    plain, sides = State(), ("p", "q")
    warpers = [f"{side}_{knob}" for side in sides for knob in ("temperature", "top_k", "top_p")]
    return {"p": target, "q": draft} | {knob: getattr(plain, knob) for knob in warpers}


def _costs(draft_cost: float) -> Changes:
    plain = State()
    others = {name: getattr(plain, name) for name in ("tamper", "rule", "row_cost", "overhead", "measured")}
    return {"draft_cost": draft_cost} | others


UNLIKE = _pair("unlike") | {"tamper": ""}
"""A draft that is often wrong, and the engine as shipped."""
DRAFT_AGAIN = {"tamper": "residual-is-the-draft", "family": "residual"}
TARGET_AGAIN = {"tamper": "residual-is-the-target", "family": "residual"}
UNLIKE_BUT_CHEAP = _pair("unlike") | _costs(0.1)
ALIKE_BUT_SLOW = _pair("aligned") | _costs(0.5)


def shows(state: State, changes: Changes) -> bool:
    """Return whether the page shows a demonstration: nothing would change."""
    return all(getattr(state, name) == value for name, value in changes.items())


def situation(changes: Changes) -> State:
    """Return the page as it first opens, with these changes."""
    return replace(State(), **changes)
