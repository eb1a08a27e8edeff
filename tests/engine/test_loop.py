"""The loop on the embedded pair and on probe models: equal to plain decoding where it must be, exact at every end."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.none import NoDrafter
from draftproof.engine import plain
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.errors import ContractError, UsageError
from draftproof.models.table import TableModel
from draftproof.noise import PhiloxNoise
from draftproof.rules.catalogue import CHAIN_RULES, RULES, TREE_RULES
from draftproof.warpers.pipeline import Pipeline, sampling

NOISE = PhiloxNoise(11)
RAW = Pipeline()


def texts(engine, prompt, stop, noise=NOISE):
    return [token for done in engine.decode(prompt, stop, noise) for token in done.emitted]


@pytest.fixture
def embedded(pair):
    target, draft = pair

    def make(block, pipeline=RAW, drafter=None, rule="token", branching=()):
        guess = ModelDrafter(draft.model, pipeline) if drafter is None else drafter
        return Engine(target.model, guess, RULES[rule], pipeline, FixedLength(block), branching)

    return make


def branching_of(rule):
    return (2, 2) if rule in TREE_RULES else ()


def prompt_of(pair):
    return pair[0].tokenizer.encode("And it came to pass")


@pytest.mark.parametrize(
    ("rule", "seed"), [("token", 0), ("token", 1), *((rule, 2) for rule in RULES if "coupled" not in rule)]
)
def test_without_a_draft_the_loop_is_plain_decoding(pair, embedded, rule, seed):
    engine, stop, prompt = embedded(0, rule=rule), Stop(20, 1024), prompt_of(pair)
    expected = list(plain.decode(engine.target, engine.pipeline, prompt, stop, PhiloxNoise(seed)))
    assert texts(engine, prompt, stop, PhiloxNoise(seed)) == expected
    assert texts(embedded(4, drafter=NoDrafter(), rule=rule), prompt, stop, PhiloxNoise(seed)) == expected


@pytest.mark.parametrize("block", [1, 3, 7])
def test_greedy_text_does_not_depend_on_the_draft(pair, embedded, block):
    # Two best logits within float32 rounding (1e-4) could flip; in 120 tokens of this text they are never that close.
    greedy, stop, prompt = sampling(0), Stop(120, 1024), prompt_of(pair)
    expected = list(plain.decode(pair[0].model, greedy, prompt, stop, NOISE))
    assert texts(embedded(block, greedy), prompt, stop) == expected


@pytest.mark.parametrize("rule", RULES)
def test_greedy_text_does_not_depend_on_the_rule(pair, embedded, rule):
    greedy, stop, prompt = sampling(0), Stop(30, 1024), prompt_of(pair)
    expected = list(plain.decode(pair[0].model, greedy, prompt, stop, NOISE))
    assert texts(embedded(3, greedy, rule=rule, branching=branching_of(rule)), prompt, stop) == expected


@pytest.mark.parametrize("seed", range(2))
def test_coupled_text_depends_on_the_seed_and_on_nothing_that_drafts(pair, embedded, seed):
    # Two best scores within float32 rounding (1e-5) could flip; in these texts they are never that close.
    stop, prompt, noise = Stop(40, 1024), prompt_of(pair), PhiloxNoise(seed)
    expected = texts(embedded(0, rule="coupled"), prompt, stop, noise)
    for block in (1, 2, 5):
        assert texts(embedded(block, rule="coupled"), prompt, stop, noise) == expected
    for branching in ((3,), (2, 2), (2, 1, 2)):
        tree = embedded(len(branching), rule="tree-coupled", branching=branching)
        assert texts(tree, prompt, stop, noise) == expected


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("rule", ["token", "block", "coupled"])
def test_a_model_that_drafts_for_itself_is_always_accepted(pair, embedded, rule, temperature):
    # p and q may differ by float32 rounding where BLAS rounds by the number of rows: 1e-5 of a token in 60.
    pipeline = sampling(temperature)
    engine = embedded(4, pipeline, ModelDrafter(pair[0].model.fresh(), pipeline), rule=rule)
    passes = list(engine.decode(prompt_of(pair), Stop(60, 1024), NOISE))
    assert sum(len(done.path) for done in passes) == sum(len(done.drafted) for done in passes) > 0
    assert all(done.bonus for done in passes)


@pytest.mark.parametrize("rule", RULES)
def test_what_a_pass_says_of_itself_holds_together(pair, embedded, rule):
    text = prompt_of(pair)
    engine = embedded(3, rule=rule, branching=branching_of(rule))
    for done in engine.decode(prompt_of(pair), Stop(40, 1024), NOISE):
        assert done.start == len(text)
        assert len(done.target) == len(done.drafted) + 1
        assert [done.drafted[node] for node in done.path] == list(done.emitted[: len(done.path)])
        parents = [done.proposal.tree.parents[node] for node in done.path]
        twins = [-1, *done.path][: len(parents)]  # a path may go on below a twin: then the tokens agree, not the nodes
        pairs = zip(parents, twins, strict=True)
        assert all(parent == twin or done.drafted[parent] == done.drafted[twin] for parent, twin in pairs)
        rows = [0, *(node + 1 for node in done.path)]
        chances = [done.target[row, token] for row, token in zip(rows, done.emitted, strict=False)]
        assert np.allclose(done.logprobs, np.log(chances), rtol=1e-12)  # one logarithm rounds as another
        assert done.record().accepted == len(done.path) <= 3
        assert (done.expected_accepted is None) == (rule in TREE_RULES and bool(done.drafted))
        text += done.emitted
    assert len(text) == len(prompt_of(pair)) + 40


@pytest.mark.parametrize("rule", RULES)
def test_the_same_seed_gives_the_same_text_and_another_seed_another(pair, embedded, rule):
    engine = embedded(3, rule=rule, branching=branching_of(rule))
    stop, prompt = Stop(30, 1024), prompt_of(pair)
    once, again, other = (texts(engine, prompt, stop, PhiloxNoise(seed)) for seed in (5, 5, 6))
    assert once == again != other


@pytest.mark.parametrize("block", [0, 1, 2, 5])
@pytest.mark.parametrize("max_tokens", [0, 1, 2, 3, 7, 20])
def test_max_tokens_is_exact(pair, embedded, block, max_tokens):
    passes = list(embedded(block).decode(prompt_of(pair), Stop(max_tokens, 1024), NOISE))
    assert sum(len(done.emitted) for done in passes) == max_tokens
    assert [done.finish_reason for done in passes] == [None] * (len(passes) - 1) + ["length"] * bool(max_tokens)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("max_tokens", [1, 2, 5])
def test_max_tokens_is_exact_for_every_rule(pair, embedded, rule, max_tokens):
    engine = embedded(3, rule=rule, branching=branching_of(rule))
    assert len(texts(engine, prompt_of(pair), Stop(max_tokens, 1024))) == max_tokens


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

    def extend(self, tokens, rows=None, parents=None):
        trunk = len(tokens) - len(parents or ())
        texts = [[*self.context, *tokens[: i + 1]] for i in range(trunk)]
        for token, parent in zip(tokens[trunk:], parents or (), strict=True):
            texts.append([*texts[trunk + parent], token])
        assert max(map(len, texts)) <= self.context_limit
        self.context += tokens
        return np.stack([self._row(text) for text in texts[-(rows or len(tokens)) :]])

    def _row(self, text):
        step = 2 if len(text) in self.wrong else 1
        return np.eye(self.vocab_size)[(text[-1] + step) % self.vocab_size]

    def keep(self, length, path):
        self.context[length:] = [self.context[length + offset] for offset in path]

    def rewind(self, length):
        assert 0 <= length <= self.length
        del self.context[length:]

    def fresh(self):
        return replace(self, context=[])


def probe_engine(block, wrong=frozenset(), rule="token", branching=()):
    target, draft = Probe(), Probe(wrong=wrong)
    return Engine(target, ModelDrafter(draft), RULES[rule], Pipeline(), FixedLength(block), branching)


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
@pytest.mark.parametrize("rule", RULES)
def test_a_draft_that_is_right_n_times_saves_as_many_passes(rule, right):
    # Drafts of 3; the draft is wrong at every (right + 1)-th position: each pass emits right + 1 tokens.
    wrong = frozenset(range(1 + right, 64, right + 1) if right < 3 else ())
    passes = list(probe_engine(3, wrong, rule).decode([3], Stop(12, 64), NOISE))
    assert len(passes) == 12 // (right + 1)
    assert [token for done in passes for token in done.emitted] == [(4 + i) % 11 for i in range(12)]


class Kept(Probe):
    """A probe whose cache can be looked at afterwards."""

    def fresh(self):
        return self


@pytest.mark.parametrize("block", [1, 2, 4])
@pytest.mark.parametrize("rule", CHAIN_RULES)
def test_after_every_pass_the_caches_hold_the_text_without_its_last_token(rule, block):
    kept_target, kept_draft = Kept(), Kept(wrong=frozenset({5, 9, 10}))
    engine = Engine(kept_target, ModelDrafter(kept_draft), RULES[rule], Pipeline(), FixedLength(block))
    text = [3]
    for done in engine.decode([3], Stop(15, 64), NOISE):
        text += done.emitted
        assert kept_target.context == text[:-1]
        assert kept_draft.context == text[: kept_draft.length]
        if done.drafted:  # after full acceptance the draft has not read its own last token
            assert kept_draft.length >= len(text) - 2


class Guesses(Probe):
    """A probe that is not sure: right with 1/2, or one too far, or two."""

    def _row(self, text):
        row = np.zeros(self.vocab_size)
        for step, chance in ((1, 0.5), (2, 0.25), (3, 0.25)):
            row[(text[-1] + step) % self.vocab_size] += chance
        return row


@pytest.mark.parametrize("branching", [(2,), (2, 2), (3, 1, 2)], ids=str)
@pytest.mark.parametrize("rule", TREE_RULES)
def test_after_every_pass_of_a_tree_the_target_holds_the_text_without_its_last_token(rule, branching):
    class KeptGuesses(Guesses):
        def fresh(self):
            return self

    target, draft = KeptGuesses(), KeptGuesses()
    engine = Engine(target, ModelDrafter(draft), RULES[rule], Pipeline(), FixedLength(len(branching)), branching)
    text = [3]
    lengths = set()
    for done in engine.decode([3], Stop(25, 64), NOISE):
        text += done.emitted
        lengths.add(len(done.path))
        assert target.context == text[:-1]
        assert draft.context == text[: draft.length]
    assert len(lengths) > 1


def test_after_a_stop_inside_a_block_the_cache_holds_no_token_past_the_stop():
    target = Kept()
    engine = Engine(target, ModelDrafter(Probe()), RULES["token"], Pipeline(), FixedLength(6))
    list(engine.decode([3], Stop(50, 64, frozenset({5})), NOISE))
    assert target.context == [3, 4]


def test_drafting_stops_where_the_drafts_context_ends_and_the_text_goes_on():
    engine = replace(probe_engine(3), drafter=ModelDrafter(Probe(context_limit=5)))
    passes = list(engine.decode([3], Stop(12, 64), NOISE))
    assert [token for done in passes for token in done.emitted] == [(4 + i) % 11 for i in range(12)]
    assert [len(done.drafted) for done in passes][-1] == 0


def test_only_tree_rules_may_branch():
    with pytest.raises(UsageError, match="tree rule"):
        probe_engine(2, rule="token", branching=(2,))
    with pytest.raises(UsageError, match="from 1 up"):
        probe_engine(2, rule="tree", branching=(0,))
    assert probe_engine(2, rule="token", branching=(1,)).branching == (1,)


def test_a_tree_is_never_deeper_than_there_is_room():
    engine = probe_engine(3, rule="tree", branching=(1, 1, 1))
    passes = list(engine.decode([3], Stop(6, 64), NOISE))
    assert [len(done.drafted) for done in passes] == [3, 1]
    assert [token for done in passes for token in done.emitted] == [4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("make", [lambda: FixedLength(-1), lambda: Stop(-1, 10)])
def test_negative_lengths_are_refused(make):
    with pytest.raises(UsageError, match="-1"):
        make()


def test_a_model_that_returns_nan_is_named_as_the_culprit():
    broken = TableModel(lambda _: [float("nan"), 1.0], 2)
    engine = Engine(broken, NoDrafter(), RULES["token"], Pipeline(), FixedLength(0))
    with pytest.raises(ContractError, match="model"):
        texts(engine, [0], Stop(1, 10))
