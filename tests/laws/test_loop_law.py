"""The shipped decode loop, run whole over every value of its uniforms on small tables: the target's product law.

Two tables of context-dependent rational laws with zeros; several passes, bonus tokens, stops inside blocks, rewinds.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.none import NoDrafter
from draftproof.engine import plain
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.table import TableModel
from draftproof.rules.token import TokenRule
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.temperature import Temperature
from draftproof.warpers.top_k import TopK
from draftproof.warpers.top_p import TopP
from draftproof.witness.forking import exact_law

PROMPT = (0,)
VOCABULARY = 3
RAW = Pipeline()


def table(seed):
    """Laws that depend on the whole context: small integer weights from a mixed-up context, a third of them zero."""

    def law_of(context):
        state = seed
        weights = []
        for token in (*context, *range(VOCABULARY)):
            state = (state * 131 + token * 7 + 17) % 10007
            weights.append(max(0, state % 6 - 1))
        weights = weights[-VOCABULARY:]
        weights[len(context) % VOCABULARY] += 1
        return [Fraction(weight, sum(weights)) for weight in weights]

    return TableModel(law_of, VOCABULARY)


def engine(block, pipeline=RAW, draft_pipeline=None, target=1, draft=2):
    drafter = ModelDrafter(table(draft), pipeline if draft_pipeline is None else draft_pipeline)
    return Engine(table(target), drafter, TokenRule(), pipeline, FixedLength(block))


def emitted_law(some_engine, stop):
    def program(noise):
        return tuple(token for done in some_engine.decode(PROMPT, stop, noise) for token in done.emitted)

    return exact_law(program)


def product_law(some_engine, length, stops=()):
    """The law of plain decoding, from its definition: the product of the warped rows along a text, cut at a stop."""
    law = {}
    for text in product(range(VOCABULARY), repeat=length):
        ends = [i + 1 for i, token in enumerate(text) if token in stops]
        kept = text[: ends[0]] if ends else text
        model = some_engine.target.fresh()
        rows = some_engine.pipeline.laws(model.extend([*PROMPT, *kept[:-1]]), "laws")
        law[kept] = prod((row[token] for row, token in zip(rows, kept, strict=True)), start=Fraction(1))
    return {text: chance for text, chance in law.items() if chance}


def same(left, right):
    return {k: v for k, v in left.items() if v} == right


@pytest.mark.parametrize("block", [0, 1, 2, 3])
def test_the_text_has_the_targets_law_for_every_draft_length(block):
    tested = engine(block)  # four tokens: blocks of three take up to 1,743 paths, in one to four passes
    assert same(emitted_law(tested, Stop(4, 64)), product_law(tested, 4))


@pytest.mark.parametrize("draft", [1, 3], ids=["the target itself", "another table"])
def test_the_text_has_the_targets_law_for_every_draft(draft):
    tested = engine(2, draft=draft)
    assert same(emitted_law(tested, Stop(3, 64)), product_law(tested, 3))


@pytest.mark.parametrize("token", range(VOCABULARY))
def test_a_stop_token_inside_a_block_ends_the_text_there(token):
    tested = engine(2)
    stop = Stop(3, 64, frozenset({token}))
    assert same(emitted_law(tested, stop), product_law(tested, 3, stops={token}))


def test_the_context_limit_ends_the_text_to_the_token():
    tested = engine(3)
    assert same(emitted_law(tested, Stop(50, len(PROMPT) + 2)), product_law(tested, 2))


@pytest.mark.parametrize(
    "pipeline",
    [
        Pipeline(Temperature(Fraction(1, 2))),
        Pipeline(Temperature(0)),
        Pipeline(filters=(TopK(2),)),
        Pipeline(Temperature(Fraction(1, 3)), (TopK(2), TopP(Fraction(3, 4)))),
    ],
    ids=["temperature 1/2", "greedy", "top-k", "all three"],
)
def test_every_sampling_control_is_exact_together_with_speculation(pipeline):
    tested = engine(2, pipeline)
    assert same(emitted_law(tested, Stop(3, 64)), product_law(tested, 3))


def test_a_draft_left_unwarped_is_still_lossless():
    tested = engine(2, Pipeline(Temperature(Fraction(1, 2)), (TopK(2),)), draft_pipeline=RAW)
    assert same(emitted_law(tested, Stop(3, 64)), product_law(tested, 3))


def test_a_draft_with_a_short_context_only_stops_drafting():
    tested = engine(2)
    short = replace(tested, drafter=ModelDrafter(replace(table(2), context_limit=2), RAW))
    assert same(emitted_law(short, Stop(3, 64)), product_law(tested, 3))


def test_plain_decoding_has_the_targets_law():
    tested = engine(0)
    law = exact_law(lambda noise: tuple(plain.decode(tested.target, RAW, PROMPT, Stop(3, 64), noise)))
    assert same(law, product_law(tested, 3))


@dataclass(frozen=True)
class StaleDrafter:
    """Proposes from a context one token too short: a bad guess, but the law that is drawn from is the law tested."""

    model: TableModel

    def law(self, context):
        self.model.rewind(0)
        return RAW.laws(self.model.extend(context[:-1] or context, rows=1), "laws")[0]

    def rewind(self, length):
        pass

    def fresh(self):
        return self


def test_a_drafter_with_a_stale_context_costs_speed_but_not_exactness():
    tested = replace(engine(2), drafter=StaleDrafter(table(2)))
    assert same(emitted_law(tested, Stop(3, 64)), product_law(tested, 3))


class StickyModel(TableModel):
    """A tampered target: its cache keeps rejected drafts and reads on after them."""

    @property
    def length(self):
        return getattr(self, "claimed", 0)

    def extend(self, tokens, rows=None):
        laws = [self.law_of(tuple(self.context.append(token) or self.context)) for token in tokens]
        self.claimed = self.length + len(tokens)
        return np.asarray(laws[-(rows or len(laws)) :])

    def rewind(self, length):
        self.claimed = length


def test_a_cache_that_keeps_rejected_drafts_is_caught():
    honest = engine(2)
    tampered = replace(honest, target=StickyModel(table(1).law_of, VOCABULARY))
    assert not same(emitted_law(tampered, Stop(3, 64)), product_law(honest, 3))


@dataclass(frozen=True)
class SharedUniform:
    """A tampered noise: the accept test uses the uniform that drew the draft token."""

    noise: object

    def uniforms(self, purpose, start, count):
        return self.noise.uniforms(1 if purpose == 2 else purpose, start, count)


@dataclass(frozen=True)
class ReusedUniform:
    """A tampered noise: one uniform for all accept tests of a block."""

    noise: object

    def uniforms(self, purpose, start, count):
        found = self.noise.uniforms(purpose, start, count)
        return np.array([found[0]] * count, dtype=object) if count and purpose == 2 else found


@pytest.mark.parametrize("tamper", [SharedUniform, ReusedUniform])
def test_a_tampered_noise_is_caught(tamper):
    tested = engine(2)

    def program(noise):
        passes = tested.decode(PROMPT, Stop(3, 64), tamper(noise))
        return tuple(token for done in passes for token in done.emitted)

    assert not same(exact_law(program), product_law(tested, 3))


def test_a_tampered_residual_is_caught():
    tested = replace(engine(2), rule=TokenRule(residual=lambda p, q: p))
    assert not same(emitted_law(tested, Stop(3, 64)), product_law(tested, 3))


def test_no_drafter_is_plain_decoding():
    tested = replace(engine(3), drafter=NoDrafter())
    assert same(emitted_law(tested, Stop(3, 64)), product_law(tested, 3))
