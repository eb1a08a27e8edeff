"""Every control gives with speculation what it gives without: whole texts, exactly, on tables of fractions."""

from fractions import Fraction

import pytest

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.rules.catalogue import RULES
from draftproof.warpers.bias import LogitBias
from draftproof.warpers.masks import AllowedTokens, BadWords, MinTokens
from draftproof.warpers.min_p import MinP
from draftproof.warpers.penalties import FrequencyPenalty, PresencePenalty, RepetitionPenalty
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.temperature import Temperature
from draftproof.warpers.top_k import TopK
from draftproof.warpers.typical_p import TypicalP
from draftproof.witness.sequence import emitted_law, product_law
from draftproof.witness.tables import World, scattered

HALF, END = Fraction(1, 2), 2
PIPELINES = {
    "frequency": (FrequencyPenalty(HALF),),
    "presence": (PresencePenalty(3),),
    "repetition": (RepetitionPenalty(2),),
    "bias": (LogitBias(((0, Fraction(1, 5)), (1, 2))),),
    "bad words": (BadWords(((0, 1), (1, 1, 0))),),
    "min tokens": (MinTokens(2, frozenset({END})),),
    "allowed tokens": (AllowedTokens(frozenset({0, END})),),
    "min-p": (MinP(HALF),),
    "typical-p": (TypicalP(HALF),),
    "many": (
        LogitBias(((1, 3),)), RepetitionPenalty(2), FrequencyPenalty(HALF), BadWords(((0, 0),)),
        MinTokens(1, frozenset({END})), Temperature(HALF), TopK(2), MinP(Fraction(1, 20)),
    ),
}  # fmt: skip


def world(pipeline):
    target, draft = scattered(1, 3, zeros=False), scattered(2, 3, zeros=False)
    return World("", target, draft, 3, 2, Stop(3, tokens=frozenset({END})), Pipeline(pipeline))


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("rule", ["token", "block"])
def test_the_text_has_the_law_of_plain_decoding(rule, name):
    tried = world(PIPELINES[name])
    engine = tried.engine(RULES[rule])
    law = product_law(engine, tried.stop)
    assert emitted_law(engine, tried.stop) == law
    assert law != product_law(world(()).engine(RULES[rule]), tried.stop)  # the control does something here


def test_a_draft_without_controls_is_lossless_too():
    tried = world(PIPELINES["many"])
    engine = tried.engine(RULES["token"])
    raw = Engine(engine.target, ModelDrafter(engine.drafter.model), engine.rule, engine.pipeline, engine.length)
    assert emitted_law(raw, tried.stop) == product_law(engine, tried.stop)
