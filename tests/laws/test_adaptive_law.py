"""A text whose draft lengths follow what was kept has the target's law, exactly: whole loop, every random number.

The lengths really change from pass to pass here, and differ from path to path; a length that looks ahead is caught.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from draftproof.drafters.model import ModelDrafter
from draftproof.economics.policy import Adaptive, Costs
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.table import TableModel
from draftproof.rules.catalogue import RULES
from draftproof.types import Purpose
from draftproof.witness.forking import exact_law
from engines_of_tests import PROMPT, RAW, product_law, text_law, without_zeros

# Near a tie: one kept draft makes two in a row promise more than one, one lost draft makes them promise less.
COSTS = Costs(0.0, (1.0, 1.3, 1.8, 2.9))
EAGER = Adaptive(COSTS, most=3)
LENGTH = 5


def table(seed, size=2):
    """Laws that depend on the whole context, no token impossible."""

    def law_of(context):
        state = seed
        for token in context:
            state = (state * 31 + token * 7 + 11) % 97
        weights = [1 + (state // (i + 1)) % 3 for i in range(size)]
        return [Fraction(weight, sum(weights)) for weight in weights]

    return TableModel(law_of, size)


def engine(rule, length=EAGER, branching=()):
    return Engine(table(1), ModelDrafter(table(5), RAW), RULES[rule], RAW, length, branching)


def lengths_and_kept(passes):
    return tuple(number for done in passes for number in (done.proposal.depth, len(done.path)))


@pytest.mark.parametrize("rule", ["token", "block", "match", "coupled"])
def test_an_adaptive_length_is_lossless(rule):
    tested = engine(rule)
    assert without_zeros(text_law(tested, Stop(LENGTH, 64))) == product_law(tested, LENGTH)


def test_an_adaptive_length_is_lossless_for_trees():
    tested = engine("traversal", branching=(2,))
    assert without_zeros(text_law(tested, Stop(4, 64))) == product_law(tested, 4)


@pytest.mark.parametrize("rule", ["token", "block", "match", "coupled"])
def test_the_lengths_in_these_texts_depend_on_what_was_kept(rule):
    ways = without_zeros(text_law(engine(rule), Stop(LENGTH, 64), lengths_and_kept))
    # One draft at first; after it was kept two, although that leaves less room before the end; after it was lost one.
    assert {way[:3] for way in ways} == {(1, 0, 1), (1, 1, 2)}


@dataclass(frozen=True)
class Looking:
    """A tampered length: it drafts a token where the first coin of the coming pass is kind, and none elsewhere."""

    noise: object
    why: str | None = None

    def begin(self):
        return self

    def next(self, emitted):
        return int(self.noise.uniforms(Purpose.ACCEPT, len(PROMPT) + emitted, 1)[0] < Fraction(1, 3))

    def learn(self, drafted, accepted):
        pass


@pytest.mark.parametrize("rule", ["token", "block"])
def test_a_length_that_looks_at_the_coming_coin_is_caught(rule):
    tested = engine(rule)

    def program(noise):
        passes = replace(tested, length=Looking(noise)).decode(PROMPT, Stop(3, 64), noise)
        return tuple(token for done in passes for token in done.emitted)

    assert without_zeros(exact_law(program)) != product_law(tested, 3)
