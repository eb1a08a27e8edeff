"""A proposal: what was drafted and the laws it was drawn from, as chains and as trees."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from draftproof.engine.proposal import Proposal
from draftproof.errors import ContractError
from draftproof.noise import PassNoise, PhiloxNoise
from draftproof.rules.catalogue import RULES
from draftproof.rules.draft_laws import DraftLaws
from draftproof.types import Purpose, Tree

NOISE = PhiloxNoise(11)


@dataclass
class Scripted:
    """A drafter that proposes laws[n] after n drafted tokens, and notes what it is asked."""

    laws: list
    asked: list = field(default_factory=list)

    def law(self, context):
        self.asked.append(tuple(context))
        depth = len(context) - 1
        return np.array(self.laws[depth]) if depth < len(self.laws) else None

    def rewind(self, length):
        self.asked.append(length)


def proposal_of(laws, widths, rule="token", drafter=None):
    return Proposal.draw(drafter or Scripted(laws), [0], widths, RULES[rule], PassNoise(NOISE, 1))


def test_a_proposal_cannot_be_made_by_hand():
    with pytest.raises(ContractError):
        Proposal(Tree((1,), (-1,)), DraftLaws.of(np.array([[0.5, 0.5]])), [0], ())
    with pytest.raises(ContractError):
        replace(proposal_of([[0.0, 1.0]], (1,)), draft=DraftLaws.of(np.array([[1.0, 0.0]])))


def test_a_proposal_keeps_the_laws_its_tokens_were_drawn_from():
    laws = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    proposal = proposal_of(laws, (1, 1))
    assert proposal.tree == Tree((1, 2), (-1, 0))
    assert proposal.chain.tolist() == [1, 2]
    assert proposal.is_chain
    assert np.array_equal(proposal.laws, laws)


def test_the_drafts_of_a_chain_are_drawn_with_the_uniforms_of_their_places():
    laws = np.full((3, 4), 0.25)
    uniforms = NOISE.uniforms(Purpose.DRAFT, 1, 3)
    assert proposal_of(laws, (1, 1, 1)).tree.tokens == tuple((uniforms * 4).astype(int))


def test_a_drafter_that_proposes_nothing_makes_an_empty_proposal():
    proposal = proposal_of([], (1, 1))
    assert (proposal.tree, proposal.laws) == (Tree((), ()), None)
    assert proposal.chain.shape == (0,)


def test_a_chain_ends_where_the_drafter_stops_proposing():
    proposal = proposal_of([[0.0, 1.0]], (1, 1, 1))
    assert proposal.tree == Tree((1,), (-1,))
    assert len(proposal.laws) == 1


def test_siblings_are_numbered_together_and_a_branch_is_followed_to_its_end():
    laws = [[0.5, 0.0, 0.5], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]
    proposal = proposal_of(laws, (2, 2, 1), "tree")
    assert proposal.tree.parents == (-1, -1, 0, 0, 2, 3, 1, 1, 6, 7)
    assert sorted(proposal.tree.tokens[:2]) == [0, 2]
    assert not proposal.is_chain
    rows = {-1: 0, 0: 1, 1: 1, 2: 2, 3: 2, 6: 2, 7: 2}
    for row, law in enumerate(proposal.laws):  # leaves have rows of zeros, and none after the last inner node
        assert law.tolist() == (laws[rows[row - 1]] if row - 1 in rows else [0.0, 0.0, 0.0])
    assert len(proposal.laws) == 1 + 7 + 1


def test_every_law_of_a_tree_is_asked_for_after_the_text_that_leads_to_it():
    drafter = Scripted([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]])
    proposal = proposal_of(None, (2, 1), "tree", drafter)
    one, two, three, four = proposal.tree.tokens
    assert proposal.prefixes([0]) == [[0], [0, one], [0, two], [0, one, three], [0, two, four]]
    assert drafter.asked == [(0,), (0, one), 1, (0, two)]
    assert proposal.read == (two,)
