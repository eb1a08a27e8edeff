"""No rule decides about rows that are no laws, or tokens that were not drawn from them; the fault is named."""

from fractions import Fraction

import numpy as np
import pytest

from conftest import needs
from draftproof.errors import ContractError
from draftproof.rules.base import Place
from draftproof.rules.catalogue import CHAIN_RULES, RULES, TREE_RULES
from draftproof.rules.contract import check_laws
from draftproof.types import Tree
from engines_of_tests import Given

NAN, INF = float("nan"), float("inf")
WRITTEN = Given(np.zeros(9), np.zeros(9), np.zeros(9), np.ones((9, 3)))
"""The smallest uniforms: every coin falls, so that nothing could hide behind an early rejection."""
NO_LAWS = {
    "NaN": ([NAN, 0.5, 0.5], "sum|smallest"),
    "all NaN": ([NAN, NAN, NAN], "sum|smallest"),
    "infinite": ([INF, 0.0, 0.0], "inf"),
    "negative, though the sum is 1": ([1.5, -0.5, 0.0], "-0.5"),
    "nothing": ([0.0, 0.0, 0.0], "0.0"),
    "logits": ([2.0, 0.5, 1.0], "3.5"),
    "masked logits": ([2.0, 0.5, -INF], "-inf"),
    "twice a law": ([1.0, 0.5, 0.5], "2.0"),
    "less than a law": ([0.5, 0.25, 0.125], "0.875"),
}


def rows(count):
    return np.full((count, 3), [0.5, 0.25, 0.25])


def with_row(laws, index, row):
    laws = laws.copy()
    laws[index] = row
    return laws


def chain(rule, target=None, draft=None, tokens=(0, 1)):
    target, draft = rows(3) if target is None else target, rows(2) if draft is None else draft
    return rule.verify(target, draft, np.array(tokens, dtype=np.int64), WRITTEN)


def tree(rule, target=None, draft=None, tokens=(0, 1, 2), parents=(-1, -1, 1)):
    """Two children of the text; the second has a child: draft rows 0 and 2 matter."""
    target, draft = rows(4) if target is None else target, rows(3) if draft is None else draft
    return rule.verify(target, draft, Tree(tuple(tokens), tuple(parents)), WRITTEN)


def verify(rule, target=None, draft=None, **tokens):
    return (tree if rule.branches else chain)(rule, target, draft, **tokens)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_proper_laws_and_tokens_pass(rule):
    verify(rule)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
@pytest.mark.parametrize("fault", NO_LAWS)
def test_a_target_row_that_is_no_law_is_named(rule, fault):
    row, found = NO_LAWS[fault]
    for index in range(3):
        laws = with_row(rows(4 if rule.branches else 3), index, row)
        with pytest.raises(ContractError, match=f"target row {index} is no law.*({found})"):
            verify(rule, target=laws)


@pytest.mark.parametrize("rule", CHAIN_RULES.values(), ids=lambda rule: rule.name)
@pytest.mark.parametrize("fault", NO_LAWS)
def test_a_draft_row_that_is_no_law_is_named(rule, fault):
    row, found = NO_LAWS[fault]
    for index in range(2):
        with pytest.raises(ContractError, match=f"draft row {index} is no law.*({found})"):
            chain(rule, draft=with_row(rows(2), index, row))


@pytest.mark.parametrize("rule", TREE_RULES.values(), ids=lambda rule: rule.name)
@pytest.mark.parametrize("fault", NO_LAWS)
def test_a_draft_row_of_a_tree_that_is_no_law_is_named(rule, fault):
    row, found = NO_LAWS[fault]
    for index in (0, 2):
        with pytest.raises(ContractError, match=rf"draft \(numbered {index}\).*is no law.*({found})"):
            tree(rule, draft=with_row(rows(3), index, row))


@pytest.mark.parametrize("rule", TREE_RULES.values(), ids=lambda rule: rule.name)
def test_rows_of_leaves_do_not_matter_and_may_be_missing(rule):
    wanted = tree(rule)
    assert tree(rule, draft=with_row(rows(3), 1, [NAN, 7.0, -1.0])) == wanted
    assert tree(rule, draft=with_row(rows(4), 3, [NAN, 7.0, -1.0])) == wanted


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
@pytest.mark.parametrize("token", [-1, -3, 3, 1000])
def test_a_token_outside_the_vocabulary_is_named(rule, token):
    for index in range(2):
        tokens = [0, 1, 2] if rule.branches else [0, 1]
        tokens[index] = token
        with pytest.raises(ContractError, match=f"drafted token {index} is {token}; allowed are 0 to 2"):
            verify(rule, tokens=tokens)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_a_token_that_its_law_could_not_give_is_named(rule):
    with pytest.raises(ContractError, match=r"draft row 0 gives token 0 .*no mass"):
        verify(rule, draft=with_row(rows(3 if rule.branches else 2), 0, [0.0, 0.75, 0.25]))


def test_a_later_token_that_its_law_could_not_give_is_named():
    for rule in CHAIN_RULES.values():
        with pytest.raises(ContractError, match="draft row 1 gives token 1 no mass"):
            chain(rule, draft=with_row(rows(2), 1, [0.5, 0.0, 0.5]))
    for rule in TREE_RULES.values():
        with pytest.raises(ContractError, match=r"draft row 2 gives token 2 \(node 2\) no mass"):
            tree(rule, draft=with_row(rows(3), 2, [0.5, 0.5, 0.0]))


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_rows_of_another_vocabulary_are_refused(rule):
    for draft in (np.full((3, 4), 0.25), np.full((3, 2), 0.5)):
        with pytest.raises(ContractError, match=f"3 entries and draft rows {draft.shape[-1]}"):
            verify(rule, draft=draft if rule.branches else draft[:2])


@pytest.mark.parametrize("rule", CHAIN_RULES.values(), ids=lambda rule: rule.name)
@pytest.mark.parametrize(("target", "draft"), [(2, 2), (4, 2), (3, 1), (3, 3), (3, 0), (0, 2)])
def test_a_wrong_number_of_rows_is_refused(rule, target, draft):
    with pytest.raises(ContractError, match=f"need 3 target rows and 2 draft rows; got {target} and {draft}"):
        chain(rule, rows(target), rows(draft))


@pytest.mark.parametrize("rule", TREE_RULES.values(), ids=lambda rule: rule.name)
@pytest.mark.parametrize(("target", "draft"), [(3, 3), (5, 3), (4, 2), (4, 5)])
def test_a_wrong_number_of_rows_of_a_tree_is_refused(rule, target, draft):
    with pytest.raises(ContractError, match=f"need 4 target rows and 3 draft rows; got {target} and {draft}"):
        tree(rule, rows(target), rows(draft))


@pytest.mark.parametrize("rule", TREE_RULES.values(), ids=lambda rule: rule.name)
@pytest.mark.parametrize("parents", [(-1, 1, 0), (-1, -1, 2), (-1, 2, 0), (-2, -1, 1)])
def test_a_child_before_its_parent_is_refused(rule, parents):
    with pytest.raises(ContractError, match="parent"):
        tree(rule, draft=rows(4), parents=parents)


def test_the_first_row_at_fault_in_a_batch_is_named():
    laws = np.stack([rows(3), with_row(rows(3), 1, [NAN, 0.5, 0.5])])
    with pytest.raises(ContractError, match="target row 1 is no law"):
        check_laws(laws, "target")


@pytest.mark.parametrize("rule", CHAIN_RULES.values(), ids=lambda rule: rule.name)
def test_tensors_and_fractions_are_held_to_the_same_contract(rule):
    torch = needs("torch")
    tensors = [torch.from_numpy(with_row(rows(3), 2, [0.5, NAN, 0.5])), torch.from_numpy(rows(2))]
    with pytest.raises(ContractError, match="target row 2 is no law"):
        rule.verify(*tensors, torch.tensor([0, 1]), WRITTEN)
    exact = np.full((3, 3), Fraction(1, 3))
    with pytest.raises(ContractError, match="draft row 1 is no law: it sums to 2/3"):
        rule.verify(
            exact, with_row(exact[:2], 1, [Fraction(1, 3), Fraction(1, 3), Fraction(0)]), np.array([0, 1]), WRITTEN
        )


def test_rows_normalised_in_float32_are_laws():
    # 150,000 float32 entries sum to 1 within 1e-7 log V: far inside the slack that logits are far outside of.
    rng = np.random.default_rng(0)
    laws = rng.dirichlet(np.ones(150_000), 2).astype(np.float32)
    check_laws(laws, "draft")


@pytest.mark.parametrize("rule", CHAIN_RULES.values(), ids=lambda rule: rule.name)
def test_a_zero_uniform_never_saves_a_forbidden_token_of_a_chain(rule):
    # Token 0 is forbidden at row 1; its race would be won at time 1e-300 if it were let in.
    target = with_row(rows(4), 1, [0.0, 0.5, 0.5])
    written = Given(np.zeros(3), np.zeros(4), times=np.full((4, 3), [1e-300, 1.0, 1.0]))
    verdict = rule.verify(target, rows(3), np.array([0, 0, 0]), written)
    assert (int(verdict.accepted), int(verdict.token)) == (1, 1)


@pytest.mark.parametrize("rule", TREE_RULES.values(), ids=lambda rule: rule.name)
@pytest.mark.parametrize("widths", [(1,), (2,), (3,), (1, 1), (2, 1)])
def test_a_zero_uniform_never_saves_a_forbidden_token_of_a_tree(rule, widths):
    # Zero uniforms draft token 0 first, and it is the likeliest; where it stands all rows forbid it.
    target, draft = np.array([0.0, 0.75, 0.25]), np.array([0.5, 0.375, 0.125])
    written = Given(np.zeros(9), np.zeros(9), np.zeros(9), np.full((3, 3), [1e-300, 1.0, 1.0]))
    tokens, parents, level = [], [], [-1]
    for depth, width in enumerate(widths):
        nodes = level
        level = []
        for node in nodes:
            first = len(tokens)
            chosen = rule.children(draft, Place(written, node + 1, depth, tuple(range(first, first + width))))
            tokens += chosen
            parents += [node] * len(chosen)
            level += range(first, len(tokens))
    assert 0 in tokens
    laws = np.tile(target, (len(tokens) + 1, 1)), np.tile(draft, (len(tokens) + 1, 1))
    verdict = rule.verify(*laws, Tree(tuple(tokens), tuple(parents)), written)
    assert 0 not in [*(tokens[node] for node in verdict.path), verdict.token]
