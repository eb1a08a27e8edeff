"""Models of llama.cpp keep every promise of a model; those that cannot go back, too."""

import pytest

from models.test_contract import PROMISES, by_name

KINDS = ("llama", "qwen2", "gemma2", "mamba")


@pytest.mark.parametrize("promise", PROMISES, ids=by_name)
@pytest.mark.parametrize("steady", [False, True], ids=["as it is", "steady"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_family_keeps_its_promise(loaded, kind, steady, promise):
    model = loaded(kind).model
    promise(model.steady() if steady else model.fresh())
