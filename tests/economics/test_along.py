"""Passes along a text, against the shipped loop integrated over all its random numbers: equal as fractions."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from conftest import exact_answers
from draftproof.drafters.model import ModelDrafter
from draftproof.economics.along import Along, passes_of, survival_along
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.rules.catalogue import CHAIN_RULES
from draftproof.rules.coupled import same_winner
from engines_of_tests import PROMPT, RAW, composed, order_table

MODELS = exact_answers("sequence_order2.json")
LENGTH = 4
TEXTS = list(product(range(3), repeat=LENGTH))
SHORT_SIGHTED = 2
"""A context limit of the drafter that leaves it without a law after the first two tokens."""


def laws_along(model, sight=None):
    """What the tables of a fixture say along every text."""
    target, draft = (order_table(model[name]) for name in "PQ")
    rows = {"target": [], "draft": [], "coupled": [], "reach": []}
    for text in TEXTS:
        p = target.fresh().extend([*PROMPT, *text[:-1]])
        q = draft.fresh().extend([*PROMPT, *text[:-1]])
        rows["target"].append([p[i][token] for i, token in enumerate(text)])
        rows["draft"].append([q[i][token] for i, token in enumerate(text)])
        rows["coupled"].append([same_winner(p[i], q[i], token) for i, token in enumerate(text)])
        rows["reach"].append([max(0, (sight or 2 * LENGTH) - i) for i in range(LENGTH)])
    exact = {name: np.array(table, dtype=object) for name, table in rows.items() if name != "reach"}
    return Along(**exact, reach=np.array(rows["reach"]))


def chances(model):
    return np.array([Fraction(model["target_law"]["".join(map(str, text))]) for text in TEXTS], dtype=object)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"model {model['model_seed']}")
@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("rule", ["token", "block", "coupled"])
def test_the_mean_number_of_passes_is_the_known_one(model, rule, length):
    along = laws_along(model)
    passes = passes_of(survival_along(rule, along, length), along, length)
    mean = (chances(model) * passes.by_length.sum(axis=1)).sum()
    assert float(mean) == model["passes"][f"{rule} gamma={length}"]


@pytest.mark.parametrize("sight", [None, SHORT_SIGHTED])
@pytest.mark.parametrize("length", [0, 1, 2, 3])
@pytest.mark.parametrize("rule", ["token", "block", "match"])
def test_every_text_takes_the_passes_that_the_loop_takes_in_mean_and_variance(rule, length, sight):
    model = MODELS[0]
    draft = order_table(model["Q"])
    if sight is not None:
        draft.context_limit = len(PROMPT) + sight - 1
    engine = Engine(order_table(model["P"]), ModelDrafter(draft), CHAIN_RULES[rule], RAW, FixedLength(length))
    moments = {text: [Fraction(0)] * 3 for text in TEXTS}
    for (text, passes), chance in composed(engine, LENGTH).items():
        moments[text] = [total + chance * passes**power for power, total in enumerate(moments[text])]
    along = laws_along(model, sight)
    found = passes_of(survival_along(rule, along, length), along, length)
    for i, text in enumerate(TEXTS):
        total, first, second = moments[text]
        assert total == chances(model)[i]
        assert found.by_length[i].sum() == first / total
        assert found.variance[i] == second / total - (first / total) ** 2


def test_a_draft_that_is_the_target_keeps_everything():
    along = laws_along(MODELS[0])
    same = Along(along.target, along.target, along.target, along.reach)
    for rule in ("token", "block", "coupled"):
        passes = passes_of(survival_along(rule, same, 3), same, 3)
        assert passes.by_length.sum() == len(TEXTS)
        assert not passes.variance.any()
        assert (passes.by_length[:, 3] == 1).all()


@pytest.mark.parametrize("length", [1, 5, 16])
@pytest.mark.parametrize("ratio", [1.0, 1 - 1e-16, 1 + 1e-15])
def test_in_floats_a_variance_is_never_below_zero(length, ratio):
    target = np.random.default_rng(3).uniform(0.1, 1, (20, 96))
    draft = Along(target, target * ratio, target * ratio, np.full(target.shape, 16))
    for rule in ("token", "block", "coupled"):
        assert (passes_of(survival_along(rule, draft, length), draft, length).variance >= 0).all()


def test_pass_starts_of_plain_decoding_are_every_token():
    along = laws_along(MODELS[0])
    passes = passes_of(survival_along("token", along, 0), along, 0)
    assert (passes.starts == 1).all()
    assert (passes.by_length == LENGTH).all()
