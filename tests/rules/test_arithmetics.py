"""Every rule is one code for three arithmetics: NumPy, torch and Fractions decide alike, and nobody's arrays change."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import needs
from draftproof.rules.base import Place
from draftproof.rules.catalogue import CHAIN_RULES, TREE_RULES
from draftproof.types import Tree
from engines_of_tests import Given
from laws_of_tests import in_floats, law

PRIMES = (7, 11, 13)
"""Larger than every weight of a test's laws, so that no two tokens finish a race at the same time."""


@st.composite
def uniforms(draw, count):
    """Odd multiples of 2**-21: never a threshold, whose denominator would need such a power of two; so never a tie."""
    halves = draw(st.lists(st.integers(0, 2**20 - 1), min_size=count, max_size=count))
    return np.array([Fraction(2 * half + 1, 2**21) for half in halves], dtype=object)


@st.composite
def times(draw, positions, size):
    factors = draw(st.lists(st.integers(1, 6), min_size=positions * size, max_size=positions * size))
    primes = [PRIMES[i % size] for i in range(positions * size)]
    entries = [Fraction(factor * prime) for factor, prime in zip(factors, primes, strict=True)]
    return np.array(entries, dtype=object).reshape(positions, size)


@st.composite
def draws(draw, count, size):
    rows = count + 1
    numbers = [draw(uniforms(count)), draw(uniforms(rows)), draw(uniforms(count)), draw(times(rows, size))]
    return Given(*numbers)


@st.composite
def laws(draw, rows, size):
    return np.array([draw(law(size)) for _ in range(rows)], dtype=object).reshape(rows, size)


@st.composite
def chains(draw, count, size):
    """Target rows, draft rows, tokens that the draft could draw, random numbers: all exact."""
    target, draft = draw(laws(count + 1, size)), draw(laws(count, size))
    tokens = [draw(st.sampled_from([token for token in range(size) if row[token]])) for row in draft]
    return target, draft, np.array(tokens, dtype=np.int64), draw(draws(count, size))


def stacked(arrays):
    return np.stack(arrays) if arrays[0].size else np.zeros((len(arrays), *arrays[0].shape), dtype=arrays[0].dtype)


def together(written):
    return Given(*(stacked([getattr(one, name) for one in written]) for name in ("accept", "final", "draft", "times")))


def turned(written, turn):
    return Given(turn(written.accept), turn(written.final), turn(written.draft), turn(written.times))


def decided(verdict):
    return np.asarray(verdict.accepted).tolist(), np.asarray(verdict.token).tolist()


def as_tensors(array):
    return needs("torch").from_numpy(in_floats(array))


@pytest.mark.parametrize("rule", CHAIN_RULES.values(), ids=lambda rule: rule.name)
@given(st.data())
@settings(max_examples=60)
def test_a_chain_is_decided_alike_in_all_arithmetics_alone_and_in_a_batch(rule, data):
    count, size = data.draw(st.integers(0, 3)), data.draw(st.integers(1, 3))
    batch = [data.draw(chains(count, size)) for _ in range(2)]
    alone = [rule.verify(*one) for one in batch]
    wanted = [int(verdict.accepted) for verdict in alone], [int(verdict.token) for verdict in alone]
    target, draft, tokens = (stacked([one[i] for one in batch]) for i in range(3))
    written = together([one[3] for one in batch])
    assert decided(rule.verify(target, draft, tokens, written)) == wanted
    assert decided(rule.verify(in_floats(target), in_floats(draft), tokens, turned(written, in_floats))) == wanted
    tensors = as_tensors(target), as_tensors(draft), needs("torch").from_numpy(tokens)
    assert decided(rule.verify(*tensors, turned(written, as_tensors))) == wanted
    two_axes = [part[None] for part in (target, draft, tokens)]
    assert decided(rule.verify(*two_axes, turned(written, lambda part: part[None]))) == ([wanted[0]], [wanted[1]])


@st.composite
def drafted_trees(draw, rule, widths, size):
    """A tree that `rule` drafts by itself: target and draft rows, the tree, random numbers, all exact."""
    count = int(sum(np.cumprod(widths)))
    written = draw(draws(count, size))
    pairs = draw(laws(2 * (count + 1), size)).reshape(2, count + 1, size)
    texts, tokens, parents = [()], [], []
    rows = {}
    for node in range(-1, count):
        if node == len(tokens):
            break
        text = texts[node + 1]
        rows.setdefault(text, pairs[:, len(rows)])  # twins stand for the same text and so have the same rows
        if len(text) == len(widths):
            continue
        first = len(tokens)
        place = Place(written, node + 1, len(text), tuple(range(first, first + widths[len(text)])))
        chosen = rule.children(rows[text][1], place)
        tokens += chosen
        parents += [node] * len(chosen)
        texts += [(*text, token) for token in chosen]
    target, draft = (np.stack([rows[text][which] for text in texts]) for which in (0, 1))
    return target, draft, Tree(tuple(tokens), tuple(parents)), written


@pytest.mark.parametrize("rule", TREE_RULES.values(), ids=lambda rule: rule.name)
@given(st.data())
@settings(max_examples=40)
def test_a_tree_is_decided_alike_in_all_arithmetics(rule, data):
    widths, size = (
        data.draw(st.sampled_from([(1,), (2,), (3,), (2, 1), (2, 2), (1, 2, 1)])),
        data.draw(st.integers(2, 3)),
    )
    target, draft, tree, written = data.draw(drafted_trees(rule, widths, size))
    wanted = rule.verify(target, draft, tree, written)
    for turn in (in_floats, as_tensors):
        assert rule.verify(turn(target), turn(draft), tree, turned(written, turn)) == wanted


@pytest.mark.parametrize("rule", TREE_RULES.values(), ids=lambda rule: rule.name)
@given(st.data())
@settings(max_examples=40)
def test_children_are_drawn_alike_in_all_arithmetics(rule, data):
    count, size = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    row, written = data.draw(law(size)), data.draw(draws(count, size))
    drawn = [
        rule.children(turn(row), Place(turned(written, turn), 0, 0, tuple(range(count))))
        for turn in (lambda array: array, in_floats, as_tensors)
    ]
    assert drawn[0] == drawn[1] == drawn[2]
    assert 1 <= len(drawn[0]) <= count
    assert all(type(token) is int and row[token] > 0 for token in drawn[0])


def frozen(*arrays):
    for array in arrays:
        array.flags.writeable = False  # writing to it raises
    return arrays


@pytest.mark.parametrize("rule", CHAIN_RULES.values(), ids=lambda rule: rule.name)
def test_a_chain_rule_leaves_its_inputs_as_they_were(rule):
    rng = np.random.default_rng(0)
    p, q, u, times = (
        rng.dirichlet(np.ones(5), 4),
        rng.dirichlet(np.ones(5), 3),
        rng.random(4),
        rng.exponential(size=(4, 5)),
    )
    tokens = np.array([0, 1, 2])
    inputs = frozen(p, q, tokens, u, times)
    before = [array.copy() for array in inputs]
    rule.verify(p, q, tokens, Given(u[:3], u, u, times))
    rule.identity(p, q, tokens)
    rule.expected_accepted(p, q, tokens, 1)
    assert all(np.array_equal(array, old) for array, old in zip(inputs, before, strict=True))


@pytest.mark.parametrize("rule", TREE_RULES.values(), ids=lambda rule: rule.name)
def test_a_tree_rule_leaves_its_inputs_as_they_were(rule):
    rng = np.random.default_rng(0)
    p, q, u, times = (
        rng.dirichlet(np.ones(5), 5),
        rng.dirichlet(np.ones(5), 3),
        rng.random(5),
        rng.exponential(size=(5, 5)),
    )
    inputs = frozen(p, q, u, times)
    before = [array.copy() for array in inputs]
    tree, written = Tree((0, 1, 2, 3), (-1, -1, 0, 1)), Given(u, u, u, times)
    rule.verify(p, q, tree, written)
    rule.identity(p, q, tree)
    rule.children(q[0], Place(written, 0, 0, (0, 1, 2)))
    assert all(np.array_equal(array, old) for array, old in zip(inputs, before, strict=True))
