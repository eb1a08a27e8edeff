"""Texts decoded together are, token for token, what they are alone."""

from dataclasses import replace

import pytest

from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.none import NoDrafter
from draftproof.engine.batch import Request, decode
from draftproof.engine.gathered import Gathered
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.engine.stop import Stop
from draftproof.errors import ContractError, UsageError
from draftproof.models.batch import read_all
from draftproof.models.catalogue import load
from draftproof.models.table import TableModel
from draftproof.noise import PhiloxNoise
from draftproof.rules.catalogue import RULES
from draftproof.warpers.pipeline import Pipeline, sampling

RAW = Pipeline()
PROMPTS = ["And the king said", "", "In the beginning God created the heaven and the earth. And", "Blessed", "Now"]


@pytest.fixture(scope="module")
def pair():
    target, draft = load("tiny:target", "target"), load("tiny:draft", "drafter")
    return Gathered(target.model, patient=True), Gathered(draft.model), target.tokenizer


def engine_of(pair, rule="block", length=3, branching=(), pipeline=RAW):
    target, draft, _ = pair
    target = target.steady() if "coupled" in rule else target
    return Engine(target, ModelDrafter(draft, pipeline), RULES[rule], pipeline, FixedLength(length), branching)


def texts_of(requests, size):
    found = {}
    for request, sample, what in decode(requests, size):
        emitted = found.setdefault((request, sample), [])
        if isinstance(what, Pass):
            emitted += what.emitted
    return found


def alone(request):
    return [
        [token for done in request.engine.decode(request.prompt, request.stop, noise) for token in done.emitted]
        for noise in request.noises
    ]


def requests_of(pair, *engines, tokens=20):
    encode = pair[2].encode
    return [
        Request(engine, encode(prompt), Stop(tokens + 3 * i, 1024, pair[2].eos), (PhiloxNoise(i % 3, 0),))
        for i, (engine, prompt) in enumerate(zip(engines, PROMPTS * len(engines), strict=False))
    ]


@pytest.mark.parametrize(("rule", "branching"), [("token", ()), ("block", ()), ("coupled", ()), ("traversal", (2, 2))])
@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_each_row_equals_its_serial_run(pair, rule, branching, size):
    requests = requests_of(pair, *[engine_of(pair, rule, branching=branching)] * 5)
    found = texts_of(requests, size)
    assert found == {(i, 0): alone(request)[0] for i, request in enumerate(requests)}


@pytest.mark.parametrize("order", [(0, 3, 1), (3, 0, 1), (1, 1, 0, 3), (0, 0, 5, 2, 1)])
def test_texts_with_other_draft_lengths_rules_and_settings_stand_side_by_side(pair, order):
    engines = [
        replace(
            engine_of(pair, ("token", "block", "match")[i % 3], length, pipeline=sampling(0.5 + 0.25 * i, top_k=40)),
            **({} if length else {"drafter": NoDrafter()}),
        )
        for i, length in enumerate(order)
    ]
    requests = requests_of(pair, *engines)
    assert texts_of(requests, len(order)) == {(i, 0): alone(request)[0] for i, request in enumerate(requests)}


def test_samples_are_independent_and_share_the_prompt(pair):
    noises = tuple(PhiloxNoise(7, sample) for sample in range(4))
    request = Request(engine_of(pair), pair[2].encode(PROMPTS[2]), Stop(16, 1024), noises)
    found = texts_of([request], 4)
    assert [found[0, sample] for sample in range(4)] == alone(request)
    assert len(set(map(tuple, found.values()))) == 4


def test_disjoint_vocabularies_never_mix():
    # vllm PR 14645: tokens of one request leaked into another where draft lengths differed.
    def ranged(first):
        model = TableModel(lambda _: [0.25 if first <= token < first + 4 else 0.0 for token in range(12)], 12, 64)
        return Gathered(model.fresh(), patient=True), ModelDrafter(Gathered(model.fresh()))

    requests = []
    for first, length in ((0, 0), (4, 3), (8, 1)):
        target, drafter = ranged(first)
        engine = Engine(target, drafter, RULES["token"], Pipeline(), FixedLength(length))
        requests.append(Request(engine, [first], Stop(30), (PhiloxNoise(first),)))
    for (request, _), text in texts_of(requests, 3).items():
        assert {token // 4 for token in text} == {request}


def test_a_text_never_waits_for_the_acceptance_of_another(pair):
    """In every round of targets each text has a pass of its own, whatever the others accept."""
    same = replace(engine_of(pair), drafter=ModelDrafter(pair[0]))  # its own draft: accepts all
    requests = [
        Request(same, pair[2].encode("And"), Stop(40, 1024), (PhiloxNoise(1),)),
        Request(engine_of(pair), pair[2].encode("And"), Stop(40, 1024), (PhiloxNoise(1),)),
    ]
    passes = {0: 0, 1: 0}
    for request, _, what in decode(requests, 2):
        passes[request] += isinstance(what, Pass)
    assert passes[0] == 10  # four tokens a pass
    assert passes[1] > passes[0]


def test_targets_are_read_together_and_requests_come_as_room_appears(pair, monkeypatch):
    sizes, begun = [], []

    def counted(reads):
        sizes.append(len(reads))
        return read_all(reads)

    def requests():
        for request in requests_of(pair, *[engine_of(pair)] * 5):
            begun.append(len(sizes))
            yield request

    monkeypatch.setattr("draftproof.engine.batch.read_all", counted)
    texts_of(requests(), 2)
    assert max(sizes) == 2
    assert begun[0] == begun[1] == 0
    assert begun[2] > 0


def test_an_error_ends_its_own_text_only(pair):
    broken = TableModel(lambda text: [0.5, 0.5] if len(text) < 4 else [float("nan"), 1.0], 2)
    bad = Engine(Gathered(broken, patient=True), NoDrafter(), RULES["token"], Pipeline(), FixedLength(0))
    good = requests_of(pair, engine_of(pair))[0]
    happened = list(decode([good, Request(bad, [0], Stop(9), (PhiloxNoise(0),))], 2))
    errors = [(request, what) for request, _, what in happened if isinstance(what, Exception)]
    assert [request for request, _ in errors] == [1]
    assert isinstance(errors[0][1], ContractError)
    emitted = [token for request, _, what in happened if request == 0 and what for token in what.emitted]
    assert emitted == alone(good)[0]


def test_a_batch_that_is_left_ends_all_its_texts(pair):
    happening = decode(requests_of(pair, *[engine_of(pair)] * 5), 5)
    next(happening)
    happening.close()
    assert texts_of(requests_of(pair, engine_of(pair)), 1)


def test_a_batch_of_none_is_refused():
    with pytest.raises(UsageError, match="batch_size: got 0"):
        next(decode([], 0))
