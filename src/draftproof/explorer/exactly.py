"""The laws of the page in Fractions, and what the engine emits for them: computed when a person asks for it.

In: a `State`. Out: exact laws and a finding. Numbers are taken as they are written: 0.3 is 3/10 here.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from draftproof.explorer.results import laws_of, subject_of
from draftproof.explorer.state import State
from draftproof.records import Conclusion, Finding
from draftproof.rules.coupled import CoupledRule
from draftproof.types import Array, Probs
from draftproof.warpers.base import normalise
from draftproof.warpers.pipeline import sampling
from draftproof.witness.exact import check
from draftproof.witness.forking import TooManyPathsError

__all__ = ["Exactly", "exact_laws", "exactly"]

MOST_PATHS = 20_000
"""Some ten seconds of work, aside."""
MOST_RACERS = 5
"""Every further token of a race takes fifteen times as long."""


class Exactly(NamedTuple):
    """What the exact witness says about the laws of the page."""

    p: Array
    """(V,) Fractions."""
    emitted: list[Fraction]
    """(V,); empty if it could not be integrated."""
    finding: Finding


def exactly(state: State) -> Exactly:
    """Return what the engine that is switched on emits, in Fractions."""
    p, q = exact_laws(state)
    subject = subject_of(state)
    if CoupledRule.name in subject.rule.name and len(p) > MOST_RACERS:
        reason = f"a race of more than {MOST_RACERS} tokens ends in too many orders: choose a smaller vocabulary"
        return Exactly(p, [], Finding("exact", subject.name, Conclusion.UNDECIDED, None, reason))
    try:
        return Exactly(p, *check(subject, p, q, "the laws of this page", MOST_PATHS))
    except TooManyPathsError as error:
        reason = f"{error}: choose a smaller vocabulary"
    except Exception as error:  # noqa: BLE001  whatever an examined engine does wrong is its fault
        return Exactly(p, [], Finding("exact", subject.name, Conclusion.LOSSY, None, f"broke down: {error}"))
    return Exactly(p, [], Finding("exact", subject.name, Conclusion.UNDECIDED, None, reason))


def exact_laws(state: State) -> tuple[Array, Array]:
    """Return the laws p and q (V,) of a state in Fractions.

    A temperature that is no 1/n has no exact power: then the law is the float one, taken as the fractions it is.
    """
    p, q = laws_of(state)
    return _exact(state, "p", p), _exact(state, "q", q)


def _exact(state: State, side: str, law: Probs) -> Array:
    temperature, top_k, top_p = (getattr(state, f"{side}_{name}") for name in ("temperature", "top_k", "top_p"))
    if temperature and 1 / temperature != int(1 / temperature):
        return normalise(_fractions(law.tolist()))
    cold = Fraction(1, int(1 / temperature)) if temperature else Fraction(0)
    rows = _fractions(getattr(state, side))[None]
    return sampling(cold, top_k, Fraction(repr(top_p))).laws(rows, "laws")[0]


def _fractions(numbers: Sequence[float]) -> Array:
    return np.array([Fraction(repr(number)) for number in numbers], dtype=object)
