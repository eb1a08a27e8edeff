"""Whole texts on two dense order-2 tables: the joint law of four tokens, the mean number of passes, single passes.

Once through the shipped decode loop as a whole; once as passes of that loop from every text, put together, which is
affordable for every rule. Both must give the same, and what the fixture has.
"""

from fractions import Fraction

import pytest

from conftest import exact_answers
from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.rules.catalogue import CHAIN_RULES, RULES, TREE_RULES
from engines_of_tests import RAW, composed, mean, one_pass, order_table, text_law

MODELS = exact_answers("sequence_order2.json")
LENGTH = 4
SETTINGS = [(rule, length, ()) for rule in CHAIN_RULES for length in (1, 2, 3)]
SETTINGS += [(rule, len(branching), branching) for rule in TREE_RULES for branching in ((2,), (2, 1), (2, 2))]
KNOWN_PASSES = {
    ("tree", 2, (2, 2)): "tree (2,2) without replacement, top-down",
    ("traversal", 2, (2, 2)): "tree (2,2) without replacement, traversal",
    ("tree-greedy-draft", 2, (2, 2)): "tree (2,2) greedy-draft",
    ("tree-match", 2, (2, 2)): "tree (2,2) top-k sample-and-match",
    **{(rule, length, ()): f"{rule} gamma={length}" for rule in ("token", "block", "coupled") for length in (1, 2, 3)},
}
SLOW = {(rule, 2, (2, 2)) for rule in TREE_RULES if "replacement" in rule or rule in {"tree-k-seq", "tree-coupled"}}
"""So many paths (children that may be alike, races of many) that they are not run with every change."""
LONG = {("token", 3, ()), ("block", 2, ()), ("block", 3, ()), ("coupled", 1, ())}
"""So many paths of the whole loop, likewise; passes from every text see the same rules with every change."""
WHOLE = [
    ("token", 1, ()),
    ("token", 2, ()),
    ("token", 3, ()),
    ("block", 1, ()),
    ("block", 2, ()),
    ("block", 3, ()),
    ("match", 1, ()),
    ("coupled", 1, ()),
    ("tree", 1, (2,)),
    ("tree-with-replacement", 1, (2,)),
    ("tree-greedy-draft", 2, (2, 1)),
    ("tree-greedy-draft", 2, (2, 2)),
    ("tree-match", 2, (2, 2)),
    ("traversal", 1, (2,)),
    ("traversal-with-replacement", 1, (2,)),
]


def engine(model, setting):
    rule, length, branching = setting
    return Engine(
        order_table(model["P"]), ModelDrafter(order_table(model["Q"])), RULES[rule], RAW, FixedLength(length), branching
    )


def target_law(model):
    return {tuple(int(token) for token in text): Fraction(chance) for text, chance in model["target_law"].items()}


def without_passes(law):
    texts = {}
    for (text, _), chance in law.items():
        texts[text] = texts.get(text, Fraction(0)) + chance
    return {text: chance for text, chance in texts.items() if chance}


def check(model, setting, law):
    assert without_passes(law) == target_law(model)
    if setting in KNOWN_PASSES:
        assert float(mean(law, lambda outcome: outcome[1])) == model["passes"][KNOWN_PASSES[setting]]


def named(setting):
    return " ".join(str(part) for part in setting if part != ())


def marked(settings, slow):
    return [pytest.param(one, id=named(one), marks=[pytest.mark.slow] * (one in slow)) for one in settings]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"model {model['model_seed']}")
@pytest.mark.parametrize("setting", marked(SETTINGS, SLOW))
def test_passes_from_every_text_make_the_known_joint_law_and_mean_number_of_passes(setting, model):
    check(model, setting, composed(engine(model, setting), LENGTH))


@pytest.mark.parametrize("setting", marked(WHOLE, LONG))
def test_the_whole_loop_has_the_known_joint_law_and_mean_number_of_passes(setting):
    model = MODELS[len(setting[0]) % 2]  # the whole loop sees one of the two models, the passes above both
    law = text_law(
        engine(model, setting),
        Stop(LENGTH),
        lambda passes: (tuple(token for done in passes for token in done.emitted), len(passes)),
    )
    check(model, setting, law)
    assert law == composed(engine(model, setting), LENGTH)


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting",
    marked([("match", 2, ()), ("match", 3, ()), ("coupled", 2, ()), ("coupled", 3, ()), ("tree", 2, (2, 1))], ()),
)
def test_the_whole_loop_has_the_known_joint_law_in_longer_runs(setting):
    test_the_whole_loop_has_the_known_joint_law_and_mean_number_of_passes(setting)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"model {model['model_seed']}")
@pytest.mark.parametrize("name", ["token gamma=1", "token gamma=2", "block gamma=2"])
def test_one_pass_from_the_start_has_the_known_law(name, model):
    rule, _, length = name.partition(" gamma=")
    known = model["one_iteration_law_empty_context"][name]
    found = one_pass(engine(model, (rule, int(length), ())), (), LENGTH)
    wanted = {tuple(int(token) for token in text): Fraction(chance) for text, chance in known.items()}
    assert {text: chance for text, chance in found.items() if chance} == wanted
