"""Random numbers that belong to a position and to no pass: lossless for the token rule, lossy for the block rule.

Coins and drafts past the last kept token took part in the block rule's decision; a next pass must not use them again.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import pytest

from conftest import exact_answers
from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.rules.catalogue import RULES
from draftproof.types import Purpose
from draftproof.witness.exact import total_variation
from draftproof.witness.forking import exact_law
from engines_of_tests import PROMPT, RAW, order_table

MODELS = exact_answers("rng_keying.json")["models"]


@dataclass(frozen=True)
class KeyedByPosition:
    """A tampered noise: a draft and a coin have the number of their place in the text, whichever pass asks.

    The final draw of a pass is the same either way: no other pass emits its last token at that place.
    """

    noise: object

    def uniforms(self, purpose, start, count, first=0):
        if purpose == Purpose.FINAL:
            return self.noise.uniforms(purpose, start, count, first)
        return self.noise.uniforms(purpose, 0, count, start + first)


KEYS = {"pos": KeyedByPosition, "pos+pass": lambda noise: noise}
CASES = [(model, case) for model in MODELS for case in model["cases"]]


def named(model, case):
    return f"V={model['V']} {case['rule']} by {case['key']}"


def marks(model, case):
    """The honest keys of the larger model take most of the time and are proven in the other tests of this folder."""
    return [pytest.mark.slow] * (model["V"] == 3 and case["key"] == "pos+pass")


def text_law(model, rule, key):
    target, draft = (order_table(model[name], model["order"]) for name in "PQ")
    engine = Engine(target, ModelDrafter(draft), RULES[rule], RAW, FixedLength(model["gamma"]))

    def program(noise):
        # As in the fixture, the last pass drafts a whole block too and the text is cut afterwards.
        text = []
        for done in engine.decode(PROMPT, Stop(model["L"] + model["gamma"]), KEYS[key](noise)):
            text += done.emitted
            if len(text) >= model["L"]:
                break
        return tuple(text[: model["L"]])

    return exact_law(program)


@pytest.mark.parametrize(("model", "case"), [pytest.param(*one, id=named(*one), marks=marks(*one)) for one in CASES])
def test_a_key_is_lossless_or_lossy_by_exactly_the_known_amount(model, case):
    texts = product(range(model["V"]), repeat=model["L"])
    wanted = dict(zip(texts, map(Fraction, model["target_law"]), strict=True))
    distance = total_variation(text_law(model, case["rule"], case["key"]), wanted)
    assert distance == Fraction(case["tv"])
    assert (distance == 0) == case["equal"]


def test_the_fixture_holds_a_lossy_key():
    assert [case["rule"] for _, case in CASES if not case["equal"]] == ["block", "block"]
