"""What an engine emits at a position with laws p and q, in floats: the shipped loop integrated over its random numbers.

In: an assembled engine, float laws. Out: the emitted law and a finding. The exact witness does the same in Fractions;
this one is quick enough to follow a hand on a slider, and rounds.
"""

from typing import NamedTuple

import numpy as np

from draftproof.records import Conclusion, Finding
from draftproof.rules.coupled import CoupledRule
from draftproof.types import Probs
from draftproof.witness.base import Subject
from draftproof.witness.exact import first_token_law
from draftproof.witness.forking import TooManyPathsError
from draftproof.witness.identity import TOLERANCE, seeded_pairs

__all__ = ["MOST_PATHS", "Emission", "emission", "seeded_emissions"]

MOST_PATHS = 500
"""About a seventh of a second of work: the shipped rules have 180 paths with twelve tokens."""
MOST_RACERS = 3
"""A race of four tokens takes as long as all else here together."""


class Emission(NamedTuple):
    """What is emitted, and what that amounts to."""

    law: Probs | None
    """(V,), None if it could not be integrated."""
    difference: Probs | None
    """(V,) what is emitted minus p."""
    finding: Finding


def emission(subject: Subject, p: Probs, q: Probs, about: str) -> Emission:
    """Return what `subject` emits first in a pass that drafts one token deep, with float laws p and q (V,).

    An engine that breaks down is LOSSY; one that has too many paths is UNDECIDED.
    """
    if CoupledRule.name in subject.rule.name and len(p) > MOST_RACERS:
        return _undecided(about, f"a race of more than {MOST_RACERS} tokens has too many orders to integrate")
    try:
        exact = first_token_law(subject.rule, p, q, subject.branching, subject.assemble, MOST_PATHS)
    except TooManyPathsError as error:
        return _undecided(about, str(error))
    except Exception as error:  # noqa: BLE001  whatever an examined engine does wrong is its fault
        return Emission(None, None, _finding(about, Conclusion.LOSSY, None, f"broke down: {error}"))
    law = np.array([float(chance) for chance in exact])
    difference = law - p
    return Emission(law, difference, _judged(about, difference))


def seeded_emissions(subject: Subject) -> list[Emission]:
    """Return what is emitted for each of the eight seeded pairs of the identity witness."""
    pairs = enumerate(seeded_pairs())
    return [emission(subject, p, q, f"seeded pair {seed}") for seed, (p, q) in pairs]


def _judged(about: str, difference: Probs) -> Finding:
    gaps = np.abs(difference)
    largest, where = float(gaps.max()), f"token {int(gaps.argmax())}"
    if largest <= TOLERANCE:
        reason = f"what the loop emits equals p to {TOLERANCE:g}"
        return _finding(about, Conclusion.LOSSLESS, largest, reason, gaps)
    return _finding(about, Conclusion.LOSSY, largest, f"above {TOLERANCE:g}, most at {where}", gaps, where)


def _undecided(about: str, reason: str) -> Emission:
    return Emission(None, None, _finding(about, Conclusion.UNDECIDED, None, reason))


def _finding(
    about: str,
    verdict: Conclusion,
    largest: float | None,
    reason: str,
    gaps: Probs | None = None,
    where: str | None = None,
) -> Finding:
    distance = None if gaps is None else float(gaps.sum() / 2)
    return Finding("emission", about, verdict, largest, reason, distance, where)
