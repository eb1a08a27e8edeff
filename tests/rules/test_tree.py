"""Trees from the top down: which child is tested against what, who follows whom, and when a pass ends."""

import numpy as np
import pytest

from conftest import exact_answers, fractions
from draftproof.rules.base import Place
from draftproof.rules.catalogue import RULES
from draftproof.rules.multidraft import RecursiveRejection
from draftproof.rules.tree import MostProbable, TopDown
from draftproof.types import Tree
from engines_of_tests import Given, grown, order_table, rows_of, told

ANSWERS = exact_answers("trees.json")
TARGET, DRAFT = order_table(ANSWERS["P"]), order_table(ANSWERS["Q"])
CERTAIN, NEVER = 0.0, 1 - 2.0**-53


def rule_of(trace):
    return RULES["tree-with-replacement" if trace["replacement"] else "tree"]


def laws_of(trace):
    tree, texts = grown(trace["tree"])
    return rows_of(TARGET, texts), rows_of(DRAFT, texts), tree


@pytest.mark.parametrize("trace", ANSWERS["traces"], ids=lambda trace: str(trace["tree"]))
def test_the_children_of_the_text_are_tested_with_the_exact_probabilities(trace):
    target, draft, tree = laws_of(trace)
    law, noted = told(rule_of(trace), target, draft, tree, falls=None)
    tests = trace["topdown_root"]["tests"]
    assert [tree.tokens[node] for node, _ in noted] == [test["child"] for test in tests]
    assert [chance for _, chance in noted] == fractions(test["accept_prob"] for test in tests).tolist()
    wanted = fractions(trace["topdown_root"]["emit_law_if_all_rejected"])
    assert [law.get(((), token), 0) for token in range(3)] == wanted.tolist()


@pytest.mark.parametrize("trace", ANSWERS["traces"], ids=lambda trace: str(trace["tree"]))
def test_each_rejection_leaves_the_exact_laws_for_the_next_child(trace):
    target, draft, tree = laws_of(trace)
    node = RecursiveRejection(replacement=trace["replacement"])
    p, q = target[0], draft[0]
    tokens = [token for token, parent in zip(*tree, strict=True) if parent == -1]
    rounds = node.rounds(p, q, tokens)
    for token, (_, wanted), test in zip(tokens, rounds, trace["topdown_root"]["tests"], strict=True):
        assert p.tolist() == wanted.tolist() == fractions(test["p_before"]).tolist()
        assert q.tolist() == fractions(test["q_before"]).tolist()
        p, q = node._after(p, q, token)


def verify(rule, tree, accept, final=0.5, target=(0.25, 0.25, 0.5)):
    """All rows of the draft are uniform, those of the target `target`; `accept` and `final` by node and by row."""
    count = len(tree.tokens)
    written = Given(np.array(accept), np.broadcast_to(final, count + 1))
    return rule.verify(np.tile(target, (count + 1, 1)), np.full((count + 1, 3), 1 / 3), tree, written)


def test_the_kept_child_becomes_the_node_and_a_leaf_emits_its_own_row():
    tree = Tree((0, 2, 1, 2), (-1, -1, 0, 1))
    verdict = verify(RULES["tree"], tree, [NEVER, CERTAIN, CERTAIN, CERTAIN], final=0.3)
    assert (verdict.path, verdict.accepted, verdict.token) == ((1, 3), 2, 1)


def test_a_pass_ends_where_no_child_stays():
    tree = Tree((2, 1, 0), (-1, 0, 1))
    verdict = verify(RULES["tree"], tree, [CERTAIN, NEVER, CERTAIN])
    assert (verdict.path, verdict.accepted, verdict.token) == (
        (0,),
        1,
        2,
    )  # what is left of p once q is gone is token 2


def test_siblings_are_tested_in_the_order_of_drafting():
    tree = Tree((2, 0), (-1, -1))
    assert verify(RULES["tree"], tree, [CERTAIN, CERTAIN]).path == (0,)


TWINS = Tree((2, 2, 0, 1), (-1, -1, 0, 1))
"""Two paths, (2, 0) and (2, 1): after token 2 is kept, both go on."""


def test_twins_pool_their_children():
    verdict = verify(
        RULES["tree-with-replacement"], TWINS, [CERTAIN, CERTAIN, NEVER, CERTAIN], target=(0.25, 0.5, 0.25)
    )
    # Token 2 of node 0 stays; its child 0 does not, but that of its twin does: the path is the text (2, 1).
    assert [TWINS.tokens[node] for node in verdict.path] == [2, 1]
    assert verdict.path == (0, 3)


def test_without_merging_only_the_kept_twins_own_children_are_tested():
    rule = TopDown("apart", RecursiveRejection(replacement=True), merge=False)
    verdict = verify(rule, TWINS, [CERTAIN, CERTAIN, NEVER, CERTAIN], target=(0.25, 0.5, 0.25))
    assert verdict.path == (0,)


def test_siblings_of_another_token_are_not_alive_after_the_choice():
    # The second path begins with another token: its child is no candidate although its coin would fall.
    tree = Tree((2, 0, 0, 1), (-1, -1, 0, 1))
    verdict = verify(RULES["tree-with-replacement"], tree, [CERTAIN, CERTAIN, NEVER, CERTAIN], target=(0.25, 0.5, 0.25))
    assert verdict.path == (0,)


@pytest.mark.parametrize("name", ["tree", "tree-with-replacement", "tree-k-seq", "tree-greedy-draft", "tree-match"])
def test_without_a_draft_the_token_is_drawn_from_the_target(name):
    row = np.array([[0.25, 0.75]])
    verdict = RULES[name].verify(row, row[:0], Tree((), ()), Given(final=np.array([0.25])))
    assert (verdict.path, verdict.accepted, verdict.token) == ((), 0, 1)


def test_sample_and_match_follows_the_targets_draws_down_the_tree():
    tree = Tree((2, 1, 0, 1), (-1, -1, 0, 0))
    finals = np.array([[0.6, 0.1, 0.9, 0.9, 0.9], [0.3, 0.1, 0.6, 0.9, 0.9], [0.1, 0.1, 0.1, 0.1, 0.1]])
    verdicts = [verify(RULES["tree-match"], tree, [NEVER] * 4, final) for final in finals]
    assert [(verdict.path, verdict.token) for verdict in verdicts] == [((0, 2), 2), ((1,), 2), ((), 0)]


def test_the_children_of_sample_and_match_are_certain():
    law = np.array([0.2, 0.5, 0.3])
    drawn = [MostProbable().children(law, Place(Given(), 0, 0, tuple(range(count)))) for count in (1, 2, 3, 5)]
    assert drawn == [[1], [1, 2], [1, 2, 0], [1, 2, 0]]


@pytest.mark.parametrize("name", ["tree", "tree-with-replacement", "tree-greedy-draft", "tree-match", "tree-coupled"])
def test_the_identity_covers_every_inner_node_and_every_leaf(name):
    target, draft, tree = laws_of(ANSWERS["traces"][0])
    emitted, wanted = RULES[name].identity(target, draft, tree)
    steps = 2 if name in ("tree", "tree-with-replacement") else 1
    assert len(emitted) == len(wanted) == 3 * steps + 4
    assert emitted.tolist() == wanted.tolist()
