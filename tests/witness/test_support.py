"""What can come at all: every support that rows within reach have is within it, and nothing is unsure without need."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import needs
from draftproof.errors import UsageError
from draftproof.types import Text
from draftproof.warpers.pipeline import ORDER, Pipeline, sampling
from draftproof.warpers.top_k import TopK
from draftproof.warpers.top_p import TopP
from draftproof.witness.emitted import Emitted
from draftproof.witness.eprocess import EProcess
from draftproof.witness.support import support

FILTERS = st.fixed_dictionaries(
    {"top_k": st.sampled_from([0, 1, 2, 3, 5]), "top_p": st.sampled_from([1, 0.3, 0.5, 0.9, 0.99]),
     "min_p": st.sampled_from([0, 0.02, 0.3, 1])},
)  # fmt: skip
WARPERS = st.sampled_from(
    [{}, {"repetition_penalty": 1.7}, {"repetition_penalty": 0.6, "logit_bias": {0: 1.5}}, {"presence_penalty": 0.8},
     {"allowed_tokens": [0, 2, 3, 5]}, {"frequency_penalty": -0.5, "bad_words": [[1]]}],
)  # fmt: skip
MOVED = ("top_k", "top_p", "min_p", "temperature")
ORDERS = st.permutations(MOVED).map(lambda last: (*(name for name in ORDER if name not in MOVED), *last))
"""llama.cpp, for one, has temperature last."""
TEXT = Text([0, 3, 3, 1], 2)


def kept(pipeline, rows, kind="logits", texts=None):
    return pipeline.laws(rows, kind, texts) > 0


def perturbed(rng, rows, eta, kind):
    """Rows within reach: each score moved by up to eta, half of the times by all of it."""
    moves = eta * rng.uniform(-1, 1, rows.shape) if rng.random() < 0.5 else eta * rng.choice([-1, 1], rows.shape)
    if kind == "logits":
        return rows + moves
    return rows * np.exp(moves / 2) / (rows * np.exp(moves / 2)).sum(axis=-1, keepdims=True)  # moves by eta at most


@given(
    seed=st.integers(0, 2**32 - 1), filters=FILTERS, warpers=WARPERS, order=ORDERS,
    kind=st.sampled_from(["logits", "laws"]), temperature=st.sampled_from([0, 0.5, 1, 1.6]),
    eta=st.sampled_from([1e-5, 0.01, 0.2]),
)  # fmt: skip
@settings(max_examples=300)
def test_every_support_within_reach_is_possible(seed, filters, warpers, order, kind, temperature, eta):
    rng = np.random.default_rng(seed)
    pipeline = sampling(temperature, **filters, **warpers, order=order)
    rows = rng.normal(size=(12, 6))
    rows[1] = np.round(rows[1])  # with equals
    rows[2:6] = rows[2, 0] + 2 * eta * rng.normal(size=(4, 6))  # near-ties
    if kind == "laws":
        rows = np.exp(rows) / np.exp(rows).sum(axis=-1, keepdims=True)
    found = support(pipeline, rows, kind, eta, [TEXT] * 12)
    nominal = kept(pipeline, rows, kind, [TEXT] * 12)
    assert (nominal <= found.possible).all()
    for _ in range(15):
        there = kept(pipeline, perturbed(rng, rows, eta, kind), kind, [TEXT] * 12)
        assert (there <= found.possible).all()
        assert (there == nominal)[~found.ambiguous].all()
    assert (found.possible == nominal)[~found.ambiguous].all()


@given(seed=st.integers(0, 2**32 - 1), warpers=WARPERS, temperature=st.sampled_from([0.5, 1, 1.6]))
@settings(max_examples=40)
def test_without_a_filter_nothing_is_ambiguous(seed, warpers, temperature):
    rows = np.random.default_rng(seed).normal(size=(5, 6))
    found = support(sampling(temperature, **warpers), rows, "logits", 0.3, [TEXT] * 5)
    assert not found.ambiguous.any()
    assert (found.possible == kept(sampling(temperature, **warpers), rows, texts=[TEXT] * 5)).all()


@pytest.mark.parametrize(
    ("settings_", "rows"),
    [
        ({"top_k": 2}, [[0.0, -1.0, -1.0 - 1e-6, -3.0]]),
        ({"min_p": 0.5}, [[0.0, math.log(0.5) - 1e-6, -3.0, -4.0]]),
        ({"top_p": 0.5}, [[math.log(0.5), math.log(0.3), math.log(0.2), -40.0]]),
        ({"temperature": 0}, [[1.0, 1.0 - 1e-6, 0.0, 0.0]]),
    ],
)
def test_an_edge_that_rounding_may_move_is_seen_and_one_that_it_may_not_is_not(settings_, rows):
    rows, pipeline = np.array(rows), sampling(**settings_)
    near = support(pipeline, rows, "logits", 1e-5)
    assert near.ambiguous.tolist() == [True]
    assert near.possible[0, 1]
    apart = rows.copy()
    apart[0, 1] -= 1e-3  # a hundred times what a score may be off
    assert not support(pipeline, apart, "logits", 1e-6).ambiguous.any()


def test_a_filter_after_one_that_is_unsure_may_decide():
    rows = np.array([[0.0, -8.0, -8.0 - 1e-6, -9.0]])
    assert support(Pipeline((TopK(2),)), rows, "logits", 1e-5).ambiguous.all()
    decided = support(Pipeline((TopK(2), TopP(0.9))), rows, "logits", 1e-5)
    assert (decided.ambiguous.tolist(), decided.possible.tolist()) == ([False], [[True, False, False, False]])


def test_few_places_are_ambiguous_where_little_is_off():
    """Of 4,000 such laws 1.1 % are at 1e-5: more than 12 of 400 come once in a thousand times. At 1e-2 all are."""
    rows = 2 * np.random.default_rng(5).normal(size=(400, 1000))
    shares = [support(sampling(top_p=0.9), rows, "logits", eta).ambiguous.mean() for eta in (1e-5, 1e-2)]
    assert shares[0] <= 0.03
    assert shares[1] > 0.9


def test_tokens_at_ambiguous_places_are_left_out_and_impossible_ones_found():
    rows = np.array([[0.0, -1.0, -1.0 - 1e-6, -3.0], [0.0, -1.0, -2.0, -3.0], [0.0, -1.0, -2.0, -3.0]])
    pipeline, tokens = sampling(top_k=2), np.array([2, 1, 3])
    found = support(pipeline, rows, "logits")
    laws = pipeline.laws(rows, "logits")
    bonus = np.array([True, False, True])
    assert found.impossible(tokens).tolist() == [2]
    rest = found.bettable(Emitted(tokens, laws, laws, bonus))
    assert rest.tokens.tolist() == [1, 3]
    assert (rest.target == laws[1:]).all()
    assert rest.bonus.tolist() == [False, True]
    torch = needs("torch")
    moved = found.bettable(Emitted(tokens, torch.from_numpy(laws)))
    assert (moved.target.numpy() == laws[1:]).all()
    assert support(pipeline, torch.from_numpy(rows), "logits").ambiguous.tolist() == [True, False, False]


def test_an_engine_that_rounds_otherwise_is_convicted_without_the_guard_and_let_go_with_it():
    """Both engines sample faithfully, the second from rows that are off by more than is allowed for."""
    rng, pipeline = np.random.default_rng(6), sampling(top_k=4)
    rows = np.round(rng.normal(size=(600, 16)), 2) + 1e-4 * rng.normal(size=(600, 16))  # with many near-ties
    laws = pipeline.laws(rows, "logits")
    found = support(pipeline, rows, "logits", 1e-3)
    for off, right in ((1e-3, True), (0.05, False)):
        engine = pipeline.laws(rows + off * rng.uniform(-1, 1, rows.shape), "logits")
        tokens = np.array([rng.choice(16, p=law) for law in engine])
        naive, guarded = EProcess(), EProcess()
        naive.add(Emitted(tokens, laws))
        guarded.add(found.bettable(Emitted(tokens, laws)))
        assert naive.violation is not None
        assert (guarded.violation is None and not len(found.impossible(tokens))) == right
    assert 0 < guarded.tokens < 600


def test_rows_of_fractions_are_read_too():
    rows = np.array([[Fraction(1, 2), Fraction(1, 4), Fraction(1, 4), Fraction(0)]], dtype=object)
    found = support(sampling(top_p=Fraction(3, 4)), rows, "laws")
    assert (found.ambiguous.tolist(), found.possible.tolist()) == ([True], [[True, True, True, False]])


@pytest.mark.parametrize(
    ("pipeline", "setting"),
    [
        (sampling(typical_p=0.9), "typical_p"),
        (sampling(processors=[lambda ids, scores: scores]), "processors"),
        (sampling(top_k=2, presence_penalty=1, order=("top_k", *(name for name in ORDER if name != "top_k"))), "order"),
    ],
)
def test_what_is_not_known_of_is_refused(pipeline, setting):
    with pytest.raises(UsageError) as caught:
        support(pipeline, np.zeros((1, 4)), "logits", texts=[TEXT])
    assert caught.value.setting == setting
