"""The algebraic identity, recomputed: P_emit = min(p, q) + (1 - sum min(p, q)) * norm(residual) must be p.

In: a rule and laws, given, seeded, or live from the passes of an engine. Out: findings. It must never hold a law of its
own: the emitted law comes from the rule that is examined.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from draftproof.engine.loop import Pass
from draftproof.noise import PhiloxNoise
from draftproof.records import Conclusion, Finding
from draftproof.rules.base import Rule
from draftproof.types import Probs, Purpose

__all__ = ["TOLERANCE", "Certificate", "check_pair", "check_seeded_pairs", "seeded_pairs"]

TOLERANCE = 1e-12
"""The figure of the source. Rounding stays below V * 2**-53 (1e-13 for V = 1,000); any tamper of use is far above."""
PAIRS, PAIR_VOCABULARY = 8, 6


def deviation(rule: Rule, p: Probs, q: Probs) -> float:
    """Return the largest |P_emit - p| over rows p, q (..., V); infinity if P_emit is not even finite."""
    largest = float(np.max(np.abs(rule.emitted_law(p, q) - p)))
    return largest if np.isfinite(largest) else float("inf")


def seeded_pairs() -> list[tuple[Probs, Probs]]:
    """Return the eight seeded pairs of laws (p, q) over six tokens; the seeds are 0 to 7."""
    return [(_law(seed, 0), _law(seed, 1)) for seed in range(PAIRS)]


def check_pair(rule: Rule, p: Probs, q: Probs, subject: str) -> Finding:
    """Return the finding on one pair of laws (V,)."""
    return _finding(subject, deviation(rule, p, q), 1)


def check_seeded_pairs(rule: Rule) -> Iterable[Finding]:
    """Return a finding for each of the eight seeded pairs."""
    for seed, (p, q) in enumerate(seeded_pairs()):
        yield check_pair(rule, p, q, f"{rule.name} rule, seeded pair {seed}")


@dataclass
class Certificate:
    """The identity at every position of every pass of a generation, as it happens: the live certificate."""

    rule: Rule
    positions: int = 0
    max_deviation: float = 0.0

    def add(self, done: Pass) -> None:
        """Check the K drafted positions of a pass and its bonus row (where q is zero, so P_emit is the row itself)."""
        bonus = done.target[-1:]
        for p, q in ((done.target[:-1], done.draft), (bonus, np.zeros_like(bonus))):
            if len(p):
                self.max_deviation = max(self.max_deviation, deviation(self.rule, p, q))
        self.positions += len(done.target)

    def finding(self, subject: str) -> Finding:
        """Return what the positions seen so far amount to."""
        return _finding(subject, self.max_deviation, self.positions)


def _finding(subject: str, largest: float, positions: int) -> Finding:
    if positions == 0:
        return Finding("identity", subject, Conclusion.UNDECIDED, None, "no position was checked")
    if largest <= TOLERANCE:
        reason = f"at most {TOLERANCE:g} at {positions} position{'s' * (positions > 1)}"
        return Finding("identity", subject, Conclusion.LOSSLESS, largest, reason)
    reason = f"above {TOLERANCE:g}: the rule does not emit the target's law"
    return Finding("identity", subject, Conclusion.LOSSY, largest, reason)


def _law(seed: int, sequence: int) -> Probs:
    """Return a law (V,) uniform on the simplex: normalised exponentials of addressed uniforms."""
    exponentials = -np.log1p(-PhiloxNoise(seed, sequence).uniforms(Purpose.DRAFT, 0, PAIR_VOCABULARY))
    return exponentials / exponentials.sum()
