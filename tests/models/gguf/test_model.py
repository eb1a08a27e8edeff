"""Models of llama.cpp keep every promise of a model; those that cannot go back, too."""

import os
from pathlib import Path

import pytest

from draftproof.models.gguf.family import Family
from draftproof.models.gguf.model import GgufModel
from draftproof.models.gguf.spec import GgufSpec
from models.test_contract import PROMISES, by_name, texts_read_together_are_texts_read_alone

KINDS = ("llama", "qwen2", "gemma2", "mamba")


@pytest.mark.parametrize("promise", PROMISES, ids=by_name)
@pytest.mark.parametrize("steady", [False, True], ids=["as it is", "steady"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_family_keeps_its_promise(loaded, kind, steady, promise):
    model = loaded(kind).model
    promise(model.steady() if steady else model.fresh())


def test_texts_whose_window_slides_may_not_share_a_context(loaded):
    """Why they have one each: llama.cpp gives away the cells of a neighbour that its window has left."""
    text = loaded("gemma2").model.fresh()._inner
    spec = GgufSpec(Path("unused"), threads=1)
    sharing = GgufModel(Family(text._family.weights, spec, 128, 0))
    with pytest.raises(AssertionError):
        texts_read_together_are_texts_read_alone(sharing)
    apart = GgufModel(Family(text._family.weights, spec, 128, 0, alone=True))
    texts_read_together_are_texts_read_alone(apart)


def test_as_many_threads_as_cores_are_used_unless_asked(loaded):
    loaded()
    from draftproof.models.gguf.library import cores

    assert 1 <= cores() <= len(os.sched_getaffinity(0))
