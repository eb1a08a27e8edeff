"""Laws on a device: what NumPy decides is decided there too, and no law comes back from there.

The device is the pretended one of `devices_of_tests`, which this machine need not have.
"""

import math
from itertools import chain

import numpy as np
import pytest

from conftest import needs
from devices_of_tests import Device, Far, OnDevice
from draftproof.arrays import beside, is_numpy_array
from draftproof.drafters.chain import ChainDrafter
from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.ngram import NgramDrafter
from draftproof.drafters.none import NoDrafter
from draftproof.engine import plain
from draftproof.engine.batch import Request, decode
from draftproof.engine.devices import refuse_without_doubles
from draftproof.engine.gathered import gathered
from draftproof.engine.length import FixedLength
from draftproof.engine.logprobs import scored
from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.engine.stop import Stop
from draftproof.errors import UsageError
from draftproof.models.steady import Steady
from draftproof.models.table import TableModel
from draftproof.noise import PhiloxNoise
from draftproof.rules.base import pick
from draftproof.rules.catalogue import RULES
from draftproof.warpers.pipeline import Pipeline, sampling
from draftproof.witness.identity import Certificate
from grammars_of_tests import EOS, grammar
from grammars_of_tests import V as WORDS

torch = needs("torch")
V, PROMPT = 64, [3, 1, 4, 1, 5, 9, 2, 6, 1, 4]
SETTINGS = {
    "raw": {},
    "greedy": {"temperature": 0},
    "truncated": {"temperature": 0.8, "top_k": 20, "top_p": 0.9},
    "min-p and typical-p": {"min_p": 0.05, "typical_p": 0.8},
    "penalties": {"repetition_penalty": 1.3, "presence_penalty": 0.5, "frequency_penalty": 0.4},
    "bias and bad words": {"logit_bias": {3: 2.0, 5: -5.0}, "bad_words": [[4], [1, 2], [9, 2, 6]]},
    "min tokens": {"min_tokens": 5, "stop_tokens": [7, 8]},
    "some tokens only": {"allowed_tokens": [*range(0, V, 3)], "temperature": 0.5},
}
PLACES = {
    "both there": ("far", "far"),
    "draft in main memory": ("far", "numpy"),
    "target in main memory": ("numpy", "far"),
    "an n-gram draft before one there": ("far", "ngram, far"),
}
MORE_PLACES = {
    "tensors in main memory": ("near", "near"),
    "an n-gram draft": ("far", "ngram"),
    "an n-gram draft before one in main memory": ("far", "ngram, numpy"),
    "no draft": ("far", "none"),
}


def logits(seed, size=V):
    def law_of(context):
        noise = np.random.default_rng((seed, *context[-2:]))
        return (2 * noise.standard_normal(size) + 5 * np.random.default_rng(context[-1]).standard_normal(size)).astype(
            np.float32
        )

    return law_of


def model_of(place, seed, size=V):
    if place == "numpy":
        return TableModel(logits(seed, size), size, 100, row_kind="logits")
    return OnDevice(logits(seed, size), size, 100, row_kind="logits", apart=place == "far")


def drafter_of(places, pipeline, size=V):
    kinds = {"ngram": lambda: NgramDrafter(size, 1, 3), "none": NoDrafter}
    members = [
        kinds[place]() if place in kinds else ModelDrafter(model_of(place, 2, size), pipeline)
        for place in places.split(", ")
    ]
    return members[0] if len(members) == 1 else ChainDrafter(members)


def at_home(places):
    return ", ".join(place if place in {"ngram", "none"} else "numpy" for place in places.split(", "))


def engine_of(rule, places, pipeline, size=V):
    branching = (2, 2) if RULES[rule].branches else ()
    target, draft = places
    return Engine(
        model_of(target, 1, size), drafter_of(draft, pipeline, size), RULES[rule], pipeline, FixedLength(3), branching
    )


def told(engine, seed=5, tokens=12, stop=()):
    """Everything that is told of a text: tokens, estimates, log-probabilities, the certificate; and its passes."""
    certificate, passes, numbers, tops = Certificate(engine.rule), [], [], []
    for done in engine.decode(PROMPT, Stop(tokens, tokens=frozenset(stop)), PhiloxNoise(seed)):
        certificate.add(done)
        passes.append(done)
        assert done.fault is None
        marks = scored(done, engine.target.row_kind, 3)
        tops += [[token for token, _ in mark.raw_top] for mark in marks]
        numbers += [*done.logprobs, done.expected_accepted or 0.0]
        numbers += chain.from_iterable((mark.logprob, mark.raw_logprob) for mark in marks)
        numbers += [chance for mark in marks for _, chance in (*mark.top, *mark.raw_top)]
    decisions = [(done.drafted, done.path, done.emitted, done.finish_reason) for done in passes], tops
    assert certificate.max_deviation <= 1e-12
    assert certificate.positions == sum(len(done.target) for done in passes)
    return decisions, numbers, passes


def check(rule, places, pipeline, size=V, **more):
    with Device() as device:
        decisions, numbers, passes = told(engine_of(rule, places, pipeline, size), **more)
    home = engine_of(rule, ("numpy", at_home(places[1])), pipeline, size)
    expected = told(home, **more)
    assert decisions == expected[0]
    assert np.allclose(numbers, expected[1], rtol=0, atol=1e-12, equal_nan=True)  # exp of two libraries: an ulp
    kind = {"far": Far, "near": torch.Tensor, "numpy": np.ndarray}[places[0]]
    assert all(type(done.target) is kind and type(done.draft) is kind for done in passes)
    assert places[1] == "none" or any(done.drafted if places[1] == "ngram" else done.path for done in passes)
    return device


@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_decides_there_what_numpy_decides(rule, places):
    device = check(rule, places, sampling(0.8, top_p=0.95))
    if places[0] == "far":
        assert 0 < max(device.fetched) < V // 2


@pytest.mark.parametrize("places", MORE_PLACES.values(), ids=MORE_PLACES)
@pytest.mark.parametrize("rule", ["block", "tree-coupled"])
def test_wherever_the_laws_come_from_numpy_decides_the_same(rule, places):
    device = check(rule, places, sampling(0.8, top_p=0.95))
    assert places[0] == "near" or max(device.fetched) < V // 2


@pytest.mark.parametrize("places", [PLACES["both there"], PLACES["an n-gram draft before one there"]], ids=str)
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("rule", ["block", "traversal"])
def test_every_setting_is_the_same_there(rule, setting, places):
    device = check(rule, places, sampling(**SETTINGS[setting]), stop=(7, 8))
    assert max(device.fetched) < V // 2


def test_a_grammar_is_the_same_there():
    pipeline = sampling(grammar=grammar("regex", "[a-z]{3,8}( [a-z]{2,9}){6,20}"))
    device = check("block", PLACES["both there"], pipeline, WORDS, stop=(EOS,))
    assert max(device.fetched) < WORDS // 2


@pytest.mark.parametrize("name", ["NoRepeatNGramLogitsProcessor", "RepetitionPenaltyLogitsProcessor"])
def test_processors_of_transformers_get_scores_that_are_there(name):
    process = getattr(needs("transformers"), name)(2 if name.startswith("No") else 1.5)
    with Device():  # its own code may fetch
        decisions = told(engine_of("block", PLACES["both there"], sampling(processors=[process])))[0]
    assert decisions == told(engine_of("block", ("numpy", "numpy"), sampling(processors=[process])))[0]


def test_plain_decoding_and_steady_models_are_the_same_there():
    models = [model for place in ("far", "near", "numpy") for model in (model_of(place, 1), Steady(model_of(place, 1)))]
    rest = sampling(0.8, top_p=0.9), PROMPT, Stop(24), PhiloxNoise(3)
    with Device() as device:
        texts = [list(plain.decode(model, *rest)) for model in models]
    assert all(text == texts[0] for text in texts)
    assert max(device.fetched) < V // 2


def test_texts_decoded_together_are_the_same_there():
    found = {}
    with Device() as device:
        for place in ("far", "numpy"):
            pipeline = sampling(0.9)
            engine = Engine(
                gathered(model_of(place, 1), patient=True), ModelDrafter(gathered(model_of(place, 2), patient=False)),
                RULES["block"], pipeline, FixedLength(3),
            )  # fmt: skip
            request = Request(engine, PROMPT, Stop(16), tuple(PhiloxNoise(1, i) for i in range(3)))
            happened = [what for what in decode([request], 2) if isinstance(what.what, Pass)]
            found[place] = [(one.sample, one.what.emitted) for one in happened]
    assert found["far"] == found["numpy"]
    assert max(device.fetched) < V // 2


@pytest.mark.parametrize("law", [[0, 0, 1], [0, 0, 0], [0.25, 0.5, 0.25]], ids=str)
def test_a_law_is_the_same_numbers_elsewhere(law):
    with Device():
        there = beside(np.array([law]), torch.zeros(1).as_subclass(Far))
        back = beside(there, np.zeros(1))
        assert isinstance(there, Far)
        assert there.dtype == torch.float64
        assert beside(there, there) is there
        assert beside(np.array([law]), torch.zeros(1)).tolist() == [law]
    assert is_numpy_array(back)
    assert back.tolist() == [law]


def test_a_token_without_weight_is_never_drawn_however_a_device_adds():
    weights = torch.tensor([0.0, 0.25, 0.0, 0.75, 0.0], dtype=torch.float64)
    for uniform, token in ((0.0, 1), (0.24, 1), (0.25, 3), (math.nextafter(1, 0), 3)):
        assert int(pick(weights, torch.tensor(uniform, dtype=torch.float64))) == token


def test_a_device_without_float64_is_refused_in_a_line():
    class Row:
        device = torch.device("mps")

    with pytest.raises(UsageError, match="mps does not have; use device=cpu"):
        refuse_without_doubles(Row())
    refuse_without_doubles(torch.zeros(1))
    refuse_without_doubles(np.zeros(1))


def test_the_pretended_device_notices_what_a_real_one_would():
    with Device() as device:
        far, near = torch.zeros(V).as_subclass(Far), torch.zeros(V)
        for wrong in (lambda: far + near, lambda: torch.where(near > 0, far, far), far.numpy):
            with pytest.raises((RuntimeError, TypeError)):
                wrong()
        assert isinstance(far[torch.arange(3)], Far)
        assert isinstance(torch.zeros(2, device=far.device) + far[:2], Far)
        assert not isinstance(far.cpu(), Far)
        assert device.fetched == [V, V]
        np.testing.assert_array_equal(Pipeline().laws(far.cpu()[None], "logits"), np.full((1, V), 1 / V))
