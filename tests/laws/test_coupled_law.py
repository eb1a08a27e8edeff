"""The shipped coupled rule, integrated exactly over the order of its races: the target's law, and the plain text."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from conftest import exact_answers, fractions
from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.rules.catalogue import RULES
from draftproof.rules.coupled import CoupledRule, winner
from draftproof.witness.exact import expected_tokens, first_token_law, pass_law
from draftproof.witness.forking import exact_law
from engines_of_tests import PROMPT, RAW, mean, order_table, seen_law
from laws_of_tests import blocks, completed, law_pairs, product_of, repeated

RULE = CoupledRule()
# More than four racing tokens cut the simplex into more pieces than a test has time for.
PAIRS = [case for case in exact_answers("coupled.json")["pairs"] if len(case["p"]) <= 4]
FAMILIES = {name: case for name, case in exact_answers("efficiency_exact.json").items() if len(case["p"]) <= 3}
TRAP = fractions(["4/8", "1/8", "3/8"]), fractions(["1/9", "6/9", "2/9"])
MODEL = exact_answers("sequence_order2.json")[0]


@pytest.mark.parametrize("case", PAIRS, ids=lambda case: f"{case['p']} {case['q']}")
def test_draft_and_target_have_the_known_joint_law(case):
    p, q = fractions(case["p"]), fractions(case["q"])
    law = exact_law(lambda noise: tuple(int(winner(row, noise.exponentials(1, len(p)))) for row in (q, p)))
    for one, other in product(range(len(p)), repeat=2):
        assert law.get((one, other), 0) == Fraction(case["joint_draft_row_target_col"][one][other])


@pytest.mark.parametrize("case", PAIRS, ids=lambda case: f"{case['p']} {case['q']}")
def test_a_pass_keeps_the_draft_as_often_as_the_known_acceptance(case):
    p, q = fractions(case["p"]), fractions(case["q"])
    law = seen_law(RULE, *repeated(p, q, 1), (), lambda done: len(done.path))
    assert mean(law, int) == Fraction(case["accept"])


@pytest.mark.parametrize("block", [1, 2, 3])
def test_whole_passes_have_the_targets_law_on_the_pair_that_hides_faults_least(block):
    target, draft = repeated(*TRAP, block)
    assert completed(pass_law(RULE, target, draft), target) == product_of(target)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_expected_number_of_tokens_is_exactly_the_known_one(name):
    p, q = fractions(FAMILIES[name]["p"]), fractions(FAMILIES[name]["q"])
    for block, known in enumerate(FAMILIES[name]["coupled"][:3], start=1):
        assert expected_tokens(pass_law(RULE, *repeated(p, q, block))) == Fraction(known)


@given(law_pairs(max_size=3))
@settings(max_examples=40)
def test_any_pair_of_laws_emits_the_target(laws):
    assert first_token_law(RULE, *laws) == laws[0].tolist()


@given(blocks(max_depth=2))
@settings(max_examples=20)
def test_any_block_has_the_targets_law_and_the_expected_acceptance_it_says(rows):
    target, draft = rows
    assert completed(pass_law(RULE, target, draft), target) == product_of(target)
    law = seen_law(RULE, target, draft, (), lambda done: (done.expected_accepted, len(done.path)))
    expected = sum(float(chance) * expected for (expected, _), chance in law.items())
    assert abs(expected - float(mean(law, lambda outcome: outcome[1]))) < 1e-12  # the estimates are floats


def coupled_engine(rule, length, branching=()):
    target, draft = order_table(MODEL["P"]), order_table(MODEL["Q"])
    return Engine(target, ModelDrafter(draft), rule, RAW, FixedLength(length), branching)


def plain_text(model, noise, length):
    """Decoding without any draft, written from the definition: at each position the target's own winner."""
    text = list(PROMPT)
    for _ in range(length):
        law = np.array(model.law_of(tuple(text)), dtype=object)
        text.append(int(winner(law, noise.exponentials(len(text), len(law)))))
    return tuple(text[len(PROMPT) :])


@pytest.mark.parametrize(
    ("name", "length", "branching"),
    [
        ("coupled", 1, ()),
        ("coupled", 2, ()),
        ("coupled", 3, ()),
        ("tree-coupled", 1, (2,)),
        ("tree-coupled", 2, (2, 1)),
    ],
)
def test_in_every_cell_of_the_noise_the_text_is_that_of_plain_decoding(name, length, branching):
    engine = coupled_engine(RULES[name], length, branching)

    def program(noise):
        passes = list(engine.decode(PROMPT, Stop(3), noise))
        text = tuple(token for done in passes for token in done.emitted)
        return text == plain_text(engine.target, noise, 3)

    assert exact_law(program) == {True: 1}


def test_noise_that_forgets_its_position_is_caught():
    engine = coupled_engine(RULE, 1)

    class Stuck:
        def __init__(self, noise):
            self.noise = noise

        def exponentials(self, position, vocab_size):
            return self.noise.exponentials(0, vocab_size)

    law = exact_law(
        lambda noise: tuple(t for done in engine.decode(PROMPT, Stop(2), Stuck(noise)) for t in done.emitted)
    )
    wanted = {}
    for text, chance in MODEL["target_law"].items():
        start = tuple(int(token) for token in text[:2])
        wanted[start] = wanted.get(start, 0) + Fraction(chance)
    distance = sum(abs(law.get(text, 0) - chance) for text, chance in wanted.items()) / 2
    assert distance > Fraction(1, 4)
