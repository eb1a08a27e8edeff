"""The model drafter keeps its cache in step with the text, and hands over warped laws."""

import numpy as np

from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.none import NoDrafter
from draftproof.models.table import TableModel
from draftproof.warpers.pipeline import Pipeline, sampling


def counting(context):
    """A law that shows which context it was asked for."""
    weights = np.array([1.0 + sum((i + 1) * token for i, token in enumerate(context)), 2.0, 3.0])
    return weights / weights.sum()


def expected(context):
    return counting(tuple(context))


def test_the_law_is_that_of_the_context_through_growth_and_rewind():
    drafter = ModelDrafter(TableModel(counting, 3))
    for context, rewind in (([1], 1), ([1, 2, 0], 2), ([1, 2, 2, 1], 4), ([1, 2, 2, 1, 0, 0, 1], 3), ([1, 2, 2, 2], 0)):
        assert np.allclose(drafter.law(context), expected(context), rtol=1e-15)
        drafter.rewind(rewind)
    assert drafter.model.length == 0


def test_asking_twice_gives_the_same_law():
    drafter = ModelDrafter(TableModel(counting, 3))
    assert np.array_equal(drafter.law([1, 2]), drafter.law([1, 2]))


def test_the_law_went_through_the_pipeline():
    assert ModelDrafter(TableModel(counting, 3), sampling(0)).law([0]).tolist() == [0, 0, 1]


def test_past_its_context_it_proposes_nothing():
    drafter = ModelDrafter(TableModel(counting, 3, context_limit=2))
    assert drafter.law([1, 1]) is not None
    assert drafter.law([1, 1, 1]) is None


def test_a_fresh_drafter_has_read_nothing():
    drafter = ModelDrafter(TableModel(counting, 3), Pipeline())
    drafter.law([1, 2, 0])
    assert drafter.fresh().model.length == 0
    assert drafter.model.length == 3


def test_none_proposes_nothing():
    assert NoDrafter().fresh().law([1, 2]) is None
