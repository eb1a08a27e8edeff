"""Rules for a drafted tree from the top down, with a rule at each node; `traversal.py` goes from the leaves up.

In: target rows after the text and every node, draft rows of the inner nodes, the tree. Out: the path that stays and the
token after it. Exactness is checked in tests/laws/test_tree_law.py. Source: `miao2024`.
"""

from dataclasses import dataclass

from draftproof.arrays import array_namespace
from draftproof.rules.base import Place, Verdict, pick
from draftproof.rules.contract import check_tree
from draftproof.rules.node import Choice, NodeRule, most_probable
from draftproof.types import Array, Draws, Probs, Tree

__all__ = ["MostProbable", "TopDown"]


@dataclass(frozen=True)
class TopDown:
    """Choose among the children of the text, then among those of the chosen one, until none stays or a leaf is reached.

    Args:
        name: what a user types.
        node: what chooses at each node.
        merge: whether siblings that drew the same token pool their children (k independent paths need it).
    """

    name: str
    node: NodeRule
    merge: bool = True
    lossless = True
    branches = True

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `Rule.children`."""
        return self.node.children(law, place)

    def verify(self, target: Probs, draft: Probs, drafted: Tree, draws: Draws) -> Verdict:
        """See `Rule.verify`. Uniforms consumed: what `node` takes at each node that is come to, a FINAL at a leaf."""
        check_tree(target, draft, drafted)
        path: list[int] = []
        alive = [-1]
        while True:
            row = alive[0] + 1
            children = tuple(i for i, parent in enumerate(drafted.parents) if parent in alive)
            place = Place(draws, row, len(path), children)
            if not children:
                return Verdict(len(path), self.node.bonus(target[row, :], place), tuple(path))
            tokens = [drafted.tokens[child] for child in children]
            choice = self.node.choose(target[row, :], draft[row, :], tokens, place)
            if choice.kept is None:
                return Verdict(len(path), choice.token, tuple(path))
            kept = children[choice.kept]
            path.append(kept)
            twins = (child for child, token in zip(children, tokens, strict=True) if token == choice.token)
            alive = [kept, *(child for child in twins if self.merge and child != kept)]

    def identity(self, target: Probs, draft: Probs, drafted: Tree) -> tuple[Probs, Probs]:
        """See `Rule.identity`: every step at every inner node, and the rows of the leaves as they are."""
        xp = array_namespace(target)
        emitted, wanted = list[Array](), list[Array]()
        for row in range(len(drafted.tokens) + 1):
            tokens = [token for token, parent in zip(*drafted, strict=True) if parent + 1 == row]
            steps = self.node.rounds(target[row, :], draft[row, :], tokens) if tokens else [(target[row, :],) * 2]
            emitted += [step[0] for step in steps]
            wanted += [step[1] for step in steps]
        return xp.stack(emitted), xp.stack(wanted)

    def expected_accepted(self, target: Probs, draft: Probs, drafted: Tree, accepted: int) -> None:
        """See `Rule.expected_accepted`: not computed for trees."""


@dataclass(frozen=True)
class MostProbable:
    """Children that are certain, the draft's k most probable tokens: sample from the target, go on if it is a child.

    The children may be any set fixed without looking at the target's rows; testing them as if q had drawn them is not
    lossless.
    """

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `NodeRule.children`: nothing is drawn."""
        return most_probable(law, len(place.children))

    def choose(self, p: Probs, q: Probs, tokens: list[int], place: Place) -> Choice:
        """See `NodeRule.choose`. Uniforms consumed: a FINAL."""
        token = self.bonus(p, place)
        return Choice(tokens.index(token) if token in tokens else None, token)

    def bonus(self, p: Probs, place: Place) -> int:
        """See `NodeRule.bonus`. Uniforms consumed: a FINAL."""
        return int(pick(p, place.final()))

    def rounds(self, p: Probs, q: Probs, tokens: list[int]) -> list[tuple[Array, Array]]:
        """See `NodeRule.rounds`: what is emitted is drawn from p itself."""
        return [(p, p)]
