"""Several drafts for one position: recursive rejection, k-SEQ, and the greedy draft. The more guesses, the more hits.

In: a target row, a draft row, k tokens drafted from it. Out: the token that stays or replaces them, with law p.
Exactness is checked in tests/laws/test_multidraft_law.py. Source: `miao2024`, `jeon2024`, `sun2023`, `hu2025`.
"""

from dataclasses import dataclass
from fractions import Fraction

from draftproof.arrays import array_namespace
from draftproof.rules.base import Place, drawn, normalised, pick, surplus
from draftproof.rules.node import Choice, most_probable, without
from draftproof.types import Array, Probs, Purpose

__all__ = ["GreedyDraft", "KSeq", "RecursiveRejection"]


@dataclass(frozen=True)
class RecursiveRejection:
    """Test one draft after the other; each rejection leaves a residual that the next is tested against (`miao2024`).

    Args:
        replacement: whether the drafts are independent draws from q, or each differs from those before (`jeon2024`).
    """

    replacement: bool = False

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `NodeRule.children`: a DRAFT uniform a token; fewer tokens if q has no more."""
        if self.replacement:
            return drawn(law, place)
        xp, tokens = array_namespace(law), list[int]()
        for uniform in place.each(Purpose.DRAFT):
            if not xp.sum(law) > 0:
                break
            tokens.append(int(pick(law, uniform)))
            law = without(law, tokens[-1])
        return tokens

    def choose(self, p: Probs, q: Probs, tokens: list[int], place: Place) -> Choice:
        """See `NodeRule.choose`. Uniforms consumed: an ACCEPT a child, and a FINAL if none stays."""
        for i, (token, coin) in enumerate(zip(tokens, place.each(Purpose.ACCEPT), strict=True)):
            if coin * q[token] < p[token]:
                return Choice(i, token)
            p, q = self._after(p, q, token)
        return Choice(None, int(pick(p, place.final())))

    def bonus(self, p: Probs, place: Place) -> int:
        """See `NodeRule.bonus`. Uniforms consumed: a FINAL."""
        return int(pick(p, place.final()))

    def rounds(self, p: Probs, q: Probs, tokens: list[int]) -> list[tuple[Array, Array]]:
        """See `NodeRule.rounds`: in each, min(p, q) + rejected * residual must be the p of that round."""
        found: list[tuple[Array, Array]] = []
        for token in tokens:
            found.append((_kept_and_residual(p, q), p))
            p, q = self._after(p, q, token)
        return found

    def _after(self, p: Probs, q: Probs, token: int) -> tuple[Probs, Probs]:
        """Return what remains to be emitted, and the law of the next draft, once `token` is rejected."""
        return normalised(surplus(p, q)), q if self.replacement else without(q, token)


@dataclass(frozen=True)
class KSeq:
    """Test k independent drafts, each against p / rho; rho is the least at which no residual is negative (`sun2023`).

    Args:
        bits: how finely rho is searched: to within k / 2**bits, from above, since from below would not be lossless.
        exact_bits: the same in fractions, which grow with every bit.
    """

    bits: int = 40
    exact_bits: int = 4

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `NodeRule.children`: a DRAFT uniform a token."""
        return drawn(law, place)

    def choose(self, p: Probs, q: Probs, tokens: list[int], place: Place) -> Choice:
        """See `NodeRule.choose`. Uniforms consumed: an ACCEPT a child, and a FINAL if none stays."""
        rho = self.rho(p, q, len(tokens))
        for i, (token, coin) in enumerate(zip(tokens, place.each(Purpose.ACCEPT), strict=True)):
            if coin * (rho * q[token]) < p[token]:
                return Choice(i, token)
        return Choice(None, int(pick(self._left(p, q, len(tokens), rho), place.final())))

    def bonus(self, p: Probs, place: Place) -> int:
        """See `NodeRule.bonus`. Uniforms consumed: a FINAL."""
        return int(pick(p, place.final()))

    def rounds(self, p: Probs, q: Probs, tokens: list[int]) -> list[tuple[Array, Array]]:
        """See `NodeRule.rounds`: kept by any of the k tests, plus the residual, must be p."""
        xp, rho = array_namespace(p), self.rho(p, q, len(tokens))
        kept = _kept(p, q, rho, len(tokens))
        return [(kept + (1 - xp.sum(kept)) * normalised(self._left(p, q, len(tokens), rho)), p)]

    def rho(self, p: Probs, q: Probs, count: int) -> float | Fraction:
        """Return a rho in [1, k], at most k / 2**bits above the least one that is lossless."""
        exact = p.dtype == object
        low, high = (Fraction(1), Fraction(count)) if exact else (1.0, float(count))
        if _leaves_enough(p, q, low, count):
            return low
        for _ in range(self.exact_bits if exact else self.bits):
            middle = (low + high) / 2
            low, high = (low, middle) if _leaves_enough(p, q, middle, count) else (middle, high)
        return high

    @staticmethod
    def _left(p: Probs, q: Probs, count: int, rho: float | Fraction) -> Array:
        return surplus(p, _kept(p, q, rho, count))


def _leaves_enough(p: Probs, q: Probs, rho: float | Fraction, count: int) -> bool:
    """Return whether `count` tests against p / rho together keep no token more often than p has it."""
    xp, goal = array_namespace(p), p / rho
    chance = xp.sum(xp.where(goal < q, goal, q))
    return bool(1 - (1 - chance) ** count <= rho * chance)


def _kept(p: Probs, q: Probs, rho: float | Fraction, count: int) -> Array:
    """Return (V,) with which probability each token stays as one of `count` drafts."""
    xp, goal = array_namespace(p), p / rho
    once = xp.where(goal < q, goal, q)
    chance = xp.sum(once)
    return once * ((1 - (1 - chance) ** count) / chance) if chance > 0 else xp.zeros_like(p)


@dataclass(frozen=True)
class GreedyDraft:
    """The k - 1 most probable tokens, certain, and one drawn from the rest of q, tested by the ratio (`hu2025`).

    After a rejection the residual is drawn; if it gives one of the certain tokens, that child stays.
    """

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `NodeRule.children`: one DRAFT uniform, that of the last child."""
        xp = array_namespace(law)
        certain = most_probable(law, len(place.children) - 1)
        rest = _outside(law, certain)
        return [*certain, int(pick(rest, place.each(Purpose.DRAFT)[-1]))] if xp.sum(rest) > 0 else certain

    def choose(self, p: Probs, q: Probs, tokens: list[int], place: Place) -> Choice:
        """See `NodeRule.choose`. Uniforms consumed: the ACCEPT of the last child; a FINAL if that is rejected."""
        drawn_token, rest = tokens[-1], normalised(_outside(q, tokens[:-1]))
        if place.each(Purpose.ACCEPT)[-1] * rest[drawn_token] < p[drawn_token]:
            return Choice(len(tokens) - 1, drawn_token)
        token = int(pick(surplus(p, rest), place.final()))
        return Choice(tokens.index(token) if token in tokens[:-1] else None, token)

    def bonus(self, p: Probs, place: Place) -> int:
        """See `NodeRule.bonus`. Uniforms consumed: a FINAL."""
        return int(pick(p, place.final()))

    def rounds(self, p: Probs, q: Probs, tokens: list[int]) -> list[tuple[Array, Array]]:
        """See `NodeRule.rounds`: min(p, q') + rejected * residual must be p, with q' the rest of q."""
        return [(_kept_and_residual(p, normalised(_outside(q, tokens[:-1]))), p)]


def _outside(law: Probs, tokens: list[int]) -> Array:
    """Return weights (V,): the law without `tokens`."""
    xp = array_namespace(law)
    ids = xp.arange(law.shape[-1], device=law.device)
    inside = ids < 0
    for token in tokens:
        inside = inside | (ids == token)
    return xp.where(inside, xp.zeros_like(law), law)


def _kept_and_residual(p: Probs, q: Probs) -> Probs:
    xp = array_namespace(p)
    kept = xp.where(p < q, p, q)
    return kept + (1 - xp.sum(kept)) * normalised(surplus(p, q))
