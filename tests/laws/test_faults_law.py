"""A drafter that fails, when and as it likes, changes no law."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.table import TableModel
from draftproof.rules.catalogue import RULES
from draftproof.warpers.pipeline import Pipeline
from draftproof.witness.forking import exact_law

P = {0: (1, 2, 1), 1: (2, 1, 3), 2: (0, 3, 1)}
Q = {0: (2, 1, 1), 1: (1, 1, 1), 2: (1, 0, 4)}


def law(table, last):
    weights = table[last]
    return [Fraction(weight, sum(weights)) for weight in weights]


TARGET = TableModel(lambda text: law(P, text[-1]), 3)
WANTED = {
    text: law(P, 0)[text[0]] * law(P, text[0])[text[1]] * law(P, text[1])[text[2]]
    for text in product(range(3), repeat=3)
}


class Failing:
    """Raises, or returns what is no law, after drafted texts that `fails` picks out."""

    def __init__(self, fails):
        self.fails = fails

    def law(self, context):
        if self.fails(context):
            raise ArithmeticError
        return np.array(law(Q, context[-1]))

    def rewind(self, length):
        pass

    def fresh(self):
        return self


FAILURES = {
    "after a certain draft": lambda context: len(context) > 1 and context[-1] == 1,
    "after two drafts": lambda context: len(context) == 3,
    "on every second text": lambda context: sum(context) % 2 == 1,
}


@pytest.mark.parametrize("fails", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("rule", ["token", "block", "match", "coupled", "tree", "traversal"])
def test_a_failing_drafter_is_lossless(rule, fails):
    branching = (2,) if RULES[rule].branches else ()
    engine = Engine(TARGET, Failing(fails), RULES[rule], Pipeline(), FixedLength(2), branching)

    def program(noise):
        return tuple(token for done in engine.decode([0], Stop(3), noise) for token in done.emitted)

    found = exact_law(program)
    assert {text: chance for text, chance in found.items() if chance} == {t: c for t, c in WANTED.items() if c}


def test_throwing_away_what_was_drafted_before_the_failure_would_be_lossy():
    """The negative control: plain decoding of the whole pass instead, because of a token that was drawn."""

    class Discarding(Engine):
        def propose(self, drafter, tokens, length, draws):
            whole = super().propose(drafter, tokens, length, draws)
            return super().propose(drafter, tokens, 0, draws) if drafter.fault else whole

    fails = FAILURES["after a certain draft"]
    engine = Discarding(TARGET, Failing(fails), RULES["token"], Pipeline(), FixedLength(2))
    found = exact_law(lambda noise: tuple(t for done in engine.decode([0], Stop(3), noise) for t in done.emitted))
    assert {text: chance for text, chance in found.items() if chance} != {t: c for t, c in WANTED.items() if c}
