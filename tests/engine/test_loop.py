"""The loop on the embedded pair and on probe models: equal to plain decoding where it must be, exact at every end."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.none import NoDrafter
from draftproof.engine import plain
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.proposal import Proposal
from draftproof.engine.stop import Stop
from draftproof.errors import ContractError, UsageError
from draftproof.models.table import TableModel
from draftproof.noise import PhiloxNoise
from draftproof.rules.token import TokenRule
from draftproof.warpers.pipeline import Pipeline, sampling

NOISE = PhiloxNoise(11)
RAW = Pipeline()


def texts(engine, prompt, stop, noise=NOISE):
    return [token for done in engine.decode(prompt, stop, noise) for token in done.emitted]


@pytest.fixture
def embedded(pair):
    target, draft = pair

    def make(block, pipeline=RAW, drafter=None):
        guess = ModelDrafter(draft.model, pipeline) if drafter is None else drafter
        return Engine(target.model, guess, TokenRule(), pipeline, FixedLength(block))

    return make


def prompt_of(pair):
    return pair[0].tokenizer.encode("And it came to pass")


@pytest.mark.parametrize("seed", range(3))
def test_without_a_draft_the_loop_is_plain_decoding(pair, embedded, seed):
    engine, stop, prompt = embedded(0), Stop(40, 1024), prompt_of(pair)
    expected = list(plain.decode(engine.target, engine.pipeline, prompt, stop, PhiloxNoise(seed)))
    assert texts(engine, prompt, stop, PhiloxNoise(seed)) == expected
    assert texts(embedded(4, drafter=NoDrafter()), prompt, stop, PhiloxNoise(seed)) == expected


@pytest.mark.parametrize("block", [1, 3, 7])
def test_greedy_text_does_not_depend_on_the_draft(pair, embedded, block):
    # Two best logits within float32 rounding (1e-4) could flip; in 120 tokens of this text they are never that close.
    greedy, stop, prompt = sampling(0), Stop(120, 1024), prompt_of(pair)
    expected = list(plain.decode(pair[0].model, greedy, prompt, stop, NOISE))
    assert texts(embedded(block, greedy), prompt, stop) == expected


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_model_that_drafts_for_itself_is_always_accepted(pair, embedded, temperature):
    # p and q may differ by float32 rounding where BLAS rounds by the number of rows: 1e-5 of a token in 60.
    pipeline = sampling(temperature)
    engine = embedded(4, pipeline, ModelDrafter(pair[0].model.fresh(), pipeline))
    passes = list(engine.decode(prompt_of(pair), Stop(60, 1024), NOISE))
    assert sum(done.accepted for done in passes) == sum(len(done.drafted) for done in passes) > 0


def test_the_same_seed_gives_the_same_text_and_another_seed_another(pair, embedded):
    engine, stop, prompt = embedded(3), Stop(50, 1024), prompt_of(pair)
    once, again, other = (texts(engine, prompt, stop, PhiloxNoise(seed)) for seed in (5, 5, 6))
    assert once == again != other


@pytest.mark.parametrize("block", [0, 1, 2, 5])
@pytest.mark.parametrize("max_tokens", [0, 1, 2, 3, 7, 20])
def test_max_tokens_is_exact(pair, embedded, block, max_tokens):
    passes = list(embedded(block).decode(prompt_of(pair), Stop(max_tokens, 1024), NOISE))
    assert sum(len(done.emitted) for done in passes) == max_tokens
    assert [done.finish_reason for done in passes] == [None] * (len(passes) - 1) + ["length"] * bool(max_tokens)


@pytest.mark.parametrize("block", [0, 3, 6])
@pytest.mark.parametrize("room", [0, 1, 2, 9])
def test_the_context_limit_is_exact(pair, embedded, block, room):
    prompt = prompt_of(pair)
    passes = list(embedded(block).decode(prompt, Stop(500, len(prompt) + room), NOISE))
    assert sum(len(done.emitted) for done in passes) == room


def test_the_models_own_context_can_be_filled_to_the_last_token(pair, embedded):
    target = pair[0].model
    prompt = np.resize(prompt_of(pair), target.context_limit - 5).tolist()
    for block in (0, 4):
        assert len(texts(embedded(block), prompt, Stop(100, target.context_limit))) == 5


@dataclass
class Probe:
    """A model that knows what follows: after t comes t + 1 modulo V, but t + 2 after a text of a `wrong` length."""

    vocab_size: int = 11
    context_limit: int = 64
    wrong: frozenset = frozenset()
    context: list = field(default_factory=list)
    row_kind = "laws"

    @property
    def length(self):
        return len(self.context)

    def extend(self, tokens, rows=None):
        assert self.length + len(tokens) <= self.context_limit
        self.context += tokens
        last = len(self.context)
        rows = rows or len(tokens)
        return np.stack([self._row(length) for length in range(last - rows + 1, last + 1)])

    def _row(self, length):
        step = 2 if length in self.wrong else 1
        return np.eye(self.vocab_size)[(self.context[length - 1] + step) % self.vocab_size]

    def rewind(self, length):
        assert 0 <= length <= self.length
        del self.context[length:]

    def fresh(self):
        return replace(self, context=[])


def probe_engine(block, wrong=frozenset()):
    target, draft = Probe(), Probe(wrong=wrong)
    return Engine(target, ModelDrafter(draft), TokenRule(), Pipeline(), FixedLength(block))


@pytest.mark.parametrize("block", range(8))
@pytest.mark.parametrize("stop_token", [4, 5, 6, 7, 8])
def test_a_stop_token_is_the_last_token_wherever_it_falls_in_a_block(block, stop_token):
    passes = list(probe_engine(block).decode([3], Stop(50, 64, frozenset({stop_token})), NOISE))
    assert [token for done in passes for token in done.emitted] == list(range(4, stop_token + 1))
    assert passes[-1].finish_reason == "stop"


def test_a_stop_token_beats_the_length_when_both_fall_on_one_token():
    passes = list(probe_engine(3).decode([3], Stop(2, 64, frozenset({5})), NOISE))
    assert [token for done in passes for token in done.emitted] == [4, 5]
    assert passes[-1].finish_reason == "stop"


@pytest.mark.parametrize("right", [0, 1, 2, 3])
def test_a_draft_that_is_right_n_times_saves_as_many_passes(right):
    # Drafts of 3; the draft is wrong at every (right + 1)-th position: each pass emits right + 1 tokens.
    wrong = frozenset(range(1 + right, 64, right + 1) if right < 3 else ())
    passes = list(probe_engine(3, wrong).decode([3], Stop(12, 64), NOISE))
    assert len(passes) == 12 // (right + 1)
    assert [token for done in passes for token in done.emitted] == [(4 + i) % 11 for i in range(12)]


@pytest.mark.parametrize("block", [1, 2, 4])
def test_after_every_pass_the_caches_hold_the_text_without_its_last_token(block):
    draft = Probe(wrong=frozenset({5, 9, 10}))

    class Kept(Probe):
        def fresh(self):
            return self

    kept_target, kept_draft = Kept(), Kept(wrong=draft.wrong)
    engine = Engine(kept_target, ModelDrafter(kept_draft), TokenRule(), Pipeline(), FixedLength(block))
    text = [3]
    for done in engine.decode([3], Stop(15, 64), NOISE):
        text += done.emitted
        assert kept_target.context == text[:-1]
        assert kept_draft.context == text[: kept_draft.length]
        if done.drafted:  # after full acceptance the draft has not read its own last token
            assert kept_draft.length >= len(text) - 2


def test_after_a_stop_inside_a_block_the_cache_holds_no_token_past_the_stop():
    class Kept(Probe):
        def fresh(self):
            return self

    target = Kept()
    engine = Engine(target, ModelDrafter(Probe()), TokenRule(), Pipeline(), FixedLength(6))
    list(engine.decode([3], Stop(50, 64, frozenset({5})), NOISE))
    assert target.context == [3, 4]


def test_drafting_stops_where_the_drafts_context_ends_and_the_text_goes_on():
    engine = replace(probe_engine(3), drafter=ModelDrafter(Probe(context_limit=5)))
    passes = list(engine.decode([3], Stop(12, 64), NOISE))
    assert [token for done in passes for token in done.emitted] == [(4 + i) % 11 for i in range(12)]
    assert [len(done.drafted) for done in passes][-1] == 0


def test_a_proposal_cannot_be_made_by_hand():
    with pytest.raises(ContractError):
        Proposal((1,), np.array([[0.5, 0.5]]))


def test_a_proposal_keeps_the_laws_its_tokens_were_drawn_from():
    laws = [np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])]

    @dataclass
    class Scripted:
        def law(self, context):
            return laws[len(context) - 1]

    proposal = Proposal.draw(Scripted(), [0], 2, NOISE)
    assert proposal.tokens == (1, 2)
    assert np.array_equal(proposal.laws, np.stack(laws))


@pytest.mark.parametrize("make", [lambda: FixedLength(-1), lambda: Stop(-1, 10)])
def test_negative_lengths_are_refused(make):
    with pytest.raises(UsageError, match="-1"):
        make()


def test_a_model_that_returns_nan_is_named_as_the_culprit():
    broken = TableModel(lambda _: [float("nan"), 1.0], 2)
    engine = Engine(broken, NoDrafter(), TokenRule(), Pipeline(), FixedLength(0))
    with pytest.raises(ContractError, match="model"):
        texts(engine, [0], Stop(1, 10))
