"""Leaves out the tokens to which no law of a pass gives mass.

In: the laws of a pass, what was drafted, random numbers. Out: what a rule makes of the tokens that matter, in tokens of
the vocabulary. To leave out zeros changes no sum, no maximum and no order, so every rule decides the same
(tests/rules/test_support.py; on Fractions through the whole loop in tests/laws/test_support_law.py).
"""

from draftproof.rules.base import Rule, Verdict
from draftproof.rules.draft_laws import DraftLaws, SomeDraws
from draftproof.types import Array, Draws, Probs, Tree

__all__ = ["expected_accepted", "identity", "verify"]


def verify(rule: Rule, target: Probs, draft: DraftLaws, drafted: Array | Tree, draws: Draws) -> Verdict:
    """Return what `Rule.verify` returns, of one pass."""
    if (small := draft.small(target)) is None or (places := small.places(drafted)) is None:
        return rule.verify(target, _whole(draft, target), drafted, draws)
    found = rule.verify(small.target, small.draft, places, SomeDraws(draws, small.ids, target.shape[-1]))
    return found._replace(token=small.ids[int(found.token)])


def identity(rule: Rule, target: Probs, draft: Probs, drafted: Array | Tree) -> tuple[Probs, Probs]:
    """Return what `Rule.identity` returns, of one pass, without tokens at which both are zero."""
    small = DraftLaws.of(draft).small(target)
    if small is None or (places := small.places(drafted)) is None:
        return rule.identity(target, draft, drafted)
    return rule.identity(small.target, small.draft, places)


def expected_accepted(
    rule: Rule, target: Probs, draft: DraftLaws, drafted: Array | Tree, accepted: int
) -> float | None:
    """Return what `Rule.expected_accepted` returns, of one pass, but for rounding."""
    if (small := draft.small(target)) is None or (places := small.places(drafted)) is None:
        return rule.expected_accepted(target, _whole(draft, target), drafted, accepted)
    return rule.expected_accepted(small.target, small.draft, places, accepted)


def _whole(draft: DraftLaws, target: Probs) -> Probs:
    return target[:0] if draft.stacked is None else draft.stacked
