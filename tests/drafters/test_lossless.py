"""Every kind of drafter in the shipped loop, run over every value of its random numbers: the target's product law."""

from dataclasses import dataclass
from fractions import Fraction

import pytest

from drafters_of_tests import DRAFTERS, table, translated, words
from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.table import TableModel
from draftproof.rules.catalogue import RULES, TREE_RULES
from engines_of_tests import RAW, mean, product_law, text_law, without_zeros


def engine(drafter, rule="token", block=2):
    return Engine(table(), drafter, RULES[rule], RAW, FixedLength(block), (2, 1) if rule in TREE_RULES else ())


def drafted(passes):
    return sum(len(done.proposal.tree.tokens) for done in passes)


@pytest.mark.parametrize("rule", ["token", "block", "match", "coupled", "tree", "traversal"])
@pytest.mark.parametrize("kind", DRAFTERS)
def test_the_text_has_the_targets_law_with_every_drafter(kind, rule):
    tested = engine(DRAFTERS[kind](), rule)
    assert without_zeros(text_law(tested, Stop(3, 64))) == product_law(tested, 3)


@pytest.mark.parametrize("kind", sorted(DRAFTERS.keys() - {"none", "ngram of two", "chain that may be silent"}))
def test_every_drafter_does_propose_something_in_such_a_text(kind):
    assert mean(text_law(engine(DRAFTERS[kind]()), Stop(4, 64), drafted), Fraction) > 0


def test_the_target_itself_in_other_ids_is_always_right():
    strings, order = ("a", "b", "c"), (2, 0, 1)  # the draft's token i is the target's token order[i]
    target = table()

    def law_of(context):
        law = target.law_of([order[token] for token in context])
        return [law[token] for token in order]

    draft = words(*(strings[token] for token in order))
    tested = engine(translated(draft, words(*strings), ModelDrafter(TableModel(law_of, 3))))
    lengths = text_law(tested, Stop(3, 64), lambda passes: tuple(len(done.emitted) for done in passes))
    assert without_zeros(lengths) == {(3,): 1}


@dataclass(frozen=True)
class Backwards:
    """A drafter whose laws are those of another, read backwards: bad guesses."""

    drafter: object

    def law(self, context):
        law = self.drafter.law(context)
        return law if law is None else law[::-1]

    def rewind(self, length):
        self.drafter.rewind(length)

    def fresh(self):
        return Backwards(self.drafter.fresh())


def test_a_drafter_that_guesses_badly_is_rejected_more_often_and_nothing_else():
    honest, bad = (engine(made) for made in (ModelDrafter(table()), Backwards(ModelDrafter(table()))))
    assert without_zeros(text_law(bad, Stop(3, 64))) == product_law(bad, 3)
    assert mean(text_law(bad, Stop(3, 64), len), Fraction) > mean(text_law(honest, Stop(3, 64), len), Fraction)
