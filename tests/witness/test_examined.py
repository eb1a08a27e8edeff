"""Reading laws quickly changes nothing of what is read: a few at a time, without what cannot be, by halves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import needs
from draftproof.warpers.top_p import TopP
from draftproof.witness import events, examined
from draftproof.witness.emitted import Emitted
from draftproof.witness.experts import POWERS, RAISED

SIZE = 96


def batch(seed, count, kept):
    """Tokens of laws that have only so many possible tokens."""
    rng = np.random.default_rng(seed)
    target, draft = rng.dirichlet(np.ones(SIZE), (2, count))
    for law in target:
        law[rng.permutation(SIZE)[kept:]] = 0
    target /= target.sum(axis=-1, keepdims=True)
    tokens = np.array([rng.choice(SIZE, p=law) for law in target])
    return Emitted(tokens, target, draft, rejected=rng.integers(-1, SIZE, count))


def read(emitted, before):
    found, where = examined.examined(emitted, before)
    return [*found, where.starts, where.widths]


@pytest.mark.parametrize("cached", [1, 5 * SIZE, 2**17])
@pytest.mark.parametrize("kept", [3, SIZE])
def test_a_few_laws_at_a_time_and_without_what_cannot_be_read_as_all_at_once(monkeypatch, cached, kept):
    emitted, before = batch(1, 17, kept), np.random.default_rng(2).dirichlet(np.ones(SIZE))
    monkeypatch.setattr(examined, "CACHED", 2**30)
    monkeypatch.setattr(examined, "SPARSE", np.inf)
    whole = read(emitted, before)
    monkeypatch.setattr(examined, "CACHED", cached)
    monkeypatch.setattr(examined, "SPARSE", 4)
    for one, other in zip(read(emitted, before), whole, strict=True):
        assert one == pytest.approx(other, abs=1e-12)  # sums of as many numbers in another order
    part, possible = examined._condensed(emitted[:1])
    assert part.target.shape[-1] == kept
    assert emitted.target[0, possible] == pytest.approx(part.target[0], abs=0)


@given(
    seed=st.integers(0, 2**32 - 1), size=st.sampled_from([1, 2, 7, 40]), levels=st.sampled_from([2, 5, 10**6]),
    share=st.sampled_from([0.5, 0.95, 0.999]), few=st.sampled_from([1, 4, 4096]),
)  # fmt: skip
@settings(max_examples=200)
def test_the_nucleus_is_that_of_top_p(seed, size, levels, share, few):
    """Also among equals, and where it is searched for by halves."""
    rng = np.random.default_rng(seed)
    law = rng.integers(1, levels + 1, (4, size)) * (rng.random((4, size)) < 0.8).astype(float)
    law[:, 0] += 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "FEW", few)
        assert (events.nucleus(law, share) == (TopP(share)(law) > 0)).all()


def test_the_nucleus_of_a_long_law_is_that_of_top_p():
    rng = np.random.default_rng(3)
    law = np.exp(2 * rng.normal(size=(2, 30_000)))
    law /= law.sum(axis=-1, keepdims=True)
    wanted = TopP(0.95)(law) > 0
    assert (events.nucleus(law, 0.95) == wanted).all()
    torch = needs("torch")
    assert (events.nucleus(torch.from_numpy(law), 0.95).numpy() == wanted).all()


@pytest.mark.parametrize("piece", [1, 3, 8192])
@pytest.mark.parametrize(("name", "power"), POWERS.items())
def test_sums_of_powers_are_sums_of_powers(monkeypatch, name, power, piece):
    law = np.array([[0.5, 0.3, 0.2, 0.0], [1 - 1e-12, 1e-12, 1e-300, 0.0]])
    monkeypatch.setattr(events, "PIECE", piece)
    assert events.total(RAISED[name], law)[:, 0] == pytest.approx((law**power).sum(axis=-1), rel=1e-14)


def test_tokens_with_the_same_score_come_by_their_ids():
    law = np.array([[0.25, 0.25, 0.25, 0.25]] * 2)
    score = np.array([[1.0, 0.0, 1.0, 2.0]] * 2)
    emitted = Emitted(np.array([0, 2]), law)
    assert events.earlier(emitted, score).tolist() == [0.25, 0.5]
    assert events.earlier(emitted, score, falling=True).tolist() == [0.25, 0.5]
    assert events.earlier(emitted, None).tolist() == [0.0, 0.5]
