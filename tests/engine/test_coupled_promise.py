"""The promise of the coupled rule, literally: same seed, same token ids, whatever drafts and however many, or nothing.

200 seeds x K = 0..5 x three drafters on the embedded pair, sampled; every K and drafter at temperature 0 too.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.noise import PhiloxNoise
from draftproof.rules.catalogue import RULES
from draftproof.rules.coupled import winner
from draftproof.warpers.pipeline import sampling

TOKENS, SEEDS, SEEDS_AT_ONCE = 8, 200, 20
QUICK = 20
"""Seeds that are looked at with every change, all others by `make test-slow`."""
LENGTHS = range(6)


@dataclass(frozen=True)
class Adversary:
    """Proposes with all its mass the token that the target is least likely to emit."""

    model: object

    def law(self, context):
        self.model.rewind(0)
        scores = self.model.extend(context, rows=1)[0]
        return (np.arange(len(scores)) == np.argmin(scores)).astype(float)

    def rewind(self, length):
        pass

    def fresh(self):
        return self


@dataclass(frozen=True)
class Repeater:
    """Proposes a law from the text alone: mostly the token two places back, a little of everything else."""

    vocab_size: int

    def law(self, context):
        law = np.full(self.vocab_size, 0.5 / self.vocab_size)
        law[context[-2:][0]] += 0.5
        return law

    def rewind(self, length):
        pass

    def fresh(self):
        return self


def drafters(pair, pipeline):
    target, draft = pair[0].model, pair[1].model
    return {
        "model": ModelDrafter(draft, pipeline),
        "adversary": Adversary(draft.fresh()),
        "repeater": Repeater(target.vocab_size),
    }


def ids(pair, drafter, length, seed, pipeline, rule="coupled", branching=()):
    target = pair[0].model.steady()
    engine = Engine(target, drafter, RULES[rule], pipeline, FixedLength(length), branching)
    passes = engine.decode(pair[0].tokenizer.encode(""), Stop(TOKENS, 1024), PhiloxNoise(seed))
    return [token for done in passes for token in done.emitted]


@pytest.mark.parametrize(
    "first", [pytest.param(i, marks=[pytest.mark.slow] * (i >= QUICK)) for i in range(0, SEEDS, SEEDS_AT_ONCE)]
)
def test_the_text_of_a_seed_is_the_same_with_any_draft_of_any_length(pair, first):
    pipeline = sampling(1.0)
    kinds = drafters(pair, pipeline)
    for seed in range(first, first + SEEDS_AT_ONCE):
        texts = {tuple(ids(pair, kinds["model"], 0, seed, pipeline))}
        texts |= {tuple(ids(pair, kinds[kind], k, seed, pipeline)) for kind in kinds for k in LENGTHS if k}
        assert len(texts) == 1, seed


@pytest.mark.parametrize("pipeline", [sampling(0.0), sampling(0.7, top_k=40, top_p=0.9)], ids=["greedy", "warped"])
def test_so_it_is_at_temperature_zero_and_under_every_filter(pair, pipeline):
    kinds = drafters(pair, pipeline)
    texts = {tuple(ids(pair, kinds[kind], k, 3, pipeline)) for kind in kinds for k in LENGTHS}
    assert len(texts) == 1


@pytest.mark.parametrize("branching", [(2,), (3, 2), (1, 4)])
def test_a_tree_of_drafts_leaves_the_text_as_it_is(pair, branching):
    pipeline = sampling(1.0)
    kinds = drafters(pair, pipeline)
    for seed in range(6):
        chain = ids(pair, kinds["model"], 0, seed, pipeline)
        for kind in ("model", "repeater"):
            assert ids(pair, kinds[kind], 3, seed, pipeline, "tree-coupled", branching) == chain


def test_seeds_give_different_texts(pair):
    pipeline = sampling(1.0)
    drafter = drafters(pair, pipeline)["model"]
    # Two texts of 8 tokens agree with a chance far below 1e-6: the first tokens alone have more than 2 bits each.
    assert len({tuple(ids(pair, drafter, 3, seed, pipeline)) for seed in range(10)}) == 10


def test_the_text_is_what_the_race_itself_gives(pair):
    """Written apart: one row at a time, the winner under the noise of each position."""
    model, pipeline = pair[0].model.steady(), sampling(1.0)
    tokens = pair[0].tokenizer.encode("")
    start = len(tokens)
    for _ in range(TOKENS):
        law = pipeline.laws(model.extend(tokens[model.length :], 1), "logits")[0]
        tokens.append(int(winner(law, PhiloxNoise(5).exponentials(len(tokens), len(law)))))
    assert tokens[start:] == ids(pair, drafters(pair, pipeline)["model"], 4, 5, pipeline)


def test_the_promise_is_the_coupled_rules_own(pair):
    """The control: under the token rule the same seed gives other texts with another draft length."""
    pipeline = sampling(1.0)
    drafter = drafters(pair, pipeline)["model"]
    texts = {tuple(ids(pair, drafter, k, 0, pipeline, rule="token")) for k in LENGTHS}
    assert len(texts) > 1
