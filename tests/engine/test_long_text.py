"""However long a text gets, memory grows by what must be kept of it: its tokens, and what caches keep for each."""

import tracemalloc

import pytest

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.probes import RecurrentProbe, WindowProbe, spread
from draftproof.models.snapshots import Snapshots
from draftproof.noise import PhiloxNoise
from draftproof.rules.catalogue import RULES
from draftproof.warpers.pipeline import Pipeline

KEPT = 64
"""Bytes a token: a pointer in three lists (the text, and what each of the two models has read), each with an eighth of
spare room, is 27; the rest is for snapshots, of which there are as many as the length has binary digits, four times."""


def laws(residue):
    return [float(chance) for chance in spread(residue)]


def growth(probe, tokens):
    """Return the bytes a token of the second half of a text."""
    target = Snapshots(probe(laws))
    engine = Engine(target, ModelDrafter(target.fresh()), RULES["token"], Pipeline(), FixedLength(3))
    emitted, middle, half = 0, 0, 0
    tracemalloc.start()
    try:
        for done in engine.decode([3, 1, 4], Stop(tokens), PhiloxNoise(1)):
            emitted += len(done.emitted)
            if not half and emitted >= tokens // 2:
                middle, half = tracemalloc.get_traced_memory()[0], emitted
        return (tracemalloc.get_traced_memory()[0] - middle) / (emitted - half)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("probe", [RecurrentProbe, WindowProbe])
def test_a_long_text_takes_little_more_than_its_tokens(probe):
    assert growth(probe, 2_000) < KEPT


@pytest.mark.slow
@pytest.mark.parametrize("probe", [RecurrentProbe, WindowProbe])
def test_a_text_of_a_hundred_thousand_tokens_takes_little_more_than_its_tokens(probe):
    assert growth(probe, 100_000) < KEPT
