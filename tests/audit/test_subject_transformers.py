"""What transformers is told, what is seen of its passes, and that its log-probabilities are those of our own model."""

import json
import shutil

import numpy as np
import pytest

from conftest import needs
from draftproof import load
from draftproof.audit import probe
from draftproof.audit.options import NEUTRAL
from draftproof.audit.subjects import transformers as subject
from draftproof.types import Text
from draftproof.warpers.pipeline import sampling

torch = needs("torch")
needs("transformers")

LENGTH = 16
WARPED = {"temperature": 0.7, "top_k": 12, "top_p": 0.9, "min_p": 0.05, "repetition_penalty": 1.2}
GREEDY = {"temperature": 0.0}


@pytest.fixture(autouse=True)
def threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("pair")
    probe.make(made, 64, seed=3)
    return made


@pytest.fixture(scope="module")
def model(folder):
    return load(f"tiny:{folder / 'target'}", "target").model


@pytest.fixture
def start(folder):
    def started(method="draft", speculative=True, options=(), settings=(), **changes):
        return subject.start({
            "target": str(folder / "target"), "drafter": str(folder / "draft"), "speculative": speculative,
            "method": method, "num_speculative_tokens": 3, "settings": NEUTRAL | dict(settings), "max_tokens": LENGTH,
            "options": dict(options),
        } | changes)  # fmt: skip

    return started


def requests(count, length=LENGTH):
    """Prompts that end in a repeated pair, so that lookups find something."""
    return [{"prompt": [1, 3 + i, 30, 12, 9, 3 + i, 30], "seed": 7 + i, "max_tokens": length} for i in range(count)]


def rows_of(model, request, answer):
    return model.fresh().extend([*request["prompt"], *answer["tokens"][:-1]], len(answer["tokens"]))


@pytest.mark.parametrize("settings", [{}, WARPED])
@pytest.mark.parametrize("speculative", [True, False])
def test_log_probabilities_are_those_of_our_law_under_all_settings(start, model, settings, speculative):
    asked = requests(4)
    for request, answer in zip(asked, start(speculative=speculative, settings=settings).sample(asked), strict=True):
        prompt, tokens = request["prompt"], answer["tokens"]
        texts = [Text([*prompt, *tokens[:i]], len(prompt)) for i in range(len(tokens))]
        laws = sampling(**NEUTRAL | settings).laws(rows_of(model, request, answer), "logits", texts)
        ours = np.log(laws[range(len(tokens)), tokens])
        # Two float32 networks, sums in another order: 5e-6 was seen, a wrong setting is off by tenths.
        assert np.abs(ours - answer["logprobs"]).max() < 5e-5


@pytest.mark.parametrize("method", subject.METHODS)
def test_a_greedy_text_is_the_same_with_speculation_and_has_no_log_probabilities(start, model, method):
    asked = requests(4)
    running = start(method, settings=GREEDY)
    answers = running.sample(asked)
    plain = start(method, speculative=False, settings=GREEDY).sample(asked)
    assert [one["tokens"] for one in answers] == [one["tokens"] for one in plain]
    assert all(set(one) == {"tokens", "rounds"} for one in answers)
    assert 0 < running.counters()["accepted"] <= running.counters()["drafted"]
    for request, answer in zip(asked, answers, strict=True):
        rows = rows_of(model, request, answer)
        behind = rows.max(axis=1) - rows[range(len(rows)), answer["tokens"]]
        assert behind.max() < 2e-5  # the best token, or as good as that in float32


@pytest.mark.parametrize("method", subject.METHODS)
def test_rounds_add_up_to_the_tokens_and_to_what_is_counted(start, method):
    running = start(method)
    answers = running.sample(requests(6))
    for answer in answers:
        assert sum(emitted for _, emitted in answer["rounds"]) == len(answer["tokens"])
        assert all(1 <= emitted <= drafted + 1 for drafted, emitted in answer["rounds"])
    rounds = [one for answer in answers for one in answer["rounds"]]
    told = running.counters()
    assert told["drafted"] == sum(drafted for drafted, _ in rounds) > 0
    # A pass emits one token more than it accepts, but for one that is cut off at the end of its text.
    least = sum(emitted - 1 for _, emitted in rounds)
    assert least <= told["accepted"] <= least + len(answers)


def test_a_draft_that_is_the_target_is_always_accepted_and_as_long_as_asked_for(start, folder):
    running = start(drafter=str(folder / "target"), num_speculative_tokens=5)
    rounds = [answer["rounds"] for answer in running.sample(requests(4))]
    assert all(one == [5, 6] for text in rounds for one in text[:-1])  # only an end, or the longest text, is less
    assert sum(map(len, rounds)) > len(rounds)
    told = running.counters()
    assert told["accepted"] == told["drafted"] > 0


def test_without_speculation_nothing_is_drafted(start):
    running = start(speculative=False)
    assert all("rounds" not in answer for answer in running.sample(requests(2)))
    assert running.counters() == {"drafted": 0, "accepted": 0}


def test_a_seed_repeats_a_text_whatever_came_before(start):
    first, second = requests(2)
    running = start()
    alone = running.sample([second])
    assert running.sample([first, second])[1] == alone[0]
    assert running.sample([second | {"seed": 99}]) != alone


def test_a_text_ends_after_as_many_tokens_as_asked_for_or_with_its_end(start):
    answers = start().sample(requests(8, 32))
    assert {len(answer["tokens"]) for answer in answers} > {32}  # some do end
    for answer in answers:
        assert len(answer["tokens"]) == 32 or answer["tokens"][-1] == probe.EOS
        assert probe.EOS not in answer["tokens"][:-1]


def test_every_setting_is_handed_over_neutral_or_not(start):
    running, told = start(settings={"top_p": 0.9}), {}

    def generate(ids, **named):
        told.update(named)
        raise StopIteration

    running._target.generate = generate
    with pytest.raises(StopIteration):
        running.sample(requests(1))
    shared = {name: value for name, value in NEUTRAL.items() if name in subject.CLAIMS}
    assert told.items() >= (shared | {"top_p": 0.9, "typical_p": 1.0, "do_sample": True}).items()


def test_settings_that_come_with_a_model_are_put_aside_but_for_its_ends(start, folder, tmp_path):
    target = tmp_path / "target"
    shutil.copytree(folder / "target", target)
    brought = {"temperature": 0.1, "top_k": 3, "repetition_penalty": 5.0, "do_sample": True, "suppress_tokens": [30]}
    ends = {"bos_token_id": 1, "eos_token_id": [2, 30]}
    (target / "generation_config.json").write_text(json.dumps(brought | ends))
    usual, other = (start(speculative=False, target=str(path)) for path in (folder / "target", target))
    for plain, answer in zip(usual.sample(requests(4)), other.sample(requests(4)), strict=True):
        tokens = answer["tokens"]
        assert tokens == plain["tokens"][: len(tokens)]
        assert 30 not in tokens[:-1]
        assert len(tokens) == LENGTH or tokens[-1] in {2, 30}


def test_options_are_words_or_numbers(start):
    lossy = start(options={"assistant_ensemble_weight": "0.5"}, num_speculative_tokens=4)
    exact = start(num_speculative_tokens=4)
    for running in (lossy, exact):
        running.sample(requests(6))
    rates = [one.counters()["accepted"] / one.counters()["drafted"] for one in (lossy, exact)]
    assert rates[0] > rates[1]  # that is what the weight is for


@pytest.mark.parametrize(("changes", "message"), [
    ({"method": "eagle"}, "got method eagle; allowed are draft, prompt-lookup, early-exit"),
    ({"options": {"layers": "2"}}, "got option layers; allowed are assistant_confidence_threshold"),
    ({"settings": NEUTRAL | {"presence_penalty": 0.5}}, "got presence_penalty 0.5; it has repetition_penalty"),
    ({"target": "/nowhere"}, "got '/nowhere', which is no folder"),
    ({"drafter": ""}, "got '', which is no folder"),
])  # fmt: skip
def test_what_cannot_be_is_refused_by_name(start, changes, message):
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        start(**changes)
