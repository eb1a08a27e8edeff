import math

import numpy as np
import pytest

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.logprobs import scored
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.catalogue import load
from draftproof.models.table import TableModel
from draftproof.noise import PhiloxNoise
from draftproof.rules.catalogue import RULES
from draftproof.warpers.pipeline import Pipeline, sampling


@pytest.fixture(scope="module")
def pair():
    return load("tiny:target", "target"), load("tiny:draft", "drafter")


@pytest.mark.parametrize(("rule", "branching"), [("token", ()), ("block", ()), ("coupled", ()), ("traversal", (2, 2))])
def test_their_sum_is_that_of_the_text_scored_plainly(pair, rule, branching):
    target, draft = pair
    pipeline, prompt = sampling(0.7, 40, 0.95), target.tokenizer.encode("And the king said")
    drafter = ModelDrafter(draft.model, pipeline)
    engine = Engine(target.model, drafter, RULES[rule], pipeline, FixedLength(3), branching)
    found = [each for done in engine.decode(prompt, Stop(60, 1024), PhiloxNoise(2)) for each in scored(done, "logits")]
    tokens = [each.token for each in found]
    model = target.model.fresh()
    rows = model.extend([*prompt, *tokens], rows=len(tokens) + 1)[:-1]
    for pipe, name in (pipeline, "logprob"), (Pipeline(), "raw_logprob"):
        plain = sum(math.log(law[token]) for law, token in zip(pipe.laws(rows, "logits"), tokens, strict=True))
        # float32 logits of other row counts differ by 1e-6 at most; where bits agree (AVX-512) the sums do too
        assert sum(getattr(each, name) for each in found) == pytest.approx(plain, abs=1e-6 * len(tokens))


def test_the_report_of_a_known_law():
    # llama.cpp issue 27972: 0.0 for every token. The law .5 .3 .2 must report -0.6931, -1.2040, -1.6094.
    model = TableModel(lambda _: [0.5, 0.3, 0.2], 3)
    engine = Engine(model, ModelDrafter(model.fresh()), RULES["token"], Pipeline(), FixedLength(3))
    for done in engine.decode([0], Stop(20), PhiloxNoise(0)):
        for each in scored(done, "laws", top=2):
            assert each.logprob == each.raw_logprob == pytest.approx((-0.6931, -1.2040, -1.6094)[each.token], abs=1e-4)
            assert [token for token, _ in each.top] == [0, 1]


def test_raw_and_warped_differ_as_the_warpers_say():
    model = TableModel(lambda _: [0.5, 0.25, 0.25], 3)
    pipeline = sampling(0.5, top_k=1)
    engine = Engine(model, ModelDrafter(model.fresh(), pipeline), RULES["block"], pipeline, FixedLength(2))
    (each, *_) = scored(next(engine.decode([0], Stop(5), PhiloxNoise(0))), "laws", top=3)
    assert (each.token, each.logprob, each.top) == (0, 0.0, ((0, 0.0),))
    assert each.raw_logprob == pytest.approx(math.log(0.5))
    assert [token for token, _ in each.raw_top] == [0, 1, 2]


def test_asking_changes_no_token_and_there_is_one_for_each(pair):
    target, draft = pair
    engine = Engine(target.model, ModelDrafter(draft.model), RULES["block"], Pipeline(), FixedLength(3))
    for done in engine.decode(target.tokenizer.encode("And"), Stop(7, 1024), PhiloxNoise(2)):
        found = scored(done, "logits", top=4)
        assert tuple(each.token for each in found) == done.emitted
        assert np.allclose([each.logprob for each in found], done.logprobs)
        assert all(len(each.top) == 4 for each in found)
