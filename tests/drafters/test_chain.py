"""A chain asks its members in turn and keeps them in step."""

from dataclasses import dataclass, field

import numpy as np

from draftproof.drafters.chain import ChainDrafter
from draftproof.drafters.ngram import NgramDrafter
from draftproof.drafters.none import NoDrafter


@dataclass
class Noting:
    """Proposes token `token` after an even number of tokens, and notes what it is told."""

    token: int
    heard: list = field(default_factory=list)

    def law(self, context):
        self.heard.append(len(context))
        return None if len(context) % 2 else np.eye(3)[self.token]

    def rewind(self, length):
        self.heard.append(-length)

    def fresh(self):
        return Noting(self.token)


def test_the_first_that_proposes_anything_is_taken():
    chain = ChainDrafter((NoDrafter(), Noting(1), Noting(2)))
    assert chain.law([0, 0]).tolist() == [0, 1, 0]


def test_the_next_is_asked_only_where_the_first_is_silent():
    first, second = Noting(1), NgramDrafter(3, 1, 1)
    chain = ChainDrafter((first, second))
    assert chain.law([2, 2]).tolist() == [0, 1, 0]
    assert second.read == []
    assert chain.law([2, 2, 2]).tolist() == [0, 0, 1]
    assert second.read == [2, 2, 2]


def test_where_all_are_silent_it_is_silent():
    assert ChainDrafter((NoDrafter(), Noting(1))).law([0]) is None


def test_all_forget_whether_they_were_asked_or_not():
    members = Noting(0), Noting(1)
    chain = ChainDrafter(members)
    chain.law([0, 0])
    chain.rewind(1)
    assert [member.heard for member in members] == [[2, -1], [-1]]


def test_a_fresh_chain_has_fresh_members():
    chain = ChainDrafter((Noting(0), Noting(1)))
    chain.law([0, 0])
    assert [member.heard for member in chain.fresh().members] == [[], []]
