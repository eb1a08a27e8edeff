"""Traversal: decide a drafted tree from its leaves up; on a chain it is the block rule.

In: target rows after the text and every node, draft rows of the inner nodes, the tree. Out: the path that stays and the
token after it. Every node carries a budget: the probability with which something below it must be emitted, given that
it was drafted. What a child could not use goes back to its parent. Source: `weng2025`; derived anew from that
invariant, and checked in tests/laws/test_tree_law.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from draftproof.arrays import array_namespace
from draftproof.rules.base import Place, Verdict, normalised, pick, positive, unless_empty
from draftproof.rules.contract import check_tree
from draftproof.rules.node import NodeRule, without
from draftproof.types import Array, Draws, Probs, Purpose, Tree

__all__ = ["Share", "Traversal"]


class Share(NamedTuple):
    """What a node has still to emit, and from where its next child would come."""

    budget: Any
    """Probability with which something at or below the node must be emitted, given that it was drafted."""
    target: Probs
    """(V,) the law of the token after it, as far as it is not emitted yet."""
    draft: Probs
    """(V,) the law of its next child; all zeros when there can be none."""

    def of_child(self, token: int) -> Any:
        """Return the budget of a child that drew `token`: min(1, budget * target / draft)."""
        goal, drafted = self.budget * self.target[token], self.draft[token]
        return goal / drafted if drafted > goal else goal / goal if goal > 0 else goal

    def after(self, token: int, *, replacement: bool) -> "Share":
        """Return the share once the child that drew `token` emitted nothing."""
        xp = array_namespace(self.target)
        scaled = self.budget * self.target
        above = positive(scaled - self.draft)
        left = xp.sum(above)
        total = left + (1 - self.budget)
        target = normalised(unless_empty(above, scaled)) if self.budget > 0 else self.target
        draft = self.draft if replacement else without(self.draft, token)
        return Share(left / total if total > 0 else total + 1, target, draft)


@dataclass(frozen=True)
class Traversal:
    """Bottom-up verification of a tree.

    Args:
        name: what a user types.
        node: draws the children: `RecursiveRejection`, with or without replacement.
        replacement: whether it draws them with replacement.
    """

    name: str
    node: NodeRule
    replacement: bool = False
    lossless = True
    branches = True

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `Rule.children`."""
        return self.node.children(law, place)

    def verify(self, target: Probs, draft: Probs, drafted: Tree, draws: Draws) -> Verdict:
        """See `Rule.verify`. Uniforms consumed: an ACCEPT for each node that is come to, and one FINAL."""
        check_tree(target, draft, drafted)

        def visit(node: int, budget: Any) -> tuple[tuple[int, ...], int] | None:
            share = Share(budget, target[node + 1, :], _row(draft, node + 1, target))
            for child in _children(drafted, node):
                token = drafted.tokens[child]
                if found := visit(child, share.of_child(token)):
                    return (child, *found[0]), found[1]
                share = share.after(token, replacement=self.replacement)
            place = Place(draws, node + 1, 0, (node,))
            if node < 0 or place.each(Purpose.ACCEPT)[0] < share.budget:
                return (), int(pick(share.target, place.final()))
            return None

        found = visit(-1, target[0, 0] * 0 + 1)
        assert found is not None  # noqa: S101  the text itself always emits
        return Verdict(len(found[0]), found[1], found[0])

    def identity(self, target: Probs, draft: Probs, drafted: Tree) -> tuple[Probs, Probs]:
        """See `Rule.identity`: of each share, emitted by the next child plus passed on must be the share."""
        xp = array_namespace(target)
        emitted, wanted = list[Array](), list[Array]()

        def visit(node: int, budget: Any) -> None:
            share = Share(budget, target[node + 1, :], _row(draft, node + 1, target))
            for child in _children(drafted, node):
                token = drafted.tokens[child]
                visit(child, share.of_child(token))
                scaled, rest = share.budget * share.target, share.after(token, replacement=self.replacement)
                kept = xp.where(scaled < share.draft, scaled, share.draft)
                emitted.append(kept + (1 - xp.sum(kept)) * rest.budget * rest.target)
                wanted.append(scaled)
                share = rest
            emitted.append(share.target)  # a leaf emits its own row
            wanted.append(share.target)

        visit(-1, target[0, 0] * 0 + 1)
        return xp.stack(emitted), xp.stack(wanted)

    def expected_accepted(self, target: Probs, draft: Probs, drafted: Tree, accepted: int) -> None:
        """See `Rule.expected_accepted`: not computed for trees."""


def _children(tree: Tree, node: int) -> Iterator[int]:
    return (child for child, parent in enumerate(tree.parents) if parent == node)


def _row(draft: Probs, row: int, target: Probs) -> Probs:
    """Return (V,), the draft's row there; zeros for a leaf, whose row may be missing."""
    return draft[row, :] if row < draft.shape[0] else target[0, :] * 0
