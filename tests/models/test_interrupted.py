"""A pass that is broken off anywhere, as by Ctrl-C: a rewind to the length before it makes the cache right again."""

import numpy as np
import pytest

from draftproof.models.attention import Cache
from draftproof.models.base import Read
from draftproof.models.batch import read_all
from draftproof.models.probes import RecurrentProbe, WindowProbe, spread, sum_probe
from draftproof.models.snapshots import Snapshots
from draftproof.models.steady import Steady
from models_of_tests import a_text

PLACES = (0, 1, 2, 5, 9)


class Breaking:
    """Calls something, and raises instead of one of the calls."""

    def __init__(self, call):
        self.call, self.left = call, -1

    def __call__(self, *arguments):
        self.left -= 1
        if self.left == -1:
            raise KeyboardInterrupt
        return self.call(*arguments)


PROBES = {
    "sum": sum_probe,
    "steady": lambda law_of: Steady(sum_probe(law_of), 4),
    "recurrent": lambda law_of: Snapshots(RecurrentProbe(law_of)),
    "window": lambda law_of: Snapshots(WindowProbe(law_of)),
    "window with room": lambda law_of: Snapshots(WindowProbe(law_of, room=20)),
}


@pytest.mark.parametrize("parents", [None, [-1, -1, 0, 0, 1]], ids=["chain", "tree"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", PROBES)
def test_a_probe_stands_it(kind, place, parents):
    breaking = Breaking(spread)
    model = PROBES[kind](breaking)
    text = a_text(model, 12, place)
    model.extend([*text, 1, 2, 3])
    model.rewind(12)
    breaking.left = place
    with pytest.raises(KeyboardInterrupt):
        model.extend([5, *a_text(model, 9, 1)], None, parents)
    for length in (12, 12, 7):
        model.rewind(length)
        assert model.length == length
        assert np.array_equal(model.extend([2, 3]), model.fresh().extend([*text[:length], 2, 3], 2))
        model.rewind(length)


@pytest.mark.parametrize("method", ["snapshot", "restore"])
def test_snapshots_may_be_broken_off_too(method):
    inner = RecurrentProbe(spread)
    model = Snapshots(inner)
    text = a_text(model, 12, 0)
    model.extend(text)
    broken = Breaking(getattr(inner, method))
    broken.left = 0
    setattr(inner, method, broken)
    with pytest.raises(KeyboardInterrupt):
        _on_and_back(model)
    model.rewind(12)
    assert np.array_equal(model.extend([2, 3]), model.fresh().extend([*text, 2, 3], 2))


def _on_and_back(model):
    model.extend([1, 2, 3])
    model.rewind(13)


def break_off(monkeypatch, place, read):
    """Let attention break off at a layer, counted over passes, half done, while something is read."""
    attend, count = Cache.attend, iter(range(1_000_000))

    def breaking(self, layer, heads, view, fewest, mixed):
        if next(count) == place:
            self._keys[layer, ..., self.length :] = 1e3
            raise KeyboardInterrupt
        attend(self, layer, heads, view, fewest, mixed)

    with monkeypatch.context() as patch:
        patch.setattr(Cache, "attend", breaking)
        with pytest.raises(KeyboardInterrupt):
            read()


@pytest.mark.parametrize("place", [0, 3, 5, 6, 8, 13])
def test_a_llama_stands_it_in_any_layer_of_any_piece(pair, monkeypatch, place):
    model = pair[0].model.fresh()
    text = a_text(model, 20, 0)
    model.extend([*text, 1, 2, 3])
    model.rewind(20)
    break_off(monkeypatch, place, lambda: model.extend(a_text(model, 100, 1)))  # three pieces of six layers
    assert 20 <= model.length < 120
    for length in (20, 11):
        model.rewind(length)
        expected = model.fresh().extend([*text[:length], 2, 3], 2)
        assert np.abs(model.extend([2, 3]) - expected).max() <= 1e-3 * np.ptp(expected)  # summed in another order
        model.rewind(length)


@pytest.mark.parametrize("place", [0, 1, 17, 18, 20, 25])
def test_llamas_that_are_read_together_stand_it(pair, monkeypatch, place):
    target = pair[0].model
    texts = [a_text(target, length, length) for length in (4, 15, 33)]
    models = [target.fresh() for _ in texts]
    for model, text in zip(models, texts, strict=True):
        model.extend(text)
    reads = [Read(models[0], [1] * 4), Read(models[1], [2] * 90), Read(models[2], [3, 4])]
    break_off(monkeypatch, place, lambda: read_all(reads))
    for model, text in zip(models, texts, strict=True):
        model.rewind(len(text))
        expected = target.fresh().extend([*text, 2, 3], 2)
        assert np.abs(model.extend([2, 3]) - expected).max() <= 1e-3 * np.ptp(expected)


def test_what_was_broken_off_would_be_seen_without_the_rewind(pair, monkeypatch):
    """The negative control: going on after pieces that were read gives other rows."""
    model = pair[0].model.fresh()
    text = a_text(model, 20, 0)
    model.extend(text)
    break_off(monkeypatch, 8, lambda: model.extend(a_text(model, 100, 1)))
    expected = model.fresh().extend([*text, 2, 3], 2)
    assert np.abs(model.extend([2, 3]) - expected).max() > 1e-3 * np.ptp(expected)
