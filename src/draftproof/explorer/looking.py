"""A token of a generation looked at: where it came from, what both models said there, what its pass did.

In: a generation, the number of a token. Out: laws, steps, findings, each from the room that it belongs to.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from draftproof.engine.passes import Pass
from draftproof.errors import UsageError
from draftproof.explorer.generation import Generation
from draftproof.models.tokenizer import Tokenizer
from draftproof.records import Finding, PassRecord
from draftproof.rules.block import BlockRule, prefix_weights
from draftproof.rules.token import TokenRule, acceptance_probabilities, residual_law
from draftproof.types import Array, Probs
from draftproof.witness.account import Step, account, difference
from draftproof.witness.identity import Certificate

__all__ = ["ORIGINS", "Alternative", "Look", "Place", "look", "namer", "place_of", "places"]

ORIGINS = {
    "accepted": "accepted: drafted, tested and kept",
    "residual": "in the place of a rejected draft",
    "bonus": "bonus: one more after all drafts were kept",
    "plain": "no draft: the target alone",
}
"""Maps where a token came from to words."""
MOST_ALTERNATIVES = 8


class Place(NamedTuple):
    """Where a token of the text stands."""

    number: int
    """Of its pass, from 0."""
    within: int
    """How many tokens of its pass come before it."""
    token: int
    origin: str
    """A key of `ORIGINS`."""


class Alternative(NamedTuple):
    """A token that could have stood there."""

    token: int
    p: float
    q: float | None
    acceptance: float | None
    residual: float | None


@dataclass(frozen=True)
class Look:
    """What there is to say about a token."""

    place: Place
    row: int
    """Which row of its pass's laws is its own."""
    chosen: Alternative
    """The token itself."""
    others: tuple[Alternative, ...]
    """The eight most probable of the target and of the draft, by the target's probability."""
    drafted: int | None
    """What was drafted there in a chain."""
    weight: float | None
    """What the target's law counts for in the residual of the block rule."""
    steps: tuple[Step, ...]
    """The account of the pass; empty where there is none."""
    untold: str
    """Why there is no account."""
    difference: str | None
    """What the engine first did otherwise than its rule; None if nothing, or if there is no account."""
    finding: Finding
    """The certificate of the pass."""


def places(records: Sequence[PassRecord]) -> Iterator[Place]:
    """Yield the place of each emitted token."""
    for number, record in enumerate(records):
        last = "bonus" if record.bonus else "residual"
        for within, token in enumerate(record.emitted):
            origin = "accepted" if within < record.accepted else last
            yield Place(number, within, token, origin if record.drafted else "plain")


def place_of(records: Sequence[PassRecord], index: int) -> Place | None:
    """Return where the token with that number stands; None if the text is shorter."""
    return next((place for i, place in enumerate(places(records)) if i == index), None)


def namer(tokenizer: Tokenizer | None) -> Callable[[int], str]:
    """Return a function from a token to its text with spaces and line ends made visible, or to its id."""

    def name_of(token: int) -> str:
        text = tokenizer.decode([token]) if tokenizer is not None and token >= 0 else ""
        if not text or "\N{REPLACEMENT CHARACTER}" in text:
            return f"#{token}"
        return text.replace(" ", "␣").replace("\n", "↵")

    return name_of


def look(generation: Generation, index: int) -> Look | None:
    """Return what there is to say about a token; None if there is none, or a tampered pass does not fit together."""
    place = place_of(generation.records, index)
    if place is None:
        return None
    try:
        return _looked(generation, place)
    except Exception:
        if generation.tamper is None:
            raise
        return None


def _looked(generation: Generation, place: Place) -> Look:
    done = generation.passes[place.number]
    row = (0, *(node + 1 for node in done.path))[place.within]
    p, q = done.target[row], _draft_at(done, row)
    weight = None if q is None else _weight(generation, done, row)
    acceptance, residual = _tested(generation, p, q, 1.0 if weight is None else weight)

    def of(token: int) -> Alternative:
        more = [None if law is None else float(law[token]) for law in (q, acceptance, residual)]
        return Alternative(token, float(p[token]), *more)

    steps, untold = _account(generation, done)
    certificate = Certificate(generation.certificate.rule)
    certificate.add(done)
    return Look(
        place,
        row,
        of(place.token),
        tuple(of(token) for token in _largest(p, q)),
        done.drafted[row] if done.proposal.is_chain and row < len(done.drafted) else None,
        weight,
        steps,
        untold,
        difference(done, steps) if steps else None,
        certificate.finding("this pass"),
    )


def _draft_at(done: Pass, row: int) -> Probs | None:
    """Return the draft's law at a row; None where nothing was drafted."""
    return done.draft[row] if row - 1 in done.proposal.tree.parents and row < len(done.draft) else None


def _weight(generation: Generation, done: Pass, row: int) -> float | None:
    if generation.rule.name != BlockRule.name or not done.proposal.is_chain:
        return None
    return float(prefix_weights(done.target, done.draft, done.proposal.chain)[row])


def _tested(generation: Generation, p: Probs, q: Probs | None, weight: float) -> tuple[Array | None, Probs | None]:
    """Return (V,) min(1, p/q) and the residual, of the rules that have them."""
    if q is None or generation.rule.name not in {TokenRule.name, BlockRule.name}:
        return None, None
    return acceptance_probabilities(p, q), residual_law(weight * p, q)


def _account(generation: Generation, done: Pass) -> tuple[tuple[Step, ...], str]:
    try:
        return account(done, generation.rule, generation.run.noise), ""
    except UsageError as error:
        return (), error.message
    except Exception as error:  # noqa: BLE001  a tampered engine's pass may be one that no rule can read
        return (), f"the rule cannot read this pass: {type(error).__name__}: {error}"


def _largest(p: Probs, q: Probs | None) -> list[int]:
    """Return the most probable tokens under either law that have any probability, by p."""
    found = {int(token) for law in (p, q) if law is not None for token in np.argsort(-law)[:MOST_ALTERNATIVES]}
    some = [token for token in found if p[token] > 0 or (q is not None and q[token] > 0)]
    return sorted(some, key=lambda token: (-p[token], token))
