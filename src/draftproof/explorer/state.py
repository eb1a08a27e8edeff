"""Everything that a person has set on the page: a value, and the same as the query of a link.

In: a query, or changes. Out: a `State` that can be honoured, and in words what could not. It holds no results.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from draftproof.engine.length import FixedLength
from draftproof.engine.options import Options
from draftproof.errors import UsageError
from draftproof.explorer.laws import Weights, checked, preset, typed
from draftproof.noise import PhiloxNoise
from draftproof.redteam.campaign import tamper_named
from draftproof.redteam.tampers.catalogue import TAMPERS
from draftproof.rules.catalogue import CHAIN_RULES
from draftproof.warpers.pipeline import sampling

__all__ = ["DRAFTERS", "LONGEST_BLOCK", "MOST_DRAWS", "STEPS_OF_LINEAGE", "State", "changed", "query_of", "state_of"]

LONGEST_BLOCK = 8
MOST_DRAWS = 100_000
MOST_TOKENS = 512
DRAFTERS = ("tiny:draft", "tiny:target", "none")
"""What may draft for the embedded target; the target may for itself."""
STEPS_OF_LINEAGE = 5
_TARGET, _DRAFT = preset("unlike", 5)
_ASKED = Options(prompt="And the king said")


@dataclass(frozen=True)
class State:
    """What is set; the names are those of the query."""

    p: Weights = _TARGET
    q: Weights = _DRAFT
    p_temperature: float = 1.0
    p_top_k: int = 0
    p_top_p: float = 1.0
    q_temperature: float = 1.0
    q_top_k: int = 0
    q_top_p: float = 1.0
    law_seed: int = 0
    """Of the next random pair."""
    rule: str = "token"
    num_speculative_tokens: int = 1
    seed: int = 0
    draw: int = 0
    """Which pass is shown step by step; its random numbers are those of this sequence."""
    step: int = 0
    draws: int = 0
    """How many passes are counted."""
    tamper: str = ""
    """Empty: the engine is as shipped."""
    family: str = "residual"
    """Of the tampers that are listed."""
    lineage: int = 1
    draft_cost: float = 0.1
    row_cost: float = 0.05
    overhead: float = 0.05
    measured: str = ""
    """The drafter whose measured costs are used; empty: those set by hand."""
    theme: str = "auto"
    prompt: str = _ASKED.prompt
    drafter: str = _ASKED.drafter
    k: int = 3
    generation_rule: str = _ASKED.rule
    max_tokens: int = 96
    temperature: float = 0.7
    generation_top_k: int = 0
    generation_top_p: float = 1.0
    generation_seed: int = 2
    token: int = 0
    """Which emitted token is looked at."""

    @property
    def vocab_size(self) -> int:
        """V."""
        return len(self.p)


def changed(state: State, **changes: Any) -> State:
    """Return the state with these changes.

    Raises:
        UsageError: if it cannot be honoured.
    """
    new = replace(state, **changes)
    checked(new.p, "p")
    checked(new.q, "q")
    if len(new.p) != len(new.q):
        raise UsageError(f"got {len(new.p)} numbers for p and {len(new.q)} for q; both need one a token", "q")
    for side in ("p", "q"):
        _warpers_of(new, side)
    for name, allowed in _CHOICES.items():
        if getattr(new, name) not in allowed:
            raise UsageError(f"got {getattr(new, name)!r}; allowed are {', '.join(allowed)}", name)
    _check_names(new)
    sampling(new.temperature, new.generation_top_k, new.generation_top_p)
    for seed in (new.seed, new.law_seed, new.generation_seed):
        PhiloxNoise(seed)
    for length in (new.num_speculative_tokens, new.k):
        FixedLength(length)
    for name, (low, high) in _RANGES.items():
        if not low <= getattr(new, name) <= high:
            raise UsageError(f"got {getattr(new, name):g}; allowed are {low:g} to {high:g}", name)
    return new


_FAMILIES = sorted({tamper.family for tamper in TAMPERS.values()})
_CHOICES: dict[str, Collection[str]] = {
    "rule": CHAIN_RULES,
    "generation_rule": CHAIN_RULES,
    "drafter": DRAFTERS,
    "family": _FAMILIES,
    "theme": ("auto", "light", "dark"),
}
_RANGES: dict[str, tuple[float, float]] = {
    "num_speculative_tokens": (1, LONGEST_BLOCK),
    "draw": (0, MOST_DRAWS),
    "step": (0, 99),
    "draws": (0, MOST_DRAWS),
    "lineage": (1, STEPS_OF_LINEAGE),
    "draft_cost": (0, 2),
    "row_cost": (0, 1),
    "overhead": (0, 1),
    "k": (0, 16),
    "max_tokens": (1, MOST_TOKENS),
    "temperature": (0, 2),
    "token": (0, 10**6),
}


def _check_names(state: State) -> None:
    if state.tamper:
        tamper_named(state.tamper)
    if not isinstance(state.measured, str):
        raise UsageError(f"got {state.measured!r}; allowed is the SPEC of a drafter", "measured")


def _warpers_of(state: State, side: str) -> None:
    try:
        sampling(*(getattr(state, f"{side}_{name}") for name in ("temperature", "top_k", "top_p")))
    except UsageError as error:
        raise UsageError(error.message, f"{side}_{error.setting}") from None


def query_of(state: State) -> str:
    """Return the query of a link to this state: what differs from the page as it first opens."""
    plain = State()
    parts = {field.name: getattr(state, field.name) for field in fields(state)}
    differing = {name: value for name, value in parts.items() if value != getattr(plain, name)}
    return urlencode({name: _written(value) for name, value in differing.items()}, safe=",:")


def state_of(query: Mapping[str, str]) -> tuple[State, list[str]]:
    """Return the state that a query describes, and a line for each part that had to be left out."""
    state, refused = State(), list[str]()
    known = {field.name for field in fields(State)}
    pair = {side: query[side] for side in ("p", "q") if side in query}
    single = {name: text for name, text in query.items() if name not in pair}
    for names in (pair, *({name: text} for name, text in single.items())):
        if unknown := sorted(set(names) - known):
            refused.append(f"{unknown[0]}: there is no such setting")
            continue
        try:
            state = changed(state, **{name: _read(name, text) for name, text in names.items()})
        except UsageError as error:
            refused.append(str(error))
    return state, refused


def _written(value: Any) -> str:
    return ",".join(map(repr, value)) if isinstance(value, tuple) else str(value)


def _read(name: str, text: str) -> Any:
    kind = type(getattr(State(), name))
    if kind is tuple:
        return typed(text, name)
    read: Callable[[str], Any] = kind
    try:
        return read(text)
    except ValueError:
        wanted = "whole numbers" if kind is int else "numbers"
        raise UsageError(f"got {text!r}; allowed are {wanted}", name) from None
