"""The shipped decode loop, run whole over every value of its random numbers on small tables: the target's product law.

Tables of rational laws that depend on the whole context, a third of their entries zero; every rule of the catalogue;
several passes, bonus tokens, stops inside blocks, rewinds.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.none import NoDrafter
from draftproof.engine import plain
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.table import TableModel
from draftproof.rules.catalogue import CHAIN_RULES, RULES, TREE_RULES
from draftproof.rules.token import TokenRule
from draftproof.types import Purpose
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.temperature import Temperature
from draftproof.warpers.top_k import TopK
from draftproof.warpers.top_p import TopP
from draftproof.witness.forking import exact_law
from engines_of_tests import PROMPT, RAW, product_law, text_law, without_zeros

VOCABULARY = 3
ONE_HOT = 100
"""Tables with a seed from here on have one token a row."""


def table(seed, size=VOCABULARY):
    """Laws that depend on the whole context: small integer weights from a mixed-up context, a third of them zero."""

    def law_of(context):
        state = seed
        weights = []
        for token in (*context, *range(size)):
            state = (state * 131 + token * 7 + 17) % 10007
            weights.append(max(0, state % 6 - 1))
        weights = weights[-size:]
        if seed >= ONE_HOT:
            return [Fraction(int(token == state % size)) for token in range(size)]
        weights[len(context) % size] += 1
        return [Fraction(weight, sum(weights)) for weight in weights]

    return TableModel(law_of, size)


def engine(block, pipeline=RAW, draft_pipeline=None, target=1, draft=2, rule="token", branching=(), size=VOCABULARY):
    drafter = ModelDrafter(table(draft, size), pipeline if draft_pipeline is None else draft_pipeline)
    return Engine(table(target, size), drafter, RULES[rule], pipeline, FixedLength(block), branching)


def is_product(some_engine, stop, length, stops=()):
    return without_zeros(text_law(some_engine, stop)) == product_law(some_engine, length, stops)


@pytest.mark.parametrize("block", [0, 1, 2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("rule", CHAIN_RULES)
def test_the_text_has_the_targets_law_for_every_chain_rule_and_draft_length(rule, block):
    assert is_product(engine(block, rule=rule), Stop(4, 64), 4)  # one to four passes, up to 3,760 paths


@pytest.mark.parametrize("branching", [(2,), (2, 1), (2, 2)], ids=str)
@pytest.mark.parametrize("rule", TREE_RULES)
def test_the_text_has_the_targets_law_for_every_tree_rule(rule, branching):
    # Rules whose children may be alike take many more paths: they get two tokens of vocabulary for the larger trees.
    alike = rule in {"tree-with-replacement", "tree-k-seq", "traversal-with-replacement"}
    length = 3 if branching == (2, 2) or (rule, branching) in {("tree-k-seq", (2,)), ("tree-coupled", (2, 1))} else 4
    size = 2 if alike and len(branching) > 1 else VOCABULARY
    tested = engine(len(branching), rule=rule, branching=branching, size=size)
    assert is_product(tested, Stop(length, 64), length)


@pytest.mark.parametrize("rule", TREE_RULES)
def test_a_branch_may_go_on_as_a_chain(rule):
    assert is_product(engine(3, rule=rule, branching=(2,), size=2), Stop(3, 64), 3)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("target", "draft"), [(1, 1), (1, 3), (ONE_HOT, 2), (1, ONE_HOT + 1), (ONE_HOT, ONE_HOT + 1)])
def test_the_text_has_the_targets_law_for_every_kind_of_pair(rule, target, draft):
    # The target itself, another table, a one-hot target (greedy), a one-hot draft (n-gram), both.
    branching = (2, 1) if rule in TREE_RULES else ()
    size = 2 if rule in {"tree-k-seq", "tree-with-replacement", "traversal-with-replacement"} else VOCABULARY
    assert is_product(engine(2, target=target, draft=draft, rule=rule, branching=branching, size=size), Stop(3, 64), 3)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("token", range(2))
def test_a_stop_token_inside_a_block_ends_the_text_there(rule, token):
    branching = (2, 1) if rule in TREE_RULES else ()
    tested = engine(2, rule=rule, branching=branching, size=2)
    assert is_product(tested, Stop(3, 64, frozenset({token})), 3, stops={token})


@pytest.mark.parametrize("token", range(VOCABULARY))
def test_a_stop_token_of_three_inside_a_block_ends_the_text_there(token):
    assert is_product(engine(2), Stop(3, 64, frozenset({token})), 3, stops={token})


@pytest.mark.parametrize("rule", RULES)
def test_the_context_limit_ends_the_text_to_the_token(rule):
    branching = (2, 1) if rule in TREE_RULES else ()
    assert is_product(engine(3, rule=rule, branching=branching), Stop(50, len(PROMPT) + 2), 2)


@pytest.mark.parametrize(
    "pipeline",
    [
        Pipeline((Temperature(Fraction(1, 2)),)),
        Pipeline((Temperature(0),)),
        Pipeline((TopK(2),)),
        Pipeline((Temperature(Fraction(1, 3)), TopK(2), TopP(Fraction(3, 4)))),
    ],
    ids=["temperature 1/2", "greedy", "top-k", "all three"],
)
@pytest.mark.parametrize("rule", ["token", "block", "coupled", "tree", "traversal"])
def test_every_sampling_control_is_exact_together_with_speculation(rule, pipeline):
    branching = (2, 1) if rule in TREE_RULES else ()
    assert is_product(engine(2, pipeline, rule=rule, branching=branching), Stop(3, 64), 3)


@pytest.mark.parametrize("rule", CHAIN_RULES)
def test_a_draft_left_unwarped_is_still_lossless(rule):
    tested = engine(2, Pipeline((Temperature(Fraction(1, 2)), TopK(2))), draft_pipeline=RAW, rule=rule)
    assert is_product(tested, Stop(3, 64), 3)


@pytest.mark.parametrize("rule", ["token", "block", "tree", "traversal"])
def test_a_draft_with_a_short_context_only_stops_drafting(rule):
    tested = engine(2, rule=rule, branching=(2, 1) if rule in TREE_RULES else ())
    short = replace(tested, drafter=ModelDrafter(replace(table(2), context_limit=2), RAW))
    assert is_product(short, Stop(3, 64), 3)


def test_plain_decoding_has_the_targets_law():
    tested = engine(0)
    law = exact_law(lambda noise: tuple(plain.decode(tested.target, RAW, PROMPT, Stop(3, 64), noise)))
    assert without_zeros(law) == product_law(tested, 3)


@pytest.mark.parametrize("rule", RULES)
def test_no_drafter_is_plain_decoding(rule):
    assert is_product(replace(engine(3, rule=rule), drafter=NoDrafter()), Stop(3, 64), 3)


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


@pytest.mark.parametrize("rule", ["token", "block", "match", "coupled", "tree", "traversal"])
def test_a_drafter_with_a_stale_context_costs_speed_but_not_exactness(rule):
    tested = engine(2, rule=rule, branching=(2, 1) if rule in TREE_RULES else ())
    assert is_product(replace(tested, drafter=StaleDrafter(table(2))), Stop(3, 64), 3)


@dataclass
class GrowingLengths:
    """Draft lengths that depend on all that they may depend on: what was emitted, accepted and drafted before."""

    past: int = 0
    why: str | None = None

    def next(self, emitted):
        return 1 + (emitted + self.past) % 3

    def learn(self, drafted, accepted):
        self.past += drafted + accepted


class GrowingLength:
    def begin(self):
        return GrowingLengths()


@pytest.mark.parametrize("rule", ["token", "block", "coupled"])
def test_a_draft_length_that_follows_what_was_accepted_is_lossless(rule):
    assert is_product(replace(engine(0, rule=rule), length=GrowingLength()), Stop(3, 64), 3)


class StickyModel(TableModel):
    """A tampered target: its cache keeps rejected drafts and reads on after them."""

    @property
    def length(self):
        return getattr(self, "claimed", 0)

    def extend(self, tokens, rows=None, parents=None):
        laws = [self.law_of(tuple(self.context.append(token) or self.context)) for token in tokens]
        self.claimed = self.length + len(tokens)
        return np.asarray(laws[-(rows or len(laws)) :])

    def rewind(self, length):
        self.claimed = length

    def keep(self, length, path):
        self.claimed = length + len(path)


def test_a_cache_that_keeps_rejected_drafts_is_caught():
    honest = engine(2)
    tampered = replace(honest, target=StickyModel(table(1).law_of, VOCABULARY))
    assert without_zeros(text_law(tampered, Stop(3, 64))) != product_law(honest, 3)


@dataclass(frozen=True)
class SharedUniform:
    """A tampered noise: the accept test uses the uniform that drew the draft token."""

    noise: object

    def uniforms(self, purpose, start, count, first=0):
        return self.noise.uniforms(Purpose.DRAFT if purpose == Purpose.ACCEPT else purpose, start, count, first)


@dataclass(frozen=True)
class ReusedUniform:
    """A tampered noise: one uniform for all accept tests of a block."""

    noise: object

    def uniforms(self, purpose, start, count, first=0):
        found = self.noise.uniforms(purpose, start, count, first)
        if not count or purpose != Purpose.ACCEPT:
            return found
        return np.array([self.noise.uniforms(purpose, start, 1)[0]] * count, dtype=object)


@pytest.mark.parametrize("tamper", [SharedUniform, ReusedUniform])
@pytest.mark.parametrize("rule", ["token", "block", "traversal"])
def test_a_tampered_noise_is_caught(rule, tamper):
    tested = engine(2, rule=rule, target=3)

    def program(noise):
        passes = tested.decode(PROMPT, Stop(3, 64), tamper(noise))
        return tuple(token for done in passes for token in done.emitted)

    assert without_zeros(exact_law(program)) != product_law(tested, 3)


def test_a_tampered_residual_is_caught():
    tested = replace(engine(2), rule=TokenRule(residual=lambda p, q: p))
    assert not is_product(tested, Stop(3, 64), 3)
