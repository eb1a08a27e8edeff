"""The token rule: accept x with probability min(1, p(x)/q(x)); after a rejection emit from norm(max(0, p - q)).

In: target rows, draft rows, drafted tokens, uniforms. Out: a verdict; for people and witnesses, the laws behind it.
Source: `leviathan2023` section 2.3 and appendix A.1, `chen2023`. Exactness is checked in tests/laws/test_token_law.py.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from array_api_compat import array_namespace

from draftproof.rules.base import Verdict, entries_at, pick, row_at
from draftproof.types import Array, Probs, Uniform

__all__ = ["TokenRule", "acceptance_probabilities", "expected_acceptance", "residual_law", "residual_weights"]


def acceptance_probabilities(p: Probs, q: Probs) -> Array:
    """Return (..., V) min(1, p/q): with what probability each token is kept if it is drafted; 0 wherever p is 0."""
    xp = array_namespace(p, q)
    one, zero = xp.ones_like(p), xp.zeros_like(p)
    shrinks = q > p
    ratio = p / xp.where(shrinks, q, one)
    return xp.where(p > 0, xp.where(shrinks, ratio, one), zero)


def expected_acceptance(p: Probs, q: Probs) -> Array:
    """Return (...) sum min(p, q) = 1 - TV(p, q): the probability that one drafted token is kept."""
    xp = array_namespace(p, q)
    return xp.sum(xp.where(p < q, p, q), axis=-1)


def residual_weights(p: Probs, q: Probs) -> Array:
    """Return (..., V) max(0, p - q), not normalised; where that leaves nothing, p itself.

    Nothing is left only if p equals q, when a rejection has probability zero (or, in floats, a rounding error).
    """
    xp = array_namespace(p, q)
    surplus = xp.where(p > q, p - q, xp.zeros_like(p))
    return xp.where(xp.sum(surplus, axis=-1, keepdims=True) > 0, surplus, p)


def residual_law(p: Probs, q: Probs) -> Probs:
    """Return (..., V) norm(max(0, p - q)), the law of the token that follows a rejection; p where p equals q."""
    return _normalised(residual_weights(p, q))


@dataclass(frozen=True)
class TokenRule:
    """Token-level rejection, position by position, stopping at the first rejection.

    Args:
        residual: (p, q) -> weights (..., V) of the token emitted after a rejection. Another function here is a tamper.
    """

    residual: Callable[[Probs, Probs], Array] = residual_weights
    name: ClassVar[str] = "token"
    lossless: ClassVar[bool] = True

    def verify(
        self, target: Probs, draft: Probs, tokens: Array, accept_uniforms: Uniform, final_uniform: Uniform
    ) -> Verdict:
        """See `Rule.verify`. The test u * q < p divides by nothing, and being strict lets u = 0 save no zero of p.

        Past the last drafted token the draft's row is all zeros, so that the bonus is the residual of row K.
        """
        xp = array_namespace(target, draft)
        padded = xp.concat([draft, xp.zeros_like(target[..., :1, :])], axis=-2)
        p_token, q_token = entries_at(target[..., :-1, :], tokens), entries_at(draft, tokens)
        kept = xp.astype(accept_uniforms * q_token < p_token, xp.int64)
        accepted = xp.sum(xp.cumulative_prod(kept, axis=-1), axis=-1)
        weights = self.residual(row_at(target, accepted), row_at(padded, accepted))
        return Verdict(accepted, pick(weights, final_uniform))

    def emitted_law(self, p: Probs, q: Probs) -> Probs:
        """Return (..., V) P_emit = min(p, q) + (1 - sum min(p, q)) * norm(residual(p, q))."""
        xp = array_namespace(p, q)
        kept = xp.where(p < q, p, q)
        rejected = 1 - xp.sum(kept, axis=-1, keepdims=True)
        return kept + rejected * _normalised(self.residual(p, q))


def _normalised(weights: Array) -> Probs:
    xp = array_namespace(weights)
    return weights / xp.sum(weights, axis=-1, keepdims=True)
