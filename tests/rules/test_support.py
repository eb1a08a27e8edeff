"""Tokens without mass may be left out: every rule decides the same, and what is no law is still refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.errors import ContractError
from draftproof.noise import PassNoise, PhiloxNoise
from draftproof.rules import support
from draftproof.rules.base import Place
from draftproof.rules.catalogue import CHAIN_RULES, RULES, TREE_RULES
from draftproof.rules.draft_laws import DraftLaws
from draftproof.types import Tree

SIZE, WIDTHS = 2**13, (2, 2)
NODES = 6


def sparse_laws(rng, rows, size=SIZE, tokens=40):
    """Laws over some tokens of a large vocabulary, many of which they share."""
    laws = np.zeros((rows, size))
    for row in laws:
        row[rng.choice(tokens, tokens // 2, replace=False) * (size // tokens)] = rng.random(tokens // 2)
    return laws / laws.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("rule", CHAIN_RULES.values(), ids=lambda rule: rule.name)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(0, 4))
@settings(max_examples=40)
def test_a_chain_is_decided_as_over_the_whole_vocabulary(rule, seed, count):
    rng, draws = np.random.default_rng(seed), PassNoise(PhiloxNoise(seed), 5)
    target, draft = sparse_laws(rng, count + 1), sparse_laws(rng, count)
    drafted = np.array([rule.children(row, Place(draws, i, i, (i,)))[0] for i, row in enumerate(draft)], dtype=np.int64)
    whole, small = (
        rule.verify(target, draft, drafted, draws),
        support.verify(rule, target, DraftLaws.of(draft), drafted, draws),
    )
    assert (int(whole.accepted), int(whole.token)) == (int(small.accepted), int(small.token))
    emitted, wanted = support.identity(rule, target, draft, drafted)
    assert wanted.shape[-1] < SIZE or count == 0
    assert np.abs(emitted - wanted).max() < 1e-12


@pytest.mark.parametrize("rule", TREE_RULES.values(), ids=lambda rule: rule.name)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_a_tree_is_decided_as_over_the_whole_vocabulary(rule, seed):
    rng, draws = np.random.default_rng(seed), PassNoise(PhiloxNoise(seed), 5)
    target, draft = sparse_laws(rng, NODES + 1), sparse_laws(rng, 3)
    tokens, parents = [], []
    for row, depth in ((0, 0), (1, 1), (2, 1)):
        if row > len(tokens):
            break
        first = len(tokens)
        drafted = rule.children(draft[row], Place(draws, row, depth, (first, first + 1)))
        tokens += drafted
        parents += [row - 1] * len(drafted)
    tree = Tree(tuple(tokens), tuple(parents))
    target = target[: len(tokens) + 1]
    draft = draft[: max(parents) + 2]
    whole, small = (
        rule.verify(target, draft, tree, draws),
        support.verify(rule, target, DraftLaws.of(draft), tree, draws),
    )
    assert (whole.accepted, whole.token, whole.path) == (small.accepted, small.token, small.path)


def test_whole_laws_are_taken_as_they_are():
    rng = np.random.default_rng(0)
    for target in (rng.dirichlet(np.ones(SIZE), size=2), sparse_laws(rng, 2, SIZE // 2)):
        assert DraftLaws.of(target[:1]).small(target) is None


def test_the_tokens_of_a_pass_are_found_once_and_those_of_other_laws_anew(monkeypatch):
    rng, draws, rule = np.random.default_rng(2), PassNoise(PhiloxNoise(0), 5), CHAIN_RULES["block"]
    asked, find = [], DraftLaws._found
    monkeypatch.setattr(DraftLaws, "_found", lambda laws, target: asked.append(target) or find(laws, target))
    target, laws = sparse_laws(rng, 2), sparse_laws(rng, 1)
    drafted, draft = laws.argmax(axis=-1), DraftLaws.of(laws)
    support.verify(rule, target, draft, drafted, draws)
    support.expected_accepted(rule, target, draft, drafted, 1)
    assert len(asked) == 1
    for other in (np.roll(target, 1, axis=-1), target.copy()):
        found = support.verify(rule, other, draft, drafted, draws)
        assert found == rule.verify(other, laws, drafted, draws)
    assert len(asked) == 3


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
@given(seed=st.integers(0, 2**32 - 1), tokens=st.sampled_from([2, 4, 8, 40]))
@settings(max_examples=40)
def test_the_same_tokens_are_drafted_as_over_the_whole_vocabulary(rule, seed, tokens):
    law = sparse_laws(np.random.default_rng(seed), 1, tokens=tokens)[0]
    place = Place(PassNoise(PhiloxNoise(seed), 5), 0, 0, (0, 1, 2) if rule.branches else (0,))
    laws = DraftLaws()
    assert laws.children(rule, law, place) == rule.children(law, place)
    assert np.array_equal(laws.stacked, law[None])
    assert laws._few


@pytest.mark.parametrize("tokens", [40, SIZE // 2])
def test_what_was_drawn_from_counts_whatever_becomes_of_the_array(tokens):
    """A drafter that writes to the array it returned before does not change what its tokens are tested against."""
    rng, draws, rule = np.random.default_rng(3), PassNoise(PhiloxNoise(0), 5), CHAIN_RULES["token"]
    target, law = sparse_laws(rng, 2, tokens=tokens), sparse_laws(rng, 1, tokens=tokens)[0]
    draft, before = DraftLaws(), law.copy()
    drafted = np.array(draft.children(rule, law, Place(draws, 0, 0, (0,))))
    draft = draft.settled()
    law[:] = np.roll(law, 7)
    assert np.array_equal(draft.stacked, before[None])
    assert support.verify(rule, target, draft, drafted, draws) == rule.verify(target, before[None], drafted, draws)


@pytest.mark.parametrize("wrong", [-0.5, np.nan, 3.0])
@pytest.mark.parametrize("whose", ["target", "draft"])
def test_what_is_no_law_is_still_refused(wrong, whose):
    rng, draws = np.random.default_rng(1), PassNoise(PhiloxNoise(0), 5)
    target, draft = sparse_laws(rng, 3), sparse_laws(rng, 2)
    drafted = draft.argmax(axis=-1)
    (target if whose == "target" else draft)[1, 77] = wrong
    with pytest.raises(ContractError, match=f"{whose} row 1 is no law"):
        support.verify(CHAIN_RULES["token"], target, DraftLaws.of(draft), drafted, draws)


def test_a_token_that_was_not_drawn_is_still_refused():
    rng, draws = np.random.default_rng(1), PassNoise(PhiloxNoise(0), 5)
    target, draft = sparse_laws(rng, 2), sparse_laws(rng, 1)
    for token, words in ((3, "gives token 3 no mass"), (SIZE, f"is {SIZE}"), (-1, "is -1")):
        with pytest.raises(ContractError, match=words):
            support.verify(CHAIN_RULES["token"], target, DraftLaws.of(draft), np.array([token]), draws)


def test_rows_without_any_mass_are_refused():
    draws, zeros = PassNoise(PhiloxNoise(0), 5), np.zeros((2, SIZE))
    with pytest.raises(ContractError, match="no law"):
        support.verify(CHAIN_RULES["token"], zeros, DraftLaws.of(zeros[:1]), np.array([0]), draws)
