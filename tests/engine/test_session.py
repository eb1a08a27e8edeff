"""A text can be left anywhere, also in the middle of a pass, and goes on as if nothing had happened."""

from dataclasses import dataclass, replace

import pytest

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.errors import ContractError
from draftproof.models.catalogue import load
from draftproof.noise import PhiloxNoise
from draftproof.rules.catalogue import RULES
from draftproof.warpers.pipeline import sampling

NOISE, STOP = PhiloxNoise(4), Stop(24, 1024)


@pytest.fixture(scope="module")
def pair():
    return load("tiny:target", "target"), load("tiny:draft", "drafter")


def engine_of(pair, rule="block", branching=()):
    target, draft = pair
    pipeline = sampling(0.8)
    drafter = ModelDrafter(draft.model, pipeline)
    return Engine(target.model, drafter, RULES[rule], pipeline, FixedLength(3), branching)


def emitted(passes):
    return [token for done in passes for token in done.emitted]


@pytest.mark.parametrize(("rule", "branching"), [("block", ()), ("coupled", ()), ("traversal", (2, 2))])
@pytest.mark.parametrize("after", [1, 2, 4])
def test_a_stream_that_was_closed_goes_on(pair, rule, branching, after):
    engine, prompt = engine_of(pair, rule, branching), pair[0].tokenizer.encode("And the king")
    whole = emitted(engine.decode(prompt, STOP, NOISE))
    session = engine.start(prompt)
    passes = engine.go_on(session, STOP, NOISE)
    begun = emitted(next(passes) for _ in range(after))
    passes.close()
    assert begun + emitted(engine.go_on(session, STOP, NOISE)) == whole


@dataclass
class Interrupted:
    """A part that is interrupted (Ctrl-C) when one of its methods was called so often."""

    part: object
    method: str
    calls: list
    after: bool

    def __getattr__(self, name):
        found = getattr(self.part, name)
        if name in {"fresh", "fork"}:
            return lambda: Interrupted(found(), self.method, self.calls, self.after)
        if name != self.method:
            return found

        def call(*arguments):
            self.calls[0] -= 1
            if self.calls[0] == 0 and not self.after:
                raise KeyboardInterrupt
            result = found(*arguments)
            if self.calls[0] == 0:
                raise KeyboardInterrupt
            return result

        return call


@pytest.mark.parametrize(("rule", "branching"), [("block", ()), ("traversal", (2, 2))])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    ("part", "method"), [("target", "extend"), ("target", "keep"), ("drafter", "law"), ("drafter", "rewind")]
)
@pytest.mark.parametrize("call", [2, 3])
def test_an_interruption_in_the_middle_of_a_pass_loses_and_repeats_nothing(
    pair, rule, branching, part, method, after, call
):
    engine, prompt = engine_of(pair, rule, branching), pair[0].tokenizer.encode("And the king")
    whole = emitted(engine.decode(prompt, STOP, NOISE))
    breaking = replace(engine, **{part: Interrupted(getattr(engine, part), method, [call], after)})
    session, begun = breaking.start(prompt), []
    try:
        for done in breaking.go_on(session, STOP, NOISE):
            begun += done.emitted
    except KeyboardInterrupt:
        begun_text = session.text[len(prompt) :]
    assert begun == begun_text
    assert begun + emitted(breaking.go_on(session, STOP, NOISE)) == whole


def test_samples_share_one_reading_of_the_prompt_and_nothing_else(pair):
    engine, prompt = engine_of(pair), pair[0].tokenizer.encode("In the beginning God created the heaven")
    first = engine.start(prompt)
    first.prefill()
    second = first.fork(engine.length.begin())
    assert first.target.length == second.target.length == len(prompt) - 1
    noises = PhiloxNoise(4, 0), PhiloxNoise(4, 1)
    texts = [
        emitted(engine.go_on(session, STOP, noise)) for session, noise in zip((first, second), noises, strict=True)
    ]
    assert texts == [emitted(engine.decode(prompt, STOP, noise)) for noise in noises]
    assert texts[0] != texts[1]


def test_a_stop_string_that_began_before_the_interruption_still_ends_the_text():
    pieces = "abcd"
    stop = Stop(9, strings=("bcd",), spelling=lambda: lambda token: pieces[token])
    ending = stop.begin([0, 1, 2])
    assert ending.cut([3, 0], 6) == ([3], "stop")
    assert ending.found == "bcd"


def test_a_conversation_goes_on_with_what_was_said(pair):
    engine, prompt = engine_of(pair), pair[0].tokenizer.encode("And the king")
    session = engine.start(prompt)
    answer = emitted(engine.go_on(session, STOP, NOISE))
    question = [5, 6, 7]
    session.say(question)
    assert session.text.prompt_length == len(prompt) + len(answer) + len(question)
    assert emitted(engine.go_on(session, STOP, NOISE)) == emitted(
        engine.decode([*prompt, *answer, *question], STOP, NOISE)
    )


def test_a_target_that_cannot_forget_is_named_in_the_first_pass_that_shows_it(pair):
    class Stubborn(Interrupted):
        def __getattr__(self, name):
            return (lambda *_: None) if name == "keep" else super().__getattr__(name)

    engine = engine_of(pair)
    stubborn = replace(engine, target=Stubborn(engine.target, "", [0], after=False))
    stubborn.target.part.fresh = lambda: stubborn.target  # the wrapped model, begun anew, is as stubborn
    with pytest.raises(ContractError, match="had to keep"):
        emitted(stubborn.decode([1, 2, 3], STOP, NOISE))
