"""A measurement of the embedded pair, small; what rounds make of passes; and files that give back what was saved."""

import json

import numpy as np
import pytest

from conftest import needs
from draftproof import ModelDrafter, NoDrafter, sampling
from draftproof.economics.along import passes_of, survival_along
from draftproof.economics.measure import in_rounds, measure, steps
from draftproof.economics.pair import LONGEST, Pair
from draftproof.economics.rehearsal import STAGES, TimedPass, rehearse
from draftproof.economics.samples import Samples
from draftproof.economics.scoring import score_texts
from draftproof.economics.summary import cliff
from draftproof.economics.survival import acceptance
from draftproof.errors import UsageError

PROMPTS = ("In the beginning", "And the king said", "Blessed are", "The wise man")


def the_pair(pair, **changes):
    (target, tokenizer), (draft, _) = pair
    pipeline = sampling(1.0)
    parts = {
        "target": target,
        "drafters": {"tiny:draft": ModelDrafter(draft, pipeline)},
        "rules": ("block",),
        "pipeline": pipeline,
        "prompts": {"prose": [tokenizer.encode(prompt) for prompt in PROMPTS]},
        "tokens": 64,
    }
    return Pair(**(parts | changes))


@pytest.fixture(scope="module")
def measured(pair):
    told = []
    found = measure(the_pair(pair), 4, 1, told.append)
    assert len(told) == steps(the_pair(pair), 4)
    return found


def test_a_measurement_has_every_stage_of_every_length(measured):
    seconds = measured.passes["tiny:draft"]["block"].seconds
    assert seconds.shape == (4, LONGEST + 1, len(STAGES))
    draft, target, warp, rule, rest = seconds.mean(axis=0).T
    assert draft[0] < draft[1] / 10
    assert draft[16] > 3 * draft[2]
    for stage in (target, warp, rule, rest):
        assert (stage > 0).all()
    assert (measured.plain.seconds > target[0] / 2).all()


def test_a_measurement_survives_its_file(measured):
    again = Samples.from_json(json.loads(json.dumps(measured.to_json())))
    assert again.tokens == measured.tokens
    assert np.allclose(again.plain.seconds, measured.plain.seconds, rtol=1e-8)
    assert again.to_json() == measured.to_json()


def test_what_is_said_along_a_text_is_what_the_models_say(pair, measured):
    (target, tokenizer), (draft, _) = pair
    along = measured.texts["prose"].along["tiny:draft"]
    assert along.target.shape == (4, 64)
    assert (along.target > 0).all()
    assert along.proposed.all()
    assert (along.coupled <= np.minimum(along.target, along.draft) + 1e-12).all()
    first = tokenizer.encode(PROMPTS[0])
    p, q = (sampling(1.0).laws(model.fresh().extend(first, 1), "logits")[0] for model in (target, draft))
    # Kernels that go by the number of rows round otherwise, by parts in 10^6; tokens differ by more.
    assert np.isclose(p, along.target[0, 0], rtol=1e-5, atol=0).any()
    assert np.isclose(q, along.draft[0, 0], rtol=1e-5, atol=0).any()


def test_acceptance_along_texts_is_what_laws_say_on_average(pair):
    (target, tokenizer), (draft, _) = pair
    several = the_pair(pair, prompts={"one": [tokenizer.encode("And the")] * 150}, tokens=1)
    along = score_texts(several, several.prompts["one"], 5, lambda _: None).along["tiny:draft"]
    p, q = (sampling(1.0).laws(m.fresh().extend(tokenizer.encode("And the"), 1), "logits")[0] for m in (target, draft))
    kept = np.minimum(along.target, along.draft) / along.target
    # Mean of 150 draws in [0, 1]: four standard errors, a false alarm in 16,000 seeds.
    assert kept.mean() == pytest.approx(acceptance("token", p, q), abs=4 * kept.std() / 150**0.5)


def test_a_rehearsal_has_the_lengths_that_were_asked_for(pair):
    subject = the_pair(pair)
    asked = [3, 3, 0, 5, 16, 1, 1]
    found = rehearse(subject.engine("tiny:draft", "block", 1), iter(subject.prompts["prose"] * 9), asked, 64, 3)
    assert [length for done, length in zip(found, asked, strict=True) if done is not None] == [
        done.drafted for done in found if done is not None
    ]
    assert found[0] is None


def test_rounds_find_how_passes_grow_with_the_context():
    def taking(drafted, context):
        return TimedPass(drafted, context, (1.0 + drafted + (0.01 + 0.002 * drafted) * context,))

    passes = [taking(k, context) for k in range(3) for context in (10, 50, 90)]
    found = in_rounds([passes, passes], 2)
    # The slowest and fastest twentieth are pulled in, which takes a tenth off a slope that three points show.
    assert found.slope == pytest.approx((0.01, 0.002), rel=0.15)
    assert found.seconds[0, :, 0] == pytest.approx([1.5, 2.6, 3.7])
    assert found.contexts.tolist() == [[50, 50, 50]] * 2


def test_rounds_at_one_context_show_no_slope():
    found = in_rounds([[TimedPass(k, 7, (1.0 + k,)) for k in (0, 2)]], 2)
    assert found.slope == (0.0, 0.0)
    assert found.seconds[0, :, 0].tolist() == [1, 2, 3]  # a length that never came lies between its neighbours


@pytest.mark.parametrize(
    ("changes", "rounds", "words"),
    [
        ({}, 3, "rounds: got 3; an interval needs 4"),
        ({"tokens": 10}, 4, "max_tokens: got 10"),
        ({"tokens": 5000}, 4, "max_tokens: got 5000; beside the prompts of prose"),
        ({"prompts": {"few": [[1]]}}, 4, "prompts: few has 1 prompts"),
        ({"rules": ("traversal",)}, 4, "rule: got 'traversal'"),
    ],
)
def test_what_gives_no_interval_is_refused(pair, changes, rounds, words):
    with pytest.raises(UsageError, match=words):
        measure(the_pair(pair, **changes), rounds, 0)


@pytest.mark.parametrize(("last", "kept"), [pytest.param(4, 4, marks=pytest.mark.slow), (0, None)])
def test_an_interrupted_measurement_keeps_its_whole_rounds_if_they_are_enough(pair, last, kept):
    def interrupt(number):
        if number == last:
            raise KeyboardInterrupt

    if kept is None:
        with pytest.raises(KeyboardInterrupt):
            measure(the_pair(pair), 6, 1, between=interrupt)
    else:
        found = measure(the_pair(pair), 6, 1, between=interrupt)
        assert len(found.plain.seconds) == len(found.passes["tiny:draft"]["block"].seconds) == kept


class Hidden:
    """A pipeline under which the token that was drawn has no weight when the whole text is scored."""

    reads_text = False

    def laws(self, rows, kind, texts=None):
        laws = sampling(1.0).laws(rows, kind, texts)
        return laws * (np.arange(laws.shape[-1]) >= laws.shape[-1] // 2) if len(laws) > 1 else laws


def test_a_token_that_rounding_left_without_weight_is_no_division_by_zero(pair):
    subject = the_pair(pair, pipeline=Hidden(), tokens=20)
    along = score_texts(subject, subject.prompts["prose"], 0, lambda _: None).along["tiny:draft"]
    assert (along.target == 1e-12).any()
    for rule in ("token", "block", "match", "coupled"):
        kept = survival_along(rule, along, LONGEST)
        assert np.isfinite(kept).all()
        assert np.isfinite(passes_of(kept, along, LONGEST).variance).all()


@pytest.mark.parametrize(
    ("shares", "place"),
    [
        ((0.6, 0.385, 0.215, 0.108, 0.062, 0.0, 0.0), 6),
        ((0.6, 0.36, 0.2, 0.1, 0.06, 0.03, 0.01, 0.0), None),
        ((0.0, 0.0), None),
        ((1.0, 0.0), 2),
    ],
)
def test_a_cliff_is_no_decay(shares, place):
    assert cliff(shares) == place


class OnTorch:
    """A model whose rows are tensors."""

    def __init__(self, model):
        self.model = model

    def __getattr__(self, name):
        return getattr(self.model, name)

    def fresh(self):
        return OnTorch(self.model.fresh())

    def extend(self, *arguments, **named):
        return needs("torch").from_numpy(self.model.extend(*arguments, **named))


@pytest.mark.parametrize("which", ["target", "draft", "both"])
def test_what_tensors_say_along_a_text_is_the_same(pair, which):
    plain = the_pair(pair, tokens=5)
    (target, _), (draft, _) = pair
    target = target if which == "draft" else OnTorch(target)
    draft = draft if which == "target" else OnTorch(draft)
    tensors = the_pair(pair, tokens=5, target=target, drafters={"tiny:draft": ModelDrafter(draft, plain.pipeline)})
    found = [
        score_texts(some, some.prompts["prose"], 3, lambda _: None).along["tiny:draft"] for some in (plain, tensors)
    ]
    for name in ("target", "draft", "coupled", "reach"):
        # Logits are the same bits; sums of exponentials in another order differ in their last digits.
        assert getattr(found[1], name) == pytest.approx(getattr(found[0], name), rel=1e-12)


def test_a_drafter_that_proposes_nothing_is_seen_to_propose_nothing(pair):
    subject = the_pair(pair, drafters={"none": NoDrafter()}, tokens=3)
    along = score_texts(subject, subject.prompts["prose"], 0, lambda _: None).along["none"]
    assert not along.proposed.any()
