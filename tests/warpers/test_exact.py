"""On Fractions every control is exact whose factors are rational and whose powers are whole."""

from fractions import Fraction

import numpy as np
import pytest

from conftest import fractions
from draftproof.types import Text
from draftproof.warpers.bias import LogitBias
from draftproof.warpers.masks import AllowedTokens, BadWords, MinTokens
from draftproof.warpers.min_p import MinP
from draftproof.warpers.penalties import FrequencyPenalty, PresencePenalty, RepetitionPenalty
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.temperature import Temperature
from draftproof.warpers.top_k import TopK
from draftproof.warpers.top_p import TopP
from draftproof.warpers.typical_p import TypicalP

LAW = fractions(["1/2", "1/4", "1/8", "1/8"])[None]
TEXT = Text([3, 0, 1, 1], 1)
HALF = Fraction(1, 2)
EXPECTED = {
    Temperature(HALF): ["16/22", "4/22", "1/22", "1/22"],
    Temperature(0): ["1", "0", "0", "0"],
    TopK(2): ["2/3", "1/3", "0", "0"],
    TopP(Fraction(3, 4)): ["2/3", "1/3", "0", "0"],
    MinP(HALF): ["2/3", "1/3", "0", "0"],
    MinP(0.25): ["1/2", "1/4", "1/8", "1/8"],
    TypicalP(Fraction(1, 4)): ["0", "1", "0", "0"],  # the entropy is 7/4 bits; the surprises are 1, 2, 3, 3
    TypicalP(Fraction(3, 4)): ["2/3", "1/3", "0", "0"],
    TypicalP(Fraction(7, 8)): ["1/2", "1/4", "1/8", "1/8"],
    FrequencyPenalty(HALF): ["4/9", "1/9", "2/9", "2/9"],
    PresencePenalty(HALF): ["2/5", "1/5", "1/5", "1/5"],
    RepetitionPenalty(Fraction(2)): ["16/29", "4/29", "8/29", "1/29"],  # 2 is the one that the text has not
    LogitBias(((1, Fraction(3)), (2, HALF))): ["8/23", "12/23", "1/23", "2/23"],
    BadWords(((0, 1, 1, 0), (1, 2))): ["0", "2/3", "0", "1/3"],
    MinTokens(4, frozenset({0, 9})): ["0", "1/2", "1/4", "1/4"],
    MinTokens(3, frozenset({0, 9})): ["1/2", "1/4", "1/8", "1/8"],
    AllowedTokens(frozenset({1, 3})): ["0", "2/3", "0", "1/3"],
}


@pytest.mark.parametrize("step", EXPECTED, ids=repr)
def test_each_control_is_exact(step):
    law = Pipeline((step,)).laws(LAW, "laws", [TEXT])
    assert law[0].tolist() == fractions(EXPECTED[step]).tolist()
    assert all(isinstance(chance, Fraction | int) for chance in law[0])


@pytest.mark.parametrize("step", EXPECTED, ids=repr)
def test_floats_come_to_the_same(step):
    law = Pipeline((step,)).laws(LAW.astype(np.float64), "laws", [TEXT])
    assert law.dtype == np.float64
    assert np.allclose(law[0], fractions(EXPECTED[step]).astype(np.float64), rtol=1e-15, atol=0)  # a few roundings


def test_all_of_them_in_a_row_are_exact():
    steps = (
        LogitBias(((0, HALF),)), RepetitionPenalty(3), FrequencyPenalty(Fraction(2, 3)), PresencePenalty(HALF),
        BadWords(((1, 2),)), MinTokens(9, frozenset({3})), Temperature(HALF), TopK(3), TopP(Fraction(9, 10)),
        MinP(Fraction(1, 100)),
    )  # fmt: skip
    law = Pipeline(steps).laws(LAW, "laws", [TEXT])[0]
    # Bias: 2 2 1 1, over 6. Cubed where the text has them: 8 8 36 1. Twice 1, once 0 in the output: 8/3 16/9 36 1. Both
    # halved: 4/3 8/9 36 1. Then 2 and 3 may not come, and 3/2 to the power 2 is 9/4; the rest keeps both.
    assert law.tolist() == [Fraction(9, 13), Fraction(4, 13), 0, 0]


def test_a_power_that_is_not_whole_makes_floats_of_fractions():
    law = Pipeline((RepetitionPenalty(1.5),)).laws(LAW, "laws", [TEXT])[0]
    exact = np.array([0.5**1.5, 0.25**1.5, 0.125, 0.125**1.5])
    assert np.allclose(law.astype(np.float64), exact / exact.sum(), rtol=1e-15, atol=0)
