"""Drafted tokens and the laws they were drawn from, inseparable: a chain, or a tree.

In: a drafter, a context, a rule that draws, random numbers. Out: a `Proposal`. There is no other way to make one: "the
q in the test is not the law the token was drawn from" is the commonest loss of exactness in public engines, so it
cannot be written down here.
"""

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field, replace
from typing import Self

import numpy as np

from draftproof.arrays import array_namespace, beside, is_numpy_array
from draftproof.drafters.base import Drafter
from draftproof.engine.devices import draws_beside
from draftproof.errors import ContractError
from draftproof.rules.base import Place, Rule
from draftproof.rules.draft_laws import DraftLaws
from draftproof.types import Array, Draws, Probs, Text, Tokens, Tree

__all__ = ["Proposal", "common_length"]

_DRAWN = object()


@dataclass(frozen=True)
class Proposal:
    """N drafted tokens and the laws they were drawn from.

    Args:
        tree: the tokens and how they follow each other.
        draft: those laws.
        text: the text before them; it is the engine's own, which grows when the pass is over.
        read: the drafted tokens that the drafter read last, after `text`.
    """

    tree: Tree
    draft: DraftLaws
    text: Tokens
    read: tuple[int, ...]
    made_by: InitVar[object] = None

    def __post_init__(self, made_by: object) -> None:
        if made_by is not _DRAWN:
            raise ContractError("a Proposal is made by Proposal.draw only, from the laws its tokens are drawn from")

    @property
    def laws(self) -> Probs | None:
        """The laws, rows as in `Tree`, zeros at leaves, none after the last inner node: for a chain of K tokens (K, V).

        None when nothing was drafted.
        """
        return self.draft.stacked

    @property
    def is_chain(self) -> bool:
        """Whether every token follows the one drafted before it."""
        return self.tree.parents == tuple(range(-1, len(self.tree.tokens) - 1))

    @property
    def chain(self) -> Array:
        """The tokens (N,) of a chain, for the rules that take one; where the laws are."""
        tokens = np.asarray(self.tree.tokens, dtype=np.int64)
        if self.draft.in_numpy or self.laws is None:
            return tokens
        return array_namespace(self.laws).asarray(tokens, device=self.laws.device)

    def beside(self, target: Probs) -> Self:
        """Return the same proposal with the same laws where the target's are."""
        if (self.draft.in_numpy and is_numpy_array(target)) or self.laws is None:
            return self
        return replace(self, draft=DraftLaws.of(beside(self.laws, target)), made_by=_DRAWN)

    @property
    def depth(self) -> int:
        """How many tokens the longest branch has."""
        depths: list[int] = []
        for parent in self.tree.parents:
            depths.append(1 if parent < 0 else depths[parent] + 1)
        return max(depths, default=0)

    def prefixes(self, context: Tokens) -> list[list[int]]:
        """Return the text before each of the N + 1 rows: `context` and the drafted tokens that lead there."""
        prompt_length = context.prompt_length if isinstance(context, Text) else 0
        found: list[list[int]] = [Text(context, prompt_length)]
        for token, parent in zip(*self.tree, strict=True):
            found.append(Text([*found[parent + 1], token], prompt_length))
        return found

    @classmethod
    def draw(cls, drafter: Drafter, context: Tokens, widths: Sequence[int], rule: Rule, draws: Draws) -> Self:
        """Draft a tree whose nodes at depth d have widths[d] children, fewer where drafter or rule propose fewer.

        A branch is followed to its end before the next is begun. Uniforms consumed: those of `rule.children`.
        `context` is written to meanwhile if it is a list, so that a long text is not copied for every token.
        """
        text = context if isinstance(context, list) else list(context)
        start = len(text)
        growing = _Growing(drafter, rule, draws, widths, text, start)
        try:
            growing.grow(-1)
        finally:
            del text[start:]
        tree = Tree(tuple(growing.tokens), tuple(growing.parents))
        return cls(tree, growing.draft.settled(), text, growing.read, _DRAWN)


@dataclass
class _Growing:
    """A tree in the making."""

    drafter: Drafter
    rule: Rule
    draws: Draws
    widths: Sequence[int]
    text: list[int]
    start: int
    read: tuple[int, ...] = ()
    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    draft: DraftLaws = field(default_factory=DraftLaws)

    def grow(self, node: int) -> None:
        """Draft the children of `node`, to which `text` leads, and then theirs."""
        depth = len(self.text) - self.start
        if depth >= len(self.widths) or (law := self._law()) is None:
            return
        first = len(self.tokens)
        place = Place(draws_beside(self.draws, law), node + 1, depth, tuple(range(first, first + self.widths[depth])))
        drafted = self.draft.children(self.rule, law, place)
        self.tokens += drafted
        self.parents += [node] * len(drafted)
        for child, token in enumerate(drafted, first):
            self.text.append(token)
            self.grow(child)
            self.text.pop()

    def _law(self) -> Probs | None:
        branch = tuple(self.text[self.start :])
        shared = common_length(branch, self.read)
        if shared < len(self.read):
            self.drafter.rewind(self.start + shared)
        self.read = branch
        return self.drafter.law(self.text)


def common_length(one: Tokens, other: Tokens) -> int:
    """Return how many tokens two texts begin with together."""
    shared = min(len(one), len(other))
    if tuple(one[:shared]) == tuple(other[:shared]):
        return shared
    return next(i for i in range(shared) if one[i] != other[i])
