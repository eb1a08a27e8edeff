"""What the loop emits in floats: p to rounding when honest; far from it when tampered; never a crash."""

import numpy as np
import pytest

from draftproof.records import Conclusion
from draftproof.redteam.tampers.catalogue import TAMPERS
from draftproof.rules.catalogue import CHAIN_RULES
from draftproof.witness.base import Subject
from draftproof.witness.emission import emission, seeded_emissions
from draftproof.witness.exact import first_token_law, rationals
from draftproof.witness.identity import TOLERANCE

P, Q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])


@pytest.mark.parametrize("rule", CHAIN_RULES.values(), ids=lambda rule: rule.name)
def test_an_honest_engine_emits_p_to_rounding(rule):
    found = emission(Subject(rule.name, rule), P, Q, "here")
    assert found.finding.verdict is Conclusion.LOSSLESS
    assert np.abs(found.difference).max() <= 2**-50  # a handful of roundings of numbers below 1


def test_raw_p_after_a_rejection_moves_the_law_as_far_as_fractions_say():
    tamper = TAMPERS["residual-is-the-target"]
    p, q = rationals([["1/2", "3/10", "1/5"], ["1/5", "3/10", "1/2"]])
    exact = first_token_law(tamper.rule, p, q, tamper.branching, tamper.apply)
    found = emission(tamper.subject, P, Q, "here")
    assert found.finding.verdict is Conclusion.LOSSY
    assert np.allclose(found.law, [float(chance) for chance in exact], rtol=0, atol=2**-50)
    assert found.finding.total_variation == pytest.approx(3 / 20, abs=2**-50)  # 3/10 is rejected, half of it wrongly
    assert found.finding.where == "token 0"


@pytest.mark.parametrize("tamper", TAMPERS.values(), ids=lambda tamper: tamper.name)
def test_every_tamper_can_be_shown_and_no_control_moves_the_law(tamper):
    finding = emission(tamper.subject, P, Q, "here").finding
    assert finding.verdict is not Conclusion.UNDECIDED
    if tamper.harmless:
        assert finding.max_deviation <= TOLERANCE


def test_what_cannot_be_integrated_is_undecided():
    p = np.full(6, 1 / 6)
    assert emission(Subject("coupled", CHAIN_RULES["coupled"]), p, p, "here").finding.verdict is Conclusion.UNDECIDED


def test_an_engine_that_breaks_down_is_lossy():
    def broken(engine):
        raise ZeroDivisionError

    found = emission(Subject("broken", CHAIN_RULES["token"], (), broken), P, Q, "here")
    assert found.finding.verdict is Conclusion.LOSSY
    assert found.law is None


def test_there_are_eight_seeded_pairs():
    findings = [found.finding for found in seeded_emissions(Subject("token", CHAIN_RULES["token"]))]
    assert [finding.verdict for finding in findings] == [Conclusion.LOSSLESS] * 8
    tampered = [found.finding for found in seeded_emissions(TAMPERS["residual-is-the-target"].subject)]
    assert [finding.verdict for finding in tampered] == [Conclusion.LOSSY] * 8
