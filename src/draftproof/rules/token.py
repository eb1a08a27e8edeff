"""The token rule: accept x with probability min(1, p(x)/q(x)); after a rejection emit from norm(max(0, p - q)).

In: target rows, draft rows, drafted tokens, uniforms. Out: a verdict; for people and witnesses, the laws behind it.
Source: `leviathan2023` section 2.3 and appendix A.1, `chen2023`. Exactness is checked in tests/laws/test_token_law.py.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from draftproof.arrays import array_namespace
from draftproof.rules.base import Place, Verdict, drawn, entries_at, normalised, pick, row_at, row_or_zeros, surplus
from draftproof.rules.contract import check_chain
from draftproof.rules.run import bonus_alone
from draftproof.types import Array, Draws, Probs, Purpose

__all__ = ["Terms", "TokenRule", "acceptance_probabilities", "expected_acceptance", "kept_mass", "residual_law"]


def acceptance_probabilities(p: Probs, q: Probs) -> Array:
    """Return (..., V) min(1, p/q): with what probability each token is kept if it is drafted; 0 wherever p is 0."""
    xp = array_namespace(p, q)
    one, zero = xp.ones_like(p), xp.zeros_like(p)
    shrinks = q > p
    ratio = p / xp.where(shrinks, q, one)
    return xp.where(p > 0, xp.where(shrinks, ratio, one), zero)


def kept_mass(p: Probs, q: Probs) -> Array:
    """Return (..., V) min(p, q): with what probability each token is drafted and kept."""
    return array_namespace(p, q).minimum(p, q)


def expected_acceptance(p: Probs, q: Probs) -> Array:
    """Return (...) sum min(p, q) = 1 - TV(p, q): the probability that one drafted token is kept."""
    return array_namespace(p, q).sum(kept_mass(p, q), axis=-1)


def residual_law(p: Probs, q: Probs) -> Probs:
    """Return (..., V) norm(max(0, p - q)), the law of the token that follows a rejection; p where p equals q."""
    return normalised(surplus(p, q))


class Terms(NamedTuple):
    """What the identity P_emit = min(p, q) + (1 - sum min(p, q)) * norm(residual) is made of."""

    kept: Array
    """(..., V) min(p, q)."""
    rejected: Array
    """(..., 1) 1 - sum min(p, q): the mass of rejections."""
    residual: Probs
    """(..., V) the law of the token that follows a rejection."""

    @property
    def emitted(self) -> Probs:
        """(..., V) P_emit."""
        return self.kept + self.rejected * self.residual


@dataclass(frozen=True)
class TokenRule:
    """Token-level rejection, position by position, stopping at the first rejection.

    Args:
        residual: (p, q) -> weights (..., V) of the token emitted after a rejection. Another function here is a tamper.
    """

    residual: Callable[[Probs, Probs], Array] = surplus
    name = "token"
    lossless = True
    branches = False

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `Rule.children`: one DRAFT uniform a token."""
        return drawn(law, place)

    def verify(self, target: Probs, draft: Probs, drafted: Array, draws: Draws) -> Verdict:
        """See `Rule.verify`. The test u * q < p divides by nothing, and being strict lets u = 0 save no zero of p.

        Past the last drafted token the draft's row is all zeros, so that the bonus is the residual of row K.
        Uniforms consumed: K ACCEPT and one FINAL.
        """
        check_chain(target, draft, drafted)
        if drafted.shape[-1] == 0:
            return bonus_alone(target, drafted, draws)
        xp = array_namespace(target, draft)
        p_token, q_token = entries_at(target[..., :-1, :], drafted), entries_at(draft, drafted)
        uniforms = draws.uniforms(Purpose.ACCEPT, drafted.shape[-1])
        kept = xp.astype(uniforms * q_token < p_token, xp.int64)
        accepted = xp.sum(xp.cumulative_prod(kept, axis=-1), axis=-1)
        p = row_at(target, accepted)
        weights = self.residual(p, row_or_zeros(draft, accepted, p))
        return Verdict(accepted, pick(weights, draws.uniforms(Purpose.FINAL, 1)[..., 0]))

    def emitted_law(self, p: Probs, q: Probs) -> Probs:
        """Return (..., V) P_emit = min(p, q) + (1 - sum min(p, q)) * norm(residual(p, q))."""
        return self.terms(p, q).emitted

    def terms(self, p: Probs, q: Probs) -> Terms:
        """Return what P_emit is made of."""
        kept = kept_mass(p, q)
        rejected = 1 - array_namespace(kept).sum(kept, axis=-1, keepdims=True)
        return Terms(kept, rejected, normalised(self.residual(p, q)))

    def identity(self, target: Probs, draft: Probs, drafted: Array) -> tuple[Probs, Probs]:
        """See `Rule.identity`: P_emit at all K + 1 rows; past the last token q is zero and P_emit the row itself."""
        xp = array_namespace(target, draft)
        padded = xp.concat([draft, xp.zeros_like(target[..., :1, :])], axis=-2)
        return self.emitted_law(target, padded), target

    def expected_accepted(self, target: Probs, draft: Probs, drafted: Array, accepted: int) -> float:
        """See `Rule.expected_accepted`: sum min(p, q), added over the positions that the rule came to."""
        tested = min(accepted + 1, len(draft))
        return float(sum(expected_acceptance(target[:tested], draft[:tested])))
