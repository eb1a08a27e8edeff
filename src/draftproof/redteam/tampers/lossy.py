"""Rules that trade the target's law for speed, as other engines offer them; here they exist as tampers only.

In: p and q. Out: a rule and, by a formula of its own, the law that it emits. It must never be among the rules that
a user can choose.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from draftproof.arrays import array_namespace
from draftproof.redteam.altered import AlteredToken, ruled
from draftproof.redteam.base import Tamper
from draftproof.rules.base import Place, Verdict, surplus
from draftproof.rules.node import most_probable
from draftproof.rules.token import acceptance_probabilities
from draftproof.types import Array, Draws, Probs

__all__ = ["TAMPERS", "LossyRule"]

Law = Callable[[Probs, Probs], Probs]


@dataclass(frozen=True)
class LossyRule:
    """A rule that is lossy on purpose, and says so.

    Args:
        parts: what it does.
        emitted_law: p and q (V,) -> the law (V,) that comes out, by a formula that knows nothing of `parts`.
    """

    parts: AlteredToken
    emitted_law: Law
    name = AlteredToken.name
    lossless = False
    branches = False

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `Rule.children`."""
        return self.parts.children(law, place)

    def verify(self, target: Probs, draft: Probs, drafted: Array, draws: Draws) -> Verdict:
        """See `Rule.verify`."""
        return self.parts.verify(target, draft, drafted, draws)

    def identity(self, target: Probs, draft: Probs, drafted: Array) -> tuple[Probs, Probs]:
        """See `Rule.identity`: what comes out by the formula, which is not what must."""
        rows = [self.emitted_law(target[i, :], draft[i, :]) for i in range(len(draft))]
        return array_namespace(target).stack([*rows, target[len(draft), :]]), target

    def expected_accepted(self, target: Probs, draft: Probs, drafted: Array, accepted: int) -> None:
        """See `Rule.expected_accepted`: it has none."""


def _leniently(factor: Fraction, *, in_residual: bool) -> LossyRule:
    """Return the ratio rule for l q instead of q: the draft is forgiven a factor of 1 / l."""

    def scale(q: Probs) -> Array:
        return q * (factor if q.dtype == object else float(factor))

    def law(p: Probs, q: Probs) -> Probs:
        # P = min(q, p / l) + (1 - A) R, A the mass of the minimum, R the residual that is used, normalised.
        xp = array_namespace(p, q)
        goal = p / (factor if p.dtype == object else float(factor))
        kept = xp.where(q < goal, q, goal)
        left = surplus(p, scale(q) if in_residual else q)
        return kept + (1 - xp.sum(kept)) * (left / xp.sum(left))

    def rest(p: Probs, q: Probs, _rejected: int) -> Array:
        return surplus(p, scale(q) if in_residual else q)

    return LossyRule(AlteredToken(lambda p, q: acceptance_probabilities(p, scale(q)), rest), law)


def _among(allowed: Callable[[Probs], Array], *, or_argmax: bool) -> LossyRule:
    """Return the rule that keeps whatever the target allows, with p or its most probable token as the fallback."""

    def fallback(p: Probs) -> Probs:
        xp = array_namespace(p)
        return xp.where(xp.arange(p.shape[-1]) == xp.argmax(p), xp.ones_like(p), xp.zeros_like(p)) if or_argmax else p

    def law(p: Probs, q: Probs) -> Probs:
        # P = q [allowed] + q(not allowed) fallback
        xp, kept = array_namespace(p, q), q * allowed(p)
        return kept + (1 - xp.sum(kept)) * fallback(p)

    return LossyRule(AlteredToken(lambda p, q: allowed(p), lambda p, q, rejected: fallback(p)), law)


def _typical(epsilon: float, delta: float) -> Callable[[Probs], Array]:
    """Return p -> (V,) 1 where p exceeds min(epsilon, delta exp(-entropy)), else 0."""

    def allowed(p: Probs) -> Array:
        xp = array_namespace(p)
        entropy = -sum(float(entry) * math.log(entry) for entry in p if entry > 0)
        typical = p > min(epsilon, delta * math.exp(-entropy))
        return xp.where(typical, xp.ones_like(p), xp.zeros_like(p))

    return allowed


def _top(count: int) -> Callable[[Probs], Array]:
    """Return p -> (V,) 1 for the `count` most probable tokens, else 0."""

    def allowed(p: Probs) -> Array:
        found = array_namespace(p).zeros_like(p)
        found[np.asarray(most_probable(p, count))] += 1
        return found

    return allowed


def _tamper(name: str, story: str, seen_in: str, rule: LossyRule, fixture: str) -> Tamper:
    seen = ("exact", "sequence", "identity")
    return Tamper(name, "lossy rule", story, seen_in, ruled(rule), fixture=fixture, caught_by=seen)


def _lenient(word: str, factor: Fraction, *, in_residual: bool = True) -> Tamper:
    where, extent = ("test and residual", "") if in_residual else ("test only", "-in-the-test-only")
    return _tamper(
        f"lenience-{word}{extent}",
        f"Puts {factor} of q in the place of q, in {where}, so that more drafts stay.",
        "the appendix of the first paper, as an option"
        if in_residual
        else "lucidrains, whose residual stays max(0, p - q)",
        _leniently(factor, in_residual=in_residual),
        f"L1{'' if in_residual else 'b'} lenience l={factor} (l*q in {where})",
    )


def _typically(name: str, epsilon: float, delta: float, *, or_argmax: bool) -> Tamper:
    fallback = "argmax p" if or_argmax else "p"
    return _tamper(
        name,
        f"Keeps any draft with p above min({epsilon}, {delta} exp(-entropy)), whatever q was; else emits {fallback}.",
        "the acceptance of Medusa",
        _among(_typical(epsilon, delta), or_argmax=or_argmax),
        f"L2{'b' if or_argmax else ''} typical acceptance eps={epsilon} delta={delta}, fallback {fallback}",
    )


def _matching(count: int, *, or_argmax: bool = False) -> Tamper:
    end = "argmax p (greedy output for a sampling request)" if or_argmax else "p"
    return _tamper(
        f"top-{count}-match{'-or-argmax' if or_argmax else ''}",
        f"Keeps every draft among the target's {count} most probable tokens; emits {end} otherwise.",
        "derived; A20, lablup/mlxcel #902, is its kin",
        _among(_top(count), or_argmax=or_argmax),
        f"L3{'b' if or_argmax else ''} top-{count} match, fallback {end}",
    )


TAMPERS = (
    _lenient("nine-tenths", Fraction(9, 10)),
    _lenient("one-half", Fraction(1, 2)),
    _lenient("three-tenths", Fraction(3, 10)),
    _lenient("one-tenth", Fraction(1, 10)),
    _lenient("one-half", Fraction(1, 2), in_residual=False),
    _lenient("one-tenth", Fraction(1, 10), in_residual=False),
    _typically("typical-acceptance", 0.09, 0.3, or_argmax=False),
    _typically("typical-acceptance-or-argmax", 0.09, 0.3, or_argmax=True),
    _typically("wide-typical-acceptance", 0.2, 0.8, or_argmax=False),
    _typically("wide-typical-acceptance-or-argmax", 0.2, 0.8, or_argmax=True),
    _matching(1),
    _matching(2),
    _matching(3),
    _matching(1, or_argmax=True),
)
