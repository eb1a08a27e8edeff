"""Every number on the page, from what is set: each computed by the room that it belongs to.

In: a `State`. Out: laws, what the engine emits, findings. Pure: the same state gives the same numbers.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from draftproof.explorer.laws import Weights
from draftproof.explorer.state import State
from draftproof.records import Conclusion, Finding
from draftproof.redteam.base import Tamper
from draftproof.redteam.campaign import tamper_named
from draftproof.redteam.scorecard import Score
from draftproof.rules.catalogue import rule_named
from draftproof.rules.token import Terms, TokenRule, acceptance_probabilities, expected_acceptance
from draftproof.types import Array, Probs
from draftproof.warpers.pipeline import sampling
from draftproof.witness.base import Subject
from draftproof.witness.emission import Emission, emission, seeded_emissions
from draftproof.witness.identity import check_pair, seeded_pairs

__all__ = ["Numbers", "laws_of", "numbers_of", "subject_of", "tamper_of", "verdict_of"]


@dataclass(frozen=True)
class Numbers:
    """What follows from the two laws and the engine."""

    p: Probs
    """(V,) the target's law, warped."""
    q: Probs
    """(V,) the draft's law, warped."""
    acceptance: Array
    """(V,) a = min(1, p/q)."""
    terms: Terms
    """Of the identity, by the shipped token rule."""
    overlap: float
    """sum min(p, q)."""
    emission: Emission
    """What the engine that is switched on emits."""
    emitted: Probs | None
    """(V,) the same; of a shipped rule whose loop has too many paths, what its own identity says."""
    seeded: tuple[Emission, ...]
    """What the same engine emits for the eight seeded pairs."""


def numbers_of(state: State) -> Numbers:
    """Return the numbers that follow from a state."""
    p, q = laws_of(state)
    subject = subject_of(state)
    found = _emission(state.rule, state.tamper, tuple(p.tolist()), tuple(q.tolist()))
    emitted = found.law
    if emitted is None and not state.tamper:
        emitted = subject.rule.identity(np.stack([p, p]), q[None], np.array([int(q.argmax())]))[0][0]
    return Numbers(
        p,
        q,
        acceptance_probabilities(p, q),
        TokenRule().terms(p, q),
        float(expected_acceptance(p, q)),
        found,
        emitted,
        _seeded(state.rule, state.tamper),
    )


def laws_of(state: State) -> tuple[Probs, Probs]:
    """Return the laws p and q (V,) after their warpers."""
    return (
        _law(state.p, state.p_temperature, state.p_top_k, state.p_top_p),
        _law(state.q, state.q_temperature, state.q_top_k, state.q_top_p),
    )


def tamper_of(state: State) -> Tamper | None:
    """Return the tamper that is switched on."""
    return tamper_named(state.tamper) if state.tamper else None


def subject_of(state: State) -> Subject:
    """Return the engine that is switched on, as witnesses see it."""
    return _subject(state.rule, state.tamper)


def verdict_of(state: State, numbers: Numbers, score: Score | None) -> Finding:
    """Return the finding that says most: the first that is LOSSY, of these laws, the seeded pairs, then the battery.

    Args:
        state: what is set.
        numbers: of that state.
        score: what the whole battery said about the tamper, if it has spoken.
    """
    near = [numbers.emission.finding, *(found.finding for found in numbers.seeded)]
    every = [*near, *(score.findings if score else ())]
    lossy = [finding for finding in every if finding.verdict is Conclusion.LOSSY]
    if lossy:
        return lossy[0]
    if state.tamper and score is None:
        reason = "the laws at hand do not show it; all witnesses are looking"
        return Finding("emission", state.tamper, Conclusion.UNDECIDED, near[0].max_deviation, reason)
    return next((finding for finding in every if finding.verdict is Conclusion.LOSSLESS), near[0])


def _law(weights: Weights, temperature: float, top_k: int, top_p: float) -> Probs:
    return sampling(temperature, top_k, top_p).laws(np.array([weights]), "laws")[0]


def _subject(rule: str, tamper: str) -> Subject:
    return tamper_named(tamper).subject if tamper else Subject(f"the {rule} rule as shipped", rule_named(rule))


@lru_cache(maxsize=256)
def _emission(rule: str, tamper: str, p: Weights, q: Weights) -> Emission:
    laws = np.array(p), np.array(q)
    return _or_identity(emission(_subject(rule, tamper), *laws, "the laws of this page"), rule, tamper, *laws)


@lru_cache(maxsize=256)
def _seeded(rule: str, tamper: str) -> tuple[Emission, ...]:
    every = zip(seeded_emissions(_subject(rule, tamper)), seeded_pairs(), strict=True)
    return tuple(_or_identity(found, rule, tamper, *pair) for found, pair in every)


def _or_identity(found: Emission, rule: str, tamper: str, p: Probs, q: Probs) -> Emission:
    """Return what was found; of a shipped rule whose loop has too many paths, what its identity says."""
    if tamper or found.finding.verdict is not Conclusion.UNDECIDED:
        return found
    return found._replace(finding=check_pair(rule_named(rule), p, q, found.finding.subject))
