"""Warpers: equal to transformers' processors on floats, exact on Fractions, strict at the door."""

from fractions import Fraction

import numpy as np
import pytest

from conftest import fractions, needs
from draftproof.errors import ContractError, UsageError
from draftproof.warpers.pipeline import Pipeline, sampling
from draftproof.warpers.temperature import Temperature
from draftproof.warpers.top_k import TopK
from draftproof.warpers.top_p import TopP

SETTINGS = [
    (1.0, 0, 1.0),
    (0.7, 0, 1.0),
    (2.5, 0, 1.0),
    (1.0, 1, 1.0),
    (1.0, 7, 1.0),
    (1.0, 500, 1.0),
    (1.0, 0, 0.9),
    (1.0, 0, 1e-9),
    (0.8, 40, 0.95),
    (1.3, 3, 0.2),
]


def transformers_law(logits, temperature, top_k, top_p):
    library, scores = needs("transformers"), needs("torch").from_numpy(logits)
    for warper in (
        library.TemperatureLogitsWarper(temperature),
        *([library.TopKLogitsWarper(top_k)] if top_k else []),
        *([library.TopPLogitsWarper(top_p)] if top_p < 1 else []),
    ):
        scores = warper(None, scores)
    return scores.softmax(-1).numpy()


@pytest.mark.parametrize(("temperature", "top_k", "top_p"), SETTINGS)
def test_every_row_equals_transformers(temperature, top_k, top_p):
    logits = np.random.default_rng(0).normal(size=(6, 300)) * 3
    law = sampling(temperature, top_k, top_p).laws(logits, "logits")
    expected = transformers_law(logits, temperature, top_k, top_p)
    assert np.array_equal(law > 0, expected > 0)
    assert np.abs(law - expected).max() < 1e-14  # float64 on both sides; sums are taken in another order


def test_rows_are_warped_alone_as_in_company():
    logits = np.random.default_rng(1).normal(size=(5, 64)).astype(np.float32)
    warp = sampling(0.9, 10, 0.8)
    together = warp.laws(logits, "logits")
    assert all(
        np.array_equal(warp.laws(row[None], "logits")[0], law) for row, law in zip(logits, together, strict=True)
    )


def test_laws_are_float64_and_sum_to_one_whatever_the_logits():
    logits = np.float32([[-1e30, 0, 88], [1e30, -1e30, 0], [0, -np.inf, 0]])
    law = Pipeline().laws(logits, "logits")
    assert law.dtype == np.float64
    assert np.abs(law.sum(-1) - 1).max() < 1e-15
    assert law[2, 1] == 0


def test_temperature_zero_is_one_hot_at_the_lowest_best_id():
    assert sampling(0).laws(np.array([[1.0, 3.0, 3.0]]), "logits").tolist() == [[0, 1, 0]]


@pytest.mark.parametrize("temperature", [5e-324, 1e-300, 1e-3, 1e300])
def test_extreme_temperatures_give_laws(temperature):
    law = sampling(temperature).laws(np.array([[1.0, 2.0, 2.0]]), "logits")[0]
    expected = [0, 0.5, 0.5] if temperature < 1 else [1 / 3] * 3
    assert law == pytest.approx(expected, abs=1e-12)


def test_everything_is_exact_on_fractions():
    law = fractions(["1/2", "1/4", "1/8", "1/8"])[None]
    assert Pipeline((Temperature(Fraction(1, 2)),)).laws(law, "laws")[0].tolist() == [
        Fraction(n, 22) for n in (16, 4, 1, 1)
    ]
    assert Pipeline((TopK(2),)).laws(law, "laws")[0].tolist() == [Fraction(2, 3), Fraction(1, 3), 0, 0]
    assert Pipeline((TopP(Fraction(3, 4)),)).laws(law, "laws")[0].tolist() == [
        Fraction(2, 3),
        Fraction(1, 3),
        0,
        0,
    ]
    assert Pipeline((Temperature(0),)).laws(law, "laws")[0].tolist() == [1, 0, 0, 0]


def test_top_k_keeps_all_tokens_level_with_the_kth():
    assert TopK(2)(np.array([0.4, 0.2, 0.2, 0.2])).tolist() == [0.4, 0.2, 0.2, 0.2]


def test_top_p_keeps_the_lowest_ids_among_equals():
    assert TopP(0.5)(np.full(4, 0.25)).tolist() == [0.25, 0.25, 0, 0]


def test_top_p_keeps_the_token_that_reaches_the_mass_exactly():
    assert TopP(0.75)(np.array([0.25, 0.5, 0.25])).tolist() == [0.25, 0.5, 0]


def test_top_p_always_keeps_a_token():
    assert np.count_nonzero(TopP(1e-300)(np.full(8, 1 / 8))) == 1


def test_torch_and_numpy_agree():
    logits = np.random.default_rng(2).normal(size=(3, 50))
    warp = sampling(0.8, 20, 0.9)
    got = warp.laws(needs("torch").from_numpy(logits), "logits").numpy()
    assert np.abs(got - warp.laws(logits, "logits")).max() < 1e-15


@pytest.mark.parametrize(
    "row",
    [[np.nan, 0.0], [np.inf, 0.0], [-np.inf, -np.inf], [np.nan, -np.inf]],
    ids=["NaN", "infinity", "nothing left", "NaN and nothing"],
)
@pytest.mark.parametrize("temperature", [0, 1])
def test_scores_without_a_law_are_refused(row, temperature):
    with pytest.raises(ContractError):
        sampling(temperature).laws(np.array([[0.0, 1.0], row]), "logits")


@pytest.mark.parametrize("row", [[-0.1, 1.1], [0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_laws_that_are_none_are_refused(row):
    with pytest.raises(ContractError):
        Pipeline().laws(np.array([row]), "laws")


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"temperature": -0.1}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"temperature": float("inf")}, "temperature"),
        ({"top_k": -1}, "top_k"),
        ({"top_p": 0}, "top_p"),
        ({"top_p": 1.01}, "top_p"),
        ({"top_p": float("nan")}, "top_p"),
    ],
)
def test_settings_outside_their_range_are_refused_by_name(settings, name):
    with pytest.raises(UsageError, match=name) as refusal:
        sampling(**settings)
    assert refusal.value.setting == name
