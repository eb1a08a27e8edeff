from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import exact_answers, fractions, needs
from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.none import NoDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.table import TableModel
from draftproof.noise import PhiloxNoise
from draftproof.rules.base import Place
from draftproof.rules.catalogue import RULES
from draftproof.rules.coupled import CoupledRule, matching_probability, winner
from engines_of_tests import PROMPT, RAW, Given, order_table
from laws_of_tests import in_floats, law_pairs

RULE = CoupledRule()
ANSWERS = exact_answers("coupled.json")
GOLDEN = ANSWERS["golden_texts"]


@pytest.mark.parametrize(
    "case", ANSWERS["philox_golden"], ids=lambda case: f"{case['seed']}-{case['seq']}-{case['pos']}"
)
def test_the_noise_of_a_position_is_golden(case):
    noise = PhiloxNoise(int(case["seed"]), case["seq"])
    uniforms = [float.fromhex(uniform) for uniform in case["uniform"]]
    assert [((int(word) >> 11) + 0.5) * 2.0**-53 for word in case["raw_u64"]] == uniforms
    assert noise.exponentials(case["pos"], 5).tolist() == (-np.log(uniforms)).tolist()


def test_the_noise_of_a_token_does_not_depend_on_how_many_there_are():
    noise = PhiloxNoise(3, 1)
    assert noise.exponentials(7, 5).tolist() == noise.exponentials(7, 1000)[:5].tolist()


class CountedFromTheFirstToken:
    """A noise whose positions count generated tokens, as those of the golden texts do; ours count the prompt too."""

    def __init__(self, seed):
        self.noise = PhiloxNoise(seed)

    def exponentials(self, position, vocab_size):
        return self.noise.exponentials(position - len(PROMPT), vocab_size)


def logits(table):
    rows = order_table(table)
    return TableModel(lambda text: [log(entry) for entry in rows.law_of(text)], rows.vocab_size, row_kind="logits")


def golden_passes(run, rule, drafter, length, branching=()):
    model = exact_answers("sequence_order2.json")[0]
    drafter = ModelDrafter(logits(model["Q"])) if drafter is None else drafter
    engine = Engine(logits(model["P"]), drafter, rule, RAW, FixedLength(length), branching)
    return list(engine.decode(PROMPT, Stop(GOLDEN["L"]), CountedFromTheFirstToken(run["seed"])))


def text(passes):
    return [token for done in passes for token in done.emitted]


@pytest.mark.parametrize("run", GOLDEN["runs"], ids=lambda run: f"seed {run['seed']}")
@pytest.mark.parametrize("length", ["1", "2", "3", "5"])
def test_texts_and_their_numbers_of_passes_are_golden(run, length):
    passes = golden_passes(run, RULE, None, int(length))
    assert text(passes) == run["text"]
    assert len(passes) == run["passes"][length]


@pytest.mark.parametrize("run", GOLDEN["runs"], ids=lambda run: f"seed {run['seed']}")
def test_the_text_is_the_same_without_a_draft_and_with_a_tree(run):
    assert text(golden_passes(run, RULE, NoDrafter(), 3)) == run["text"]
    for branching in ((2,), (2, 2), (3, 1, 2)):
        passes = golden_passes(run, RULES["tree-coupled"], None, len(branching), branching)
        assert text(passes) == run["text"]
        assert len(passes) < GOLDEN["L"]


def test_another_seed_gives_another_text():
    assert len({tuple(run["text"]) for run in GOLDEN["runs"]}) == len(GOLDEN["runs"])


@pytest.mark.parametrize("case", ANSWERS["pairs"], ids=lambda case: f"{case['p']} {case['q']}")
def test_acceptances_are_right_and_within_their_bounds(case):
    p, q = fractions(case["p"]), fractions(case["q"])
    exact = float(Fraction(case["accept"]))
    for found in (matching_probability(p, q), matching_probability(in_floats(p), in_floats(q))):
        assert abs(found - exact) <= 4 * 2.0**-53  # a sum of at most 5 terms below 1
    assert Fraction(case["minhash_bound"]) <= Fraction(case["accept"]) <= Fraction(case["sum_min"])


@given(law_pairs())
def test_the_matching_probability_is_its_definition_and_keeps_its_bounds(laws):
    p, q = laws
    both = [x for x in range(len(p)) if p[x] and q[x]]
    ratios = [sum(max(p[y] / p[x], q[y] / q[x]) for y in range(len(p))) for x in both]
    wanted = sum((1 / ratio for ratio in ratios), Fraction(0))
    assert abs(matching_probability(p, q) - float(wanted)) <= 1e-15  # a handful of roundings of numbers below 1
    distance = sum(abs(p - q)) / 2
    assert (1 - distance) / (1 + distance) <= wanted <= 1 - distance


def test_the_lowest_token_wins_among_equals():
    law, times = np.array([0.2, 0.4, 0.4]), np.array([1.0, 2.0, 2.0])
    torch = needs("torch")
    assert winner(law, times) == 0
    assert winner(law, np.array([2.0, 2.0, 2.0])) == 1
    assert winner(torch.tensor(law), torch.tensor([2.0, 2.0, 2.0], dtype=torch.float64)) == 1
    assert winner(np.array([Fraction(1, 2)] * 2), np.array([Fraction(3)] * 2)) == 0


def test_a_token_without_mass_never_wins():
    assert winner(np.array([0.0, 0.3, 0.7]), np.array([1e-300, 1.0, 1.0])) == 2


def test_temperature_zero_needs_no_case_of_its_own():
    assert winner(np.array([0.0, 1.0, 0.0]), np.array([1e-300, 700.0, 1e-300])) == 1


@given(law_pairs(max_size=4), st.integers(0, 100))
@settings(max_examples=50)
def test_a_draft_with_the_targets_own_law_is_always_right(laws, seed):
    law = in_floats(laws[0])
    times = np.stack([PhiloxNoise(seed).exponentials(position, len(law)) for position in range(4)])
    written = Given(times=times)
    tokens = [RULE.children(law, Place(written, i, i, (i,)))[0] for i in range(3)]
    verdict = RULE.verify(np.stack([law] * 4), np.stack([law] * 3), np.array(tokens), written)
    assert (int(verdict.accepted), int(verdict.token)) == (3, int(winner(law, times[3])))


def test_a_late_match_after_a_miss_does_not_count():
    law, times = np.full(2, 0.5), np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]])
    verdict = RULE.verify(np.stack([law] * 3), np.stack([law] * 2), np.array([1, 0]), Given(times=times))
    assert (verdict.accepted, verdict.token) == (0, 0)


def test_children_are_the_first_of_the_race_all_different_and_none_without_mass():
    law, times = np.array([0.25, 0.0, 0.5, 0.25]), np.array([[1.0, 1.0, 1.0, 0.4]])
    drawn = [
        RULES["tree-coupled"].children(law, Place(Given(times=times), 0, 0, tuple(range(k)))) for k in (1, 2, 3, 4)
    ]
    assert drawn == [[3], [3, 2], [3, 2, 0], [3, 2, 0]]


@pytest.mark.parametrize("accepted", [0, 1, 2])
def test_it_expects_the_matching_probability_of_each_row_it_came_to(accepted):
    p, q = fractions(["1/2", "1/3", "1/6"]), fractions(["1/3", "1/3", "1/3"])
    other = fractions(["1/6", "1/3", "1/2"])
    expected = RULE.expected_accepted(np.stack([p, other, p]), np.stack([q, other]), np.array([0, 0]), accepted)
    assert expected == pytest.approx([11 / 14, 25 / 14, 25 / 14][accepted], abs=1e-15)  # a few roundings below 2
