"""The shipped tree rules, integrated exactly over all random numbers: the target's law, and the known mean lengths."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import exact_answers, fractions
from draftproof.rules.block import BlockRule
from draftproof.rules.catalogue import RULES
from draftproof.rules.multidraft import KSeq
from draftproof.rules.token import TokenRule
from draftproof.rules.tree import TopDown
from draftproof.witness.exact import expected_tokens, pass_law
from engines_of_tests import mean, seen_law, without_zeros
from laws_of_tests import blocks, completed, law, product_of, repeated

KNOWN = exact_answers("trees.json")["expected_tokens_context_free"]
FAMILIES = exact_answers("efficiency_exact.json")
TREES = {name: rule for name, rule in RULES.items() if rule.branches}
RATIO_RULES = ["tree", "tree-with-replacement", "traversal", "traversal-with-replacement", "tree-greedy-draft"]
TRAP = fractions(["4/8", "1/8", "3/8"]), fractions(["1/9", "6/9", "2/9"])
SHAPES = {"(2,)": (2,), "(2, 1)": (2, 1), "(2, 2)": (2, 2)}


def is_lossless(rule, target, draft, branching):
    return completed(pass_law(rule, target, draft, branching), target) == product_of(target)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("branching", [(2,), (3,), (2, 1), (1, 2)], ids=str)
def test_whole_passes_have_the_targets_law_on_the_pair_that_hides_faults_least(name, branching):
    assert is_lossless(TREES[name], *repeated(*TRAP, len(branching)), branching)


@pytest.mark.parametrize("name", [name for name in TREES if name != "tree-k-seq"])
def test_a_tree_of_two_by_two_has_the_targets_law(name):
    assert is_lossless(TREES[name], *repeated(*TRAP, 2), (2, 2))


@pytest.mark.parametrize("name", ["tree-match", "tree-greedy-draft"])
def test_a_tree_of_three_by_two_has_the_targets_law(name):
    assert is_lossless(TREES[name], *repeated(*TRAP, 2), (3, 2))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tree", "traversal", "tree-coupled"])
def test_more_trees_of_three_by_two_has_the_targets_law(name):
    assert is_lossless(TREES[name], *repeated(*TRAP, 2), (3, 2))


@pytest.mark.parametrize("branching", [(2,), (2, 1), (2, 2)], ids=str)
@pytest.mark.parametrize("name", TREES)
@given(st.data())
@settings(max_examples=8)
def test_any_two_laws_over_two_tokens_make_the_targets_law(name, branching, data):
    rows = [data.draw(law(2)) for _ in range(2 * len(branching) + 1)]
    target, draft = np.stack(rows[: len(branching) + 1]), np.stack(rows[len(branching) + 1 :])
    assert is_lossless(TREES[name], target, draft, branching)


@pytest.mark.parametrize("name", RATIO_RULES)
@given(blocks(max_depth=2))
@settings(max_examples=12)
def test_any_rows_over_three_tokens_make_the_targets_law(name, rows):
    target, draft = rows
    assert is_lossless(TREES[name], target, draft, (2, 1)[: len(draft)])


@pytest.mark.parametrize("known", [known for known in KNOWN if known[0] in "AB" or "(2,)" in known])
@pytest.mark.parametrize("direction", ["topdown", "traversal"])
def test_the_expected_number_of_tokens_is_exactly_the_known_one(known, direction):
    family, _, rest = known.partition(" shape=")
    shape, _, replacement = rest.partition(" replacement=")
    # The known figures are those of a tree whose siblings stay apart, whatever they drew.
    name = {"topdown": "tree", "traversal": "traversal"}[direction] + "-with-replacement" * (replacement == "True")
    rule = replace(TREES[name], merge=False) if direction == "topdown" else TREES[name]
    p, q = fractions(FAMILIES[family]["p"]), fractions(FAMILIES[family]["q"])
    branching = SHAPES[shape]
    law_of_pass = pass_law(rule, *repeated(p, q, len(branching)), branching)
    assert expected_tokens(law_of_pass) == Fraction(KNOWN[known][direction])


@pytest.mark.parametrize(("shape", "known"), [((2,), 2), ((2, 1), Fraction(17, 6)), ((2, 2), 3)], ids=str)
def test_a_greedy_draft_emits_as_many_tokens_as_known(shape, known):
    p, q = fractions(["1/2", "1/3", "1/6"]), fractions(["1/3", "1/3", "1/3"])
    assert expected_tokens(pass_law(TREES["tree-greedy-draft"], *repeated(p, q, len(shape)), shape)) == known


@pytest.mark.parametrize(("name", "known"), [("tree-with-replacement", 2.333), ("tree-k-seq", 2.406)])
def test_two_independent_paths_keep_more_if_twins_pool_their_children(name, known):
    # The figures are known to three decimals, the second as found with a rho that was searched less finely.
    p, q = fractions(["1/3", "2/3"]), fractions(["2/3", "1/3"])
    rule = TopDown(name, KSeq(exact_bits=14)) if name == "tree-k-seq" else TREES[name]
    found = expected_tokens(pass_law(rule, *repeated(p, q, 2), (2, 1)))
    assert abs(found - known) < 1e-3


def test_top_down_without_pooling_is_lossless_too():
    for name in ("tree-with-replacement", "tree-k-seq"):
        assert is_lossless(replace(TREES[name], merge=False), *repeated(*TRAP, 2), (2, 1))


@given(blocks(max_depth=3))
@settings(max_examples=20)
def test_on_a_chain_trees_are_the_rules_for_chains(rows):
    target, draft = rows
    alike = {
        "tree": TokenRule(),
        "tree-with-replacement": TokenRule(),
        "tree-k-seq": TokenRule(),
        "tree-greedy-draft": TokenRule(),
        "traversal": BlockRule(),
        "traversal-with-replacement": BlockRule(),
    }
    for name, chain in alike.items():
        found = pass_law(TREES[name], target, draft, (1,) * len(draft))
        assert without_zeros(found) == without_zeros(pass_law(chain, target, draft))


@given(blocks(max_depth=2))
@settings(max_examples=15)
def test_traversal_never_emits_fewer_expected_tokens_than_from_the_top_down(rows):
    target, draft = rows
    branching = (2, 1)[: len(draft)]
    means = [expected_tokens(pass_law(TREES[name], target, draft, branching)) for name in ("tree", "traversal")]
    assert means[0] <= means[1]


@pytest.mark.parametrize("branching", [(2,), (2, 1)], ids=str)
@pytest.mark.parametrize("name", ["traversal", "traversal-with-replacement"])
def test_below_the_first_child_something_is_emitted_with_its_budget(name, branching):
    # P(the path begins with the first child | it drew x) = min(1, p(x) / q(x)), whatever is drafted below it.
    p, q = TRAP
    target, draft = repeated(p, q, len(branching))
    seen = seen_law(TREES[name], target, draft, branching, lambda done: (done.drafted[0], done.path[:1] == (0,)))
    for token in range(len(p)):
        assert seen.get((token, True), 0) == min(p[token], q[token])
        assert seen.get((token, True), 0) + seen.get((token, False), 0) == q[token]


@pytest.mark.parametrize("name", TREES)
def test_what_a_pass_says_of_its_bonus_is_whether_its_path_ends_at_a_leaf(name):
    target, draft = repeated(*TRAP, 2)
    seen = seen_law(TREES[name], target, draft, (1, 1), lambda done: (len(done.path), done.bonus))
    assert all(bonus == (length == 2) for length, bonus in seen)
    assert mean(seen, lambda outcome: outcome[1]) > 0
