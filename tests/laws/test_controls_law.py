"""Every sampling control together with speculation, in fractions: whole texts have the law of plain decoding.

Plain decoding with the step that ships must have the product law of the control as it is written down by hand; then
every rule, with a draft that is warped too and with one that is left raw, must have the law of plain decoding. Raw
drafts propose what a mask forbids, and what no grammar goes on from.
"""

from dataclasses import replace
from functools import cache

import pytest
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

from conftest import needs
from controls_of_tests import CONTROLS, END, TOGETHER, engine_of, law_by_hand, stop_of
from draftproof.engine import plain
from draftproof.rules.catalogue import RULES
from draftproof.warpers.grammar import grammar
from draftproof.warpers.pipeline import sampling
from draftproof.warpers.temperature import Temperature
from draftproof.witness.forking import exact_law
from engines_of_tests import PROMPT, text_law, without_zeros

DRAFTS = ("warped", "raw")


@cache
def plain_law(controls):
    engine, stop = engine_of(controls), stop_of(controls)
    return without_zeros(
        exact_law(lambda noise: tuple(plain.decode(engine.target, engine.pipeline, PROMPT, stop, noise)))
    )


def in_floats(engine, stop):
    """The law of an engine that computes in floats."""

    def program(noise):
        return tuple(token for done in engine.decode(PROMPT, stop, noise) for token in done.emitted)

    return exact_law(program, one=1.0)


@pytest.mark.parametrize("controls", [*((control,) for control in CONTROLS.values()), TOGETHER], ids=[*CONTROLS, "all"])
def test_plain_decoding_has_the_law_that_the_controls_have_by_hand(controls):
    target, stop = engine_of(controls).target, stop_of(controls)
    assert plain_law(controls) == law_by_hand(controls, target, stop)
    assert plain_law(controls) != law_by_hand((), target, stop), "a control that changes nothing proves nothing"
    assert len(plain_law(controls)) > 2 or controls[0].step == Temperature(0)


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_with_speculation_has_the_law_of_plain_decoding(name, rule, draft):
    controls = (CONTROLS[name],)
    assert without_zeros(text_law(engine_of(controls, rule, draft), stop_of(controls))) == plain_law(controls)


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("rule", RULES)
def test_all_controls_at_once_have_the_law_of_plain_decoding(rule, draft):
    assert without_zeros(text_law(engine_of(TOGETHER, rule, draft), stop_of(TOGETHER))) == plain_law(TOGETHER)


def ab_tokenizer():
    """Three tokens: a, b, and an end."""
    tokenizer = Tokenizer(BPE({"a": 0, "b": 1, "<end>": END}, []))
    tokenizer.pre_tokenizer, tokenizer.decoder = ByteLevel(add_prefix_space=False), ByteLevelDecoder()
    tokenizer.add_special_tokens(["<end>"])
    return tokenizer


def real_grammar():
    needs("llguidance")
    return {"grammar": grammar("regex", "(ab)*", ab_tokenizer(), {END})}, CONTROLS["grammar"]


def hugging_face():
    transformers = needs("transformers")
    return {"processors": [transformers.RepetitionPenaltyLogitsProcessor(2.0)]}, CONTROLS["repetition penalty"]


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("made", [real_grammar, hugging_face])
def test_a_grammar_and_a_processor_of_libraries_have_the_law_to_the_rounding_of_floats(made, rule, draft):
    settings, control = made()
    engine, stop, pipeline = engine_of((control,), rule, draft, float), stop_of((control,)), sampling(**settings)
    wanted = law_by_hand((control,), engine_of((control,)).target, stop)
    drafter = replace(engine.drafter, pipeline=pipeline) if draft == "warped" else engine.drafter
    found = without_zeros(in_floats(replace(engine, pipeline=pipeline, drafter=drafter), stop))
    assert found.keys() == wanted.keys()
    assert max(abs(found[text] - wanted[text]) for text in wanted) < 1e-12  # a few dozen sums and products


def test_all_controls_are_put_together_here_in_the_order_that_ships():
    shipped = sampling(
        0.5, 3, 0.9, min_p=0.1, typical_p=0.9, repetition_penalty=2, presence_penalty=0.1, frequency_penalty=0.1,
        logit_bias={1: 0.2}, bad_words=[(0, 2)], min_tokens=1, stop_tokens={2}, allowed_tokens={0, 1, 2},
        grammar=TOGETHER[7].step,
    )  # fmt: skip
    assert [type(control.step) for control in TOGETHER] == [type(step) for step in shipped.steps]
