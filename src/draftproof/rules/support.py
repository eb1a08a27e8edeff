"""Leaves out the tokens to which no law of a pass gives mass: of 150,000, warpers that truncate leave some hundreds.

In: the laws of a pass, what was drafted, random numbers. Out: the same over the tokens that matter, and a verdict in
tokens of the vocabulary. To leave out zeros changes no sum, no maximum and no order, so every rule decides the same
(tests/rules/test_support.py; on Fractions through the whole loop in tests/laws/test_support_law.py).
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import is_numpy_array
from draftproof.rules.base import Rule, Verdict
from draftproof.types import Array, Draws, Probs, Purpose, Tree, Uniform

__all__ = ["expected_accepted", "identity", "verify"]

LEAST = 2**13
"""A smaller vocabulary is quicker taken as it is."""
SPARSE = 8
"""So many times smaller the laws must become."""


def verify(rule: Rule, target: Probs, draft: Probs, drafted: Array | Tree, draws: Draws) -> Verdict:
    """Return what `Rule.verify` returns, of one pass."""
    support, places = _supported(target, draft, drafted)
    if support is None or places is None:
        return rule.verify(target, draft, drafted, draws)
    found = rule.verify(support.target, support.draft, places, _SomeDraws(draws, support))
    return found._replace(token=support.ids[int(found.token)])


def identity(rule: Rule, target: Probs, draft: Probs, drafted: Array | Tree) -> tuple[Probs, Probs]:
    """Return what `Rule.identity` returns, of one pass, without tokens at which both are zero."""
    support, places = _supported(target, draft, drafted)
    if support is None or places is None:
        return rule.identity(target, draft, drafted)
    return rule.identity(support.target, support.draft, places)


def expected_accepted(rule: Rule, target: Probs, draft: Probs, drafted: Array | Tree, accepted: int) -> float | None:
    """Return what `Rule.expected_accepted` returns, of one pass, but for rounding."""
    support, places = _supported(target, draft, drafted)
    if support is None or places is None:
        return rule.expected_accepted(target, draft, drafted, accepted)
    return rule.expected_accepted(support.target, support.draft, places, accepted)


def _supported(target: Probs, draft: Probs, drafted: Array | Tree) -> tuple["_Support | None", Any]:
    """Return the support of a pass, and what was drafted by its place in it; None where it is no gain."""
    support = _Support.of(target, draft)
    return support, None if support is None else support.drafted(drafted)


@dataclass(frozen=True)
class _Support:
    """The laws of a pass over the tokens that have mass in one of them.

    Args:
        ids: (n,) these tokens, rising.
        target: (N + 1, n).
        draft: (rows, n).
        vocab_size: V.
    """

    ids: NDArray[np.int64]
    target: Probs
    draft: Probs
    vocab_size: int

    @classmethod
    def of(cls, target: Probs, draft: Probs) -> Self | None:
        """Return the support of laws (N + 1, V) and (rows, V); None where it is no gain.

        What is no law (a negative entry, NaN) is in the support, to be found by whoever looks.
        """
        size = target.shape[-1]
        if size < LEAST or not (is_numpy_array(target) and is_numpy_array(draft)) or draft.shape[-1] != size:
            return None
        if not len(draft):
            return None
        kept = list[NDArray[np.int64]]()
        for row in (*target, *draft):  # one at a time, so that the first whole law ends it
            kept.append(np.flatnonzero(row != 0))
            if SPARSE * len(kept[-1]) > size:
                return None
        ids = np.unique(np.concatenate(kept))
        if not 0 < SPARSE * len(ids) <= size:
            return None
        return cls(ids, target[:, ids], draft[:, ids], size)

    def drafted(self, drafted: Array | Tree) -> Array | Tree | None:
        """Return drafted tokens by their place among `ids`; None if one is none of them: it cannot have been drawn."""
        tokens = np.asarray(drafted.tokens if isinstance(drafted, Tree) else drafted, dtype=np.int64)
        places = np.searchsorted(self.ids, tokens)
        if len(tokens) and not np.array_equal(self.ids.take(places, mode="clip"), tokens):
            return None
        return Tree(tuple(places.tolist()), drafted.parents) if isinstance(drafted, Tree) else places


@dataclass(frozen=True)
class _SomeDraws:
    """See `Draws`: of what belongs to tokens, what belongs to those of the support."""

    inner: Draws
    support: _Support

    def uniforms(self, purpose: Purpose, count: int, first: int = 0) -> Uniform:
        return self.inner.uniforms(purpose, count, first)

    def exponentials(self, depth: int, vocab_size: int) -> Array:
        return self.inner.exponentials(depth, self.support.vocab_size)[self.support.ids]
