"""Tokens at the edge of the possible: what honest rounding explains is let go, and nothing else is."""

from dataclasses import replace

import numpy as np
import pytest

from draftproof.drafters.none import NoDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.models.table import TableModel
from draftproof.rules.token import TokenRule
from draftproof.types import Text
from draftproof.warpers.pipeline import sampling
from draftproof.witness.case import Case
from draftproof.witness.excused import _last_place, excused, rounding_of
from draftproof.witness.stream import Told
from draftproof.witness.tables import WORLDS
from draftproof.witness.verdict import Verdict

SCORES = np.array([2.0, 1.0, 1.0 - 4e-6, 0.0])
NEAR, FAR, ROUNDING = 2, 3, 1e-5
BEFORE = Text([0], 1)
AT_THE_EDGE = {
    "top-k": sampling(top_k=2),
    "top-p": sampling(top_p=float(np.exp(SCORES[:2]).sum() / np.exp(SCORES).sum()) - 1e-7),
    "min-p": sampling(min_p=float(np.exp(-1.0 - 2e-6))),
    "greedy among two": sampling(0, logit_bias={0: -50}),
    "typical-p": sampling(typical_p=0.15),
}


@pytest.mark.parametrize("filtered", AT_THE_EDGE)
def test_a_token_that_is_out_by_less_than_rounding_is_excused_and_one_further_out_is_not(filtered):
    pipeline = AT_THE_EDGE[filtered]
    assert pipeline.laws(SCORES[None], "logits")[0, NEAR] == 0
    assert excused(pipeline, SCORES, "logits", BEFORE, NEAR, ROUNDING)
    assert not excused(pipeline, SCORES, "logits", BEFORE, NEAR, ROUNDING / 100)
    assert not excused(pipeline, SCORES, "logits", BEFORE, FAR, ROUNDING)


def test_a_forbidden_token_is_never_excused():
    assert not excused(sampling(bad_words=[(1,)]), SCORES, "logits", BEFORE, 1, 10.0)


def test_exact_laws_round_nowhere():
    world = WORLDS[0].engine(TokenRule()).target
    assert rounding_of(world, BEFORE) == 0
    assert not excused(sampling(0), np.array([0.5, 0.5]), "laws", BEFORE, 1, 1.0)


def test_float32_rounds_by_little_and_as_much_as_is_taken_for_granted(pair):
    model, tokenizer = pair[0]
    prompt = tokenizer.encode("And the king said unto the people, Go ye up")
    assert 1e-5 <= rounding_of(model, Text(prompt, len(prompt))) < 1e-3


@pytest.mark.parametrize(("bits", "unit"), [(24, 2.0**-21), (11, 2.0**-8), (8, 2.0**-5)])
def test_the_unit_in_the_last_place_is_that_of_the_bits_in_use(bits, unit):
    mantissas, exponents = np.frexp(np.array([[5.4321, -0.1234, 1.7, -np.inf]]))
    coarse = np.ldexp(np.round(mantissas * 2**bits), exponents - bits).astype(np.float32)
    assert _last_place(coarse) == unit  # the largest lies between 4 and 8


def test_near_ties_are_let_go_in_a_text_and_faults_are_not():
    model = TableModel(lambda context: SCORES[[1, 2, 3]], 3, row_kind="logits")
    honest = Engine(model, NoDrafter(), TokenRule(), sampling(0), FixedLength(0))
    found = Case()
    found.add(honest, (0,), Told([0, 1, 0, 1]))
    assert (found.tokens, found.excused) == (4, 2)
    assert "or level with them (2)" in found.opinion().reason
    faulty = Case()
    faulty.add(replace(honest), (0,), Told([0, 1, 0, 2]))
    assert faulty.opinion().verdict is Verdict.DRIFT
