import numpy as np
import pytest
from hypothesis import given, settings

from conftest import exact_answers, fractions
from draftproof.rules.block import BlockRule
from draftproof.rules.catalogue import RULES
from draftproof.types import Tree
from engines_of_tests import Given, grown, order_table, rows_of, told, verdict_law
from laws_of_tests import blocks

ANSWERS = exact_answers("trees.json")
TARGET, DRAFT = order_table(ANSWERS["P"]), order_table(ANSWERS["Q"])
JUST_BELOW_ONE = 1 - 2.0**-53


def rule_of(trace):
    return RULES["traversal-with-replacement" if trace["replacement"] else "traversal"]


def laws_of(trace):
    tree, texts = grown(trace["tree"])
    return rows_of(TARGET, texts), rows_of(DRAFT, texts), tree


def visiting_order(tree, node=-1):
    """Nodes from the leaves up, each after its children."""
    for child, parent in enumerate(tree.parents):
        if parent == node:
            yield from visiting_order(tree, child)
    yield node


@pytest.mark.parametrize("trace", ANSWERS["traces"], ids=lambda trace: str(trace["tree"]))
def test_every_node_is_visited_from_the_leaves_up_with_its_exact_budget(trace):
    target, draft, tree = laws_of(trace)
    _, noted = told(rule_of(trace), target, draft, tree, falls=None)
    *inner, text = trace["traversal_visits_if_all_fail"]
    assert [node for node, _ in noted] == list(visiting_order(tree))[:-1]
    assert [chance for _, chance in noted] == fractions(visit["accept_prob"] for visit in inner).tolist()
    assert text["accept_prob"] == "1"  # the text itself always emits and has no coin


@pytest.mark.parametrize("trace", ANSWERS["traces"], ids=lambda trace: str(trace["tree"]))
def test_every_node_emits_its_exact_law(trace):
    target, draft, tree = laws_of(trace)
    for node, visit in zip(visiting_order(tree), trace["traversal_visits_if_all_fail"], strict=True):
        law, _ = told(rule_of(trace), target, draft, tree, falls=node)
        (path,) = {path for path, _ in law}
        assert [tree.tokens[step] for step in path] == visit["path"]
        assert path == () or path[-1] == node
        wanted = fractions(visit["emit_law_if_accepted"])
        assert [law.get((path, token), 0) for token in range(len(wanted))] == wanted.tolist()


@given(blocks(max_depth=3))
@settings(max_examples=40)
def test_on_a_chain_it_is_the_block_rule(rows):
    target, draft = rows
    tokens = [int(np.flatnonzero(row)[-1]) for row in draft]
    block = verdict_law(BlockRule(), target, draft, np.array(tokens))
    tree = Tree(tuple(tokens), tuple(range(-1, len(tokens) - 1)))
    for name in ("traversal", "traversal-with-replacement"):
        found = verdict_law(RULES[name], target, draft, tree)
        assert {(len(path), token): chance for (path, token), chance in found.items()} == block
        assert all(path == tuple(range(len(path))) for path, _ in found)


def test_equal_laws_keep_a_whole_branch_whatever_the_uniforms():
    law = np.array([0.1, 0.2, 0.7])
    tree = Tree((2, 1, 0, 2), (-1, -1, 0, 1))
    written = Given(np.full(4, JUST_BELOW_ONE), np.full(5, 0.5))
    verdict = RULES["traversal"].verify(np.tile(law, (5, 1)), np.tile(law, (3, 1)), tree, written)
    assert (verdict.path, verdict.accepted, verdict.token) == ((0, 2), 2, 2)


def test_without_a_draft_the_token_is_drawn_from_the_target():
    row = np.array([[0.25, 0.75]])
    verdict = RULES["traversal"].verify(row, row[:0], Tree((), ()), Given(final=np.array([0.25])))
    assert (verdict.path, verdict.token) == ((), 1)


def test_the_identity_has_an_entry_for_each_child_and_each_node():
    trace = ANSWERS["traces"][0]
    emitted, wanted = rule_of(trace).identity(*laws_of(trace))
    assert emitted.shape == wanted.shape == (6 + 7, 3)
    assert emitted.tolist() == wanted.tolist()
