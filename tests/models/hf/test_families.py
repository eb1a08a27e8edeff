"""Small random modules of many families keep the promises of a model; faults in the reading of one are found out."""

import pytest

from models.hf.modules import BY_SNAPSHOTS, FAMILIES, make, rows_at_once
from models.test_contract import PROMISES, by_name, same
from models_of_tests import a_text


@pytest.fixture(scope="module")
def models():
    from draftproof.models.hf.model import model_of

    known = {}

    def of(family):
        if family not in known:
            module = make(family)
            known[family] = module, model_of(module, 120)
        return known[family][0], known[family][1].fresh()

    return of


RARE = {
    "gemma3, windows",
    "gpt-oss, sinks and experts",
    "bloom, no positions",
    "lfm2, convolutions",
    "qwen3-next, recurrent and attention",
}
"""Families that keep their promises in the same ways as others; all of them together take a minute."""


@pytest.mark.parametrize("promise", PROMISES, ids=by_name)
@pytest.mark.parametrize(
    "family", [pytest.param(one, marks=[pytest.mark.slow] if one in RARE else []) for one in FAMILIES]
)
def test_a_family_keeps_its_promises(models, family, promise):
    promise(models(family)[1])


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_are_those_of_the_module_itself(models, family):
    module, model = models(family)
    text = a_text(model, 50, 0)
    assert same(model.extend(text), rows_at_once(module, text))
    model.rewind(20)
    other = a_text(model, 25, 1)
    assert same(model.extend(other), rows_at_once(module, [*text[:20], *other])[20:])


@pytest.mark.parametrize("family", FAMILIES)
def test_families_that_attend_to_all_they_read_are_read_as_texts(models, family):
    kind = "Snapshots" if family in BY_SNAPSHOTS else "LayeredHfModel"
    assert type(models(family)[1]).__name__ == kind
