"""Many rows of a real vocabulary are warped a few at a time: to the same laws, and errors name the row."""

import numpy as np
import pytest

from conftest import needs
from draftproof.errors import ContractError
from draftproof.warpers.base import normalise
from draftproof.warpers.pipeline import CACHED, Pipeline, sampling
from draftproof.warpers.temperature import Temperature
from draftproof.warpers.top_k import TopK
from draftproof.warpers.top_p import TopP

ROWS, SIZE = 7, CACHED // 3 + 5  # two rows at a time, and one is left
SETTINGS = [(1.0, 0, 1.0), (0.8, 0, 0.95), (0.7, 40, 1.0), (1.3, 40, 0.9), (0, 0, 1.0), (0, 3, 0.5)]


def logits(rows=ROWS, size=SIZE):
    return np.random.default_rng(0).normal(scale=2, size=(rows, size)).astype(np.float32)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_row_has_the_same_law_alone_and_in_company(setting):
    warp, rows = sampling(*setting), logits()
    together = warp.laws(rows, "logits")
    assert np.array_equal(together, warp._warped(rows, "logits", None))
    assert all(np.array_equal(warp.laws(row[None], "logits")[0], law) for row, law in zip(rows, together, strict=True))


@pytest.mark.parametrize("setting", SETTINGS)
def test_numpy_and_torch_agree(setting):
    rows, warp = logits(2), sampling(*setting)
    got = warp.laws(needs("torch").from_numpy(rows), "logits").numpy()
    expected = warp.laws(rows, "logits")
    assert np.array_equal(got > 0, expected > 0)
    assert np.abs(got - expected).max() < 1e-14  # the two libraries compute exp in ways of their own


@pytest.mark.parametrize("temperature", [0, 1, 0.8])
@pytest.mark.parametrize("size", [5, SIZE])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_without_a_law_are_refused_by_the_number_of_their_row(temperature, size, bad):
    for row in (0, 5):
        rows = logits(size=size)
        rows[row, 3] = bad
        with pytest.raises(ContractError, match=f"row {row} "):
            sampling(temperature, top_p=0.9).laws(rows, "logits")


@pytest.mark.parametrize("size", [5, SIZE])
def test_what_a_filter_spoils_is_refused_by_the_number_of_its_row(size):
    rows = logits(size=size)
    rows[4, 0] = 50
    for spoil in (
        lambda law, out: np.where(law > 0.99, -1, law),
        lambda law, out: np.where(law.max(-1) > 0.99, 0, law.T).T,
    ):
        with pytest.raises(ContractError, match="row 4 "):
            Pipeline((spoil,)).laws(rows, "logits")


@pytest.mark.parametrize("row", [[-0.1, 1.1], [0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_laws_that_are_none_are_refused_by_the_number_of_their_row(row):
    with pytest.raises(ContractError, match="row 2 "):
        Pipeline().laws(np.array([[0.5, 0.5], [1.0, 0.0], row]), "laws")
    with pytest.raises(ContractError, match="row 2 "):
        normalise(np.array([[[0.5, 0.5], [1.0, 0.0]], [row, [1.0, 0.0]]]))


def test_neither_logits_nor_laws_are_written_to():
    rows, laws = logits(), np.random.default_rng(1).dirichlet(np.ones(50), 3)
    before = rows.copy(), laws.copy()
    for warp in (sampling(), sampling(0.8, 40, 0.9)):
        warp.laws(rows, "logits")
        warp.laws(laws, "laws")
    assert np.array_equal(rows, before[0])
    assert np.array_equal(laws, before[1])


@pytest.mark.parametrize("k", [1, 40, 49, 50])
def test_top_k_keeps_what_a_sort_would_keep(k):
    laws = np.random.default_rng(2).integers(0, 9, size=(20, 50)) / 400
    kth = np.sort(laws, axis=-1)[:, -k, None]
    assert np.array_equal(TopK(k)(laws), np.where(laws >= kth, laws, 0))


def one_after_the_other(temperature, p, rows):
    """The laws of the two steps, each on whole rows."""
    law = Temperature(temperature).laws(rows, "logits")
    return normalise(TopP(p)(law))


@pytest.mark.parametrize("temperature", [1e-9, 1e-3, 0.3, 1.0, 1.7])
@pytest.mark.parametrize("p", [1e-9, 0.3, 0.95, 1 - 1e-9])
@pytest.mark.parametrize("scale", [0.0, 0.1, 2.0, 9.0])
def test_temperature_and_top_p_at_once_are_one_after_the_other(temperature, p, scale):
    rows = np.random.default_rng(1).normal(scale=scale, size=(4, SIZE)).astype(np.float32)
    rows[1, 100:120] = rows[1].max()  # equals
    rows[2, ::2] = -np.inf
    found, wanted = sampling(temperature, top_p=p).laws(rows, "logits"), one_after_the_other(temperature, p, rows)
    assert np.array_equal(found > 0, wanted > 0)
    assert np.abs(found - wanted).max() < 1e-15


@pytest.mark.parametrize("off", [-1e-7, -1e-12, 0, 1e-12, 1e-7])
def test_a_nucleus_that_ends_within_the_rounding_is_found_on_the_whole_row(off, monkeypatch):
    """Three tokens have a quarter of the mass each, thousands share the last one; p is where the second one ends."""
    rows = np.full((1, SIZE), -np.log(SIZE - 3), dtype=np.float64)
    rows[0, [5, 50, 500]] = [2e-9, 1e-9, 0]
    whole = []
    monkeypatch.setattr(TopP, "__call__", lambda *given, taken=TopP.__call__: whole.append(given) or taken(*given))
    found = sampling(1.0, top_p=0.5 + off).laws(rows, "logits")
    assert whole
    assert np.array_equal(found > 0, one_after_the_other(1.0, 0.5 + off, rows) > 0)
    whole.clear()
    assert np.flatnonzero(sampling(1.0, top_p=0.6).laws(rows, "logits")).tolist() == [5, 50, 500]
    assert not whole


def test_scores_of_doubles_are_told_apart():
    rows = np.full((1, SIZE), -30.0)
    rows[0, [7, 70]] = [1, 1 + 1e-12]  # one number in float32
    assert np.flatnonzero(sampling(1.0, top_p=0.4).laws(rows, "logits")).tolist() == [70]


@pytest.mark.parametrize("low", [-17.9, -18.1, -19.0])
@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_tokens_that_are_not_near_are_part_of_the_mass(low, temperature):
    """Two tokens hold nearly all of it: whether they hold p of it depends on all the others together."""
    rows = np.full((1, SIZE), low * temperature)
    rows[0, [3, 30]] = [0, -1 * temperature]
    held = (1 + np.exp(-1)) / (1 + np.exp(-1) + (SIZE - 2) * np.exp(low))
    for off in (-1e-5, 1e-6):
        law = sampling(temperature, top_p=held + off).laws(rows, "logits")
        assert np.array_equal(law > 0, one_after_the_other(temperature, held + off, rows) > 0)
        assert (np.count_nonzero(law) > 2) == (off > 0)


def test_a_few_tokens_near_the_best_need_no_look_at_the_others(monkeypatch):
    rows = np.full((1, SIZE), -25.0, dtype=np.float32)
    rows[0, [7, 70, 700]] = [1.0, 0.5, -1.0]
    counted = []
    exp = np.exp
    monkeypatch.setattr(np, "exp", lambda scores, out=None: counted.append(scores.size) or exp(scores, out=out))
    assert np.flatnonzero(sampling(0.8, top_p=0.9).laws(rows, "logits")).tolist() == [7, 70]
    assert counted == [3]
