"""The algebraic identity, recomputed: P_emit = min(p, q) + (1 - sum min(p, q)) * norm(residual) must be p.

In: a rule and laws, given, seeded, or live from the passes of an engine. Out: findings. It must never hold a law of its
own: the emitted law comes from the rule that is examined.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from draftproof.engine.passes import Pass
from draftproof.noise import PhiloxNoise
from draftproof.records import Conclusion, Finding
from draftproof.rules.base import Rule
from draftproof.rules.support import identity
from draftproof.types import Array, Probs, Purpose, Tree
from draftproof.witness.base import Subject
from draftproof.witness.tables import rule_of

__all__ = ["PAIRS", "TOLERANCE", "Certificate", "Identity", "check_pair", "check_seeded_pairs", "seeded_pairs"]

TOLERANCE = 1e-12
"""The figure of the source. Rounding stays below V * 2**-53 (1e-13 for V = 1,000); any tamper of use is far above."""
PAIRS = 8
PAIR_VOCABULARY = 6


def deviation(rule: Rule, target: Probs, draft: Probs, drafted: Array | Tree) -> float:
    """Return the largest distance between what `rule` emits and must emit in a pass; infinity if it is not finite."""
    with np.errstate(invalid="ignore", divide="ignore"):  # a tampered rule may divide zero by zero: that is not finite
        emitted, wanted = identity(rule, target, draft, drafted)
        largest = float(abs(emitted - wanted).max())
    return largest if np.isfinite(largest) else float("inf")


def seeded_pairs() -> list[tuple[Probs, Probs]]:
    """Return the eight seeded pairs of laws (p, q) over six tokens; the seeds are 0 to 7."""
    return [(_law(seed, 0), _law(seed, 1)) for seed in range(PAIRS)]


def check_pair(rule: Rule, p: Probs, q: Probs, subject: str) -> Finding:
    """Return the finding on one pair of laws (V,): one position, whichever token was drafted there."""
    tokens = [token for token in range(len(q)) if q[token] > 0]
    largest = max(deviation(rule, np.stack([p, p]), q[None], _drafted(rule, token)) for token in tokens)
    return _finding(subject, largest, 1)


def check_seeded_pairs(rule: Rule, about: str | None = None) -> Iterator[Finding]:
    """Yield a finding for each of the eight seeded pairs."""
    for seed, (p, q) in enumerate(seeded_pairs()):
        yield check_pair(rule, p, q, f"{about or rule.name}, seeded pair {seed}")


@dataclass
class Certificate:
    """The identity at every position of every pass of a generation, as it happens: the live certificate."""

    rule: Rule
    positions: int = 0
    max_deviation: float = 0.0

    def add(self, done: Pass) -> None:
        """Check every place of a pass: a chain's K drafted positions and its bonus row, a tree's nodes."""
        drafted = done.proposal.tree if self.rule.branches else done.proposal.chain
        self.max_deviation = max(self.max_deviation, deviation(self.rule, done.target, done.draft, drafted))
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


def _drafted(rule: Rule, token: int) -> Array | Tree:
    return Tree((token,), (-1,)) if rule.branches else np.array([token])


class Identity:
    """See `Witness`: the identity of the rule on the eight seeded pairs."""

    name = "identity"

    def examine(self, subject: Subject) -> Iterator[Finding]:
        """See `Witness.examine`; nothing if the engine shows no rule."""
        rule = rule_of(subject)
        if rule is not None:
            yield from check_seeded_pairs(rule, subject.name)
