"""Rules for drafted trees of which a part can be replaced: what tampers of such rules are built from.

In: the replaced part. Out: a rule that does what the part says, and says of itself what the honest rule says. It must
never know the witnesses.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from draftproof.rules.base import Place, Verdict, pick
from draftproof.rules.node import Choice, NodeRule
from draftproof.rules.traversal import Share, Traversal
from draftproof.rules.tree import TopDown
from draftproof.types import Array, Draws, Probs, Purpose, Tree

__all__ = ["AllAlive", "AlteredNode", "AlteredTraversal", "Choosing", "at_each_node"]

Choosing: TypeAlias = Callable[[Probs, Probs, list[int], Place], Choice]
"""See `NodeRule.choose`."""
Draw: TypeAlias = Callable[[Probs, Place], list[int]]
"""See `Rule.children`."""


@dataclass(frozen=True)
class AlteredNode:
    """A rule for siblings that chooses among them in another way, and at times draws them in another way."""

    honest: NodeRule
    choosing: Choosing
    draw: Draw | None = None

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `NodeRule.children`."""
        return self.draw(law, place) if self.draw else self.honest.children(law, place)

    def choose(self, p: Probs, q: Probs, tokens: list[int], place: Place) -> Choice:
        """See `NodeRule.choose`."""
        return self.choosing(p, q, tokens, place)

    def bonus(self, p: Probs, place: Place) -> int:
        """See `NodeRule.bonus`."""
        return self.honest.bonus(p, place)

    def rounds(self, p: Probs, q: Probs, tokens: list[int]) -> list[tuple[Array, Array]]:
        """See `NodeRule.rounds`: the honest ones."""
        return self.honest.rounds(p, q, tokens)


def at_each_node(honest: TopDown, choosing: Choosing, draw: Draw | None = None) -> TopDown:
    """Return the rule with another choice at each node."""
    return replace(honest, node=AlteredNode(honest.node, choosing, draw))


@dataclass(frozen=True)
class AllAlive:
    """Top-down, but the children of all nodes of a depth stay candidates, whichever of these nodes was chosen."""

    honest: TopDown
    lossless = True
    branches = True

    @property
    def name(self) -> str:
        """The honest one."""
        return self.honest.name

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `Rule.children`."""
        return self.honest.children(law, place)

    def verify(self, target: Probs, draft: Probs, drafted: Tree, draws: Draws) -> Verdict:
        """See `Rule.verify`."""
        path, here, alive = list[int](), -1, (-1,)
        while True:
            alive = tuple(i for i, parent in enumerate(drafted.parents) if parent in alive)
            place = Place(draws, here + 1, len(path), alive)
            if not alive:
                return Verdict(len(path), self.honest.node.bonus(target[here + 1, :], place), tuple(path))
            tokens = [drafted.tokens[node] for node in alive]
            choice = self.honest.node.choose(target[here + 1, :], draft[here + 1, :], tokens, place)
            if choice.kept is None:
                return Verdict(len(path), choice.token, tuple(path))
            here = alive[choice.kept]
            path.append(here)

    def identity(self, target: Probs, draft: Probs, drafted: Tree) -> tuple[Probs, Probs]:
        """See `Rule.identity`: the honest one."""
        return self.honest.identity(target, draft, drafted)

    def expected_accepted(self, target: Probs, draft: Probs, drafted: Tree, accepted: int) -> None:
        """See `Rule.expected_accepted`."""


@dataclass(frozen=True)
class AlteredTraversal:
    """Traversal, but what a child leaves to its parent is another share.

    Args:
        honest: draws, and speaks for this rule.
        after: (share, token of the child) -> the share once the child emitted nothing.
    """

    honest: Traversal
    after: Callable[[Share, int], Share]
    lossless = True
    branches = True

    @property
    def name(self) -> str:
        """The honest one."""
        return self.honest.name

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `Rule.children`."""
        return self.honest.children(law, place)

    def verify(self, target: Probs, draft: Probs, drafted: Tree, draws: Draws) -> Verdict:
        """See `Rule.verify`."""

        def visit(node: int, budget: Any) -> tuple[tuple[int, ...], int] | None:
            row = draft[node + 1, :] if node + 1 < len(draft) else target[0, :] * 0
            share = Share(budget, target[node + 1, :], row)
            for child in (i for i, parent in enumerate(drafted.parents) if parent == node):
                token = drafted.tokens[child]
                if found := visit(child, share.of_child(token)):
                    return (child, *found[0]), found[1]
                share = self.after(share, token)
            place = Place(draws, node + 1, 0, (node,))
            if node < 0 or place.each(Purpose.ACCEPT)[0] < share.budget:
                return (), int(pick(share.target, place.final()))
            return None

        path, token = visit(-1, target[0, 0] * 0 + 1) or ((), 0)
        return Verdict(len(path), token, path)

    def identity(self, target: Probs, draft: Probs, drafted: Tree) -> tuple[Probs, Probs]:
        """See `Rule.identity`: the honest one."""
        return self.honest.identity(target, draft, drafted)

    def expected_accepted(self, target: Probs, draft: Probs, drafted: Tree, accepted: int) -> None:
        """See `Rule.expected_accepted`."""
