"""Tampers of the rules for several drafts at one position, and of the way through a drafted tree.

In: the laws of a tree and its tokens. Out: another choice among siblings, or another way down. It must never touch the
rules for a chain.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from draftproof.arrays import array_namespace
from draftproof.redteam.altered import greedily, ruled
from draftproof.redteam.altered_tree import AllAlive, AlteredTraversal, Choosing, at_each_node
from draftproof.redteam.base import Tamper
from draftproof.rules.base import Place, Rule, normalised, pick, surplus
from draftproof.rules.multidraft import GreedyDraft, KSeq, RecursiveRejection
from draftproof.rules.node import Choice, without
from draftproof.rules.traversal import Share, Traversal
from draftproof.rules.tree import MostProbable, TopDown
from draftproof.types import Array, Probs, Purpose

__all__ = ["TAMPERS"]

APART = TopDown("tree", RecursiveRejection())
TOGETHER = TopDown("tree-with-replacement", RecursiveRejection(replacement=True))
TWINS_APART = replace(TOGETHER, merge=False)
K_SEQ, GREEDY = TopDown("tree-k-seq", KSeq()), TopDown("tree-greedy-draft", GreedyDraft())
MATCH, TRAVERSAL = TopDown("tree-match", MostProbable()), Traversal("traversal", RecursiveRejection())
After: TypeAlias = Callable[[Probs, Probs, int], tuple[Probs, Probs]]
"""(p, q, rejected token) -> what the next sibling is tested with."""


def _in_rounds(after: After, *, once: bool = False, certain: bool = False) -> Choosing:
    """Return recursive rejection with another step from one sibling to the next.

    Args:
        after: that step.
        once: whether a token that was rejected is passed over when it comes again.
        certain: whether q counts as 1.
    """

    def choosing(p: Probs, q: Probs, tokens: list[int], place: Place) -> Choice:
        for i, (token, coin) in enumerate(zip(tokens, place.each(Purpose.ACCEPT), strict=True)):
            if once and token in tokens[:i]:
                continue
            if coin * (1 if certain else q[token]) < p[token]:
                return Choice(i, token)
            p, q = after(p, q, token)
        return Choice(None, int(pick(p, place.final())))

    return choosing


def _same_draft(p: Probs, q: Probs, _rejected: int) -> tuple[Probs, Probs]:
    return normalised(surplus(p, q)), q


def _not_normalised(p: Probs, q: Probs, _rejected: int) -> tuple[Probs, Probs]:
    return surplus(p, q), q


def _not_normalised_apart(p: Probs, q: Probs, rejected: int) -> tuple[Probs, Probs]:
    return surplus(p, q), without(q, rejected)


def _as_if_drawn(p: Probs, q: Probs, rejected: int) -> tuple[Probs, Probs]:
    return normalised(surplus(p, q)), without(q, rejected)


def _taken_out(p: Probs, q: Probs, rejected: int) -> tuple[Probs, Probs]:
    xp = array_namespace(p)
    return xp.where(xp.arange(p.shape[-1]) == rejected, xp.zeros_like(p), p), q


def _k_seq_at_one(p: Probs, q: Probs, tokens: list[int], place: Place) -> Choice:
    """Test each draft as if it were alone; cut off what then is negative in the residual."""
    for i, (token, coin) in enumerate(zip(tokens, place.each(Purpose.ACCEPT), strict=True)):
        if coin * q[token] < p[token]:
            return Choice(i, token)
    xp = array_namespace(p)
    once = xp.where(p < q, p, q)
    chance = xp.sum(once)
    factor = (1 - (1 - chance) ** len(tokens)) / chance if chance > 0 else 0
    return Choice(None, int(pick(surplus(p, once * factor), place.final())))


def _whole_law(p: Probs, q: Probs, tokens: list[int], place: Place) -> Choice:
    """Test the one drawn token with all of q, of which the certain tokens were no longer part."""
    if place.each(Purpose.ACCEPT)[-1] * q[tokens[-1]] < p[tokens[-1]]:
        return Choice(len(tokens) - 1, tokens[-1])
    token = int(pick(surplus(p, q), place.final()))
    return Choice(tokens.index(token) if token in tokens[:-1] else None, token)


def _over_the_rest(share: Share, token: int) -> Share:
    """Return what is left, its budget divided by the mass left in the draft."""
    xp = array_namespace(share.target)
    scaled, rest = share.budget * share.target, 1 - share.draft[token]
    left: Array = xp.sum(xp.where(scaled > share.draft, scaled - share.draft, xp.zeros_like(scaled)))
    return share.after(token, replacement=False)._replace(budget=left / rest if rest > 0 else rest + 1)


def _tamper(
    name: str,
    story: str,
    seen_in: str,
    honest: Rule,
    rule: Rule,
    fixture: str | None = None,
    caught_by: tuple[str, ...] = ("exact", "sequence"),
) -> Tamper:
    return Tamper(name, "tree", story, seen_in, ruled(rule), honest, (2,), fixture=fixture, caught_by=caught_by)


TAMPERS = (
    _tamper(
        "siblings-not-renormalised",
        "Tests the second sibling against max(0, p - q) as it stands, without normalising it.",
        "A08, EAGLE #183, for drawn siblings",
        APART,
        at_each_node(APART, _in_rounds(_not_normalised_apart)),
        "Q24b",
    ),
    _tamper(
        "siblings-with-replacement-not-renormalised",
        "Tests the second of two independent siblings against max(0, p - q) without normalising it.",
        "A08, EAGLE #183, for drawn siblings",
        TWINS_APART,
        at_each_node(TWINS_APART, _in_rounds(_not_normalised)),
        "Q24a",
    ),
    _tamper(
        "siblings-tested-with-the-first-draft-law",
        "Draws siblings without replacement and tests each with the q of the first one.",
        "derived",
        APART,
        at_each_node(APART, _in_rounds(_same_draft)),
        "Q25",
    ),
    _tamper(
        "twins-tested-once",
        "Passes over a sibling that repeats a rejected one, since it would be rejected again; its round is lost.",
        "derived",
        TWINS_APART,
        at_each_node(TWINS_APART, _in_rounds(_same_draft, once=True)),
        "Q26",
    ),
    _tamper(
        "certain-children-tested-as-drawn",
        "Drafts the most probable tokens and tests them with q, as if q had drawn them.",
        "A09, apple/ml-recurrent-drafter #6",
        APART,
        at_each_node(APART, _in_rounds(_as_if_drawn), greedily),
        "Q27",
    ),
    _tamper(
        "certain-siblings-not-renormalised",
        "Keeps certain children with probability p, and takes a rejected one out without normalising the rest.",
        "A08, EAGLE #183",
        MATCH,
        at_each_node(MATCH, _in_rounds(_taken_out, certain=True)),
    ),
    _tamper(
        "greedy-draft-tested-with-the-whole-law",
        "Draws the last child from the rest of q and tests it with q itself.",
        "derived",
        GREEDY,
        at_each_node(GREEDY, _whole_law),
    ),
    _tamper(
        "k-seq-at-one",
        "Tests each of k independent drafts against p / q, as if it were the only one.",
        "derived",
        K_SEQ,
        at_each_node(K_SEQ, _k_seq_at_one),
        "Q29",
    ),
    _tamper(
        "all-paths-stay-alive",
        "Goes on with the second tokens of all paths, whichever first token was chosen.",
        "derived",
        TOGETHER,
        AllAlive(TOGETHER),
        "Q30",
        ("sequence", "report"),
    ),
    _tamper(
        "budget-over-the-rest-of-the-draft",
        "Gives back to a parent what is left divided by 1 - q(x), the mass left in the draft.",
        "derived; seen in a public traversal",
        TRAVERSAL,
        AlteredTraversal(TRAVERSAL, _over_the_rest),
        "Q28",
        ("exact", "sequence", "oracles"),
    ),
)
