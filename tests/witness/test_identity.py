"""The witness of the identity: silent on the shipped rule, loud on every tamper."""

import numpy as np
import pytest

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.noise import PhiloxNoise
from draftproof.rules.token import TokenRule
from draftproof.warpers.pipeline import Pipeline
from draftproof.witness.identity import Certificate, check_pair, check_seeded_pairs, seeded_pairs

TAMPERS = [lambda p, q: p, lambda p, q: q, lambda p, q: np.abs(p - q), lambda p, q: np.maximum(0, p - q) + 1e-6]


def test_the_eight_seeded_pairs_are_laws_and_all_different():
    pairs = seeded_pairs()
    assert len(pairs) == 8
    laws = np.array(pairs).reshape(16, -1)
    assert np.abs(laws.sum(-1) - 1).max() < 1e-15
    assert len(np.unique(laws.round(6), axis=0)) == 16


def test_the_shipped_rule_is_lossless_on_all_eight():
    findings = list(check_seeded_pairs(TokenRule()))
    assert [finding.verdict for finding in findings] == ["LOSSLESS"] * 8
    assert max(finding.max_deviation for finding in findings) <= 1e-15


@pytest.mark.parametrize("tamper", TAMPERS)
def test_a_tamper_is_lossy_on_all_eight(tamper):
    findings = list(check_seeded_pairs(TokenRule(residual=tamper)))
    assert [finding.verdict for finding in findings] == ["LOSSY"] * 8
    assert min(finding.max_deviation for finding in findings) > 1e-9


def test_the_known_drift_of_a_redraw_from_the_target():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    finding = check_pair(TokenRule(residual=lambda p, q: p), p, q, "L1")
    assert finding.max_deviation == pytest.approx(0.15, abs=1e-15)


def test_a_law_that_is_not_finite_is_lossy_not_silent():
    p, q = np.array([0.5, 0.5]), np.array([0.2, 0.8])
    with np.errstate(invalid="ignore"):
        finding = check_pair(TokenRule(residual=lambda p, q: np.zeros_like(p)), p, q, "nothing left")
    assert (finding.verdict, finding.max_deviation) == ("LOSSY", float("inf"))


def passes(pair, rule):
    engine = Engine(pair[0].model, ModelDrafter(pair[1].model), rule, Pipeline(), FixedLength(3))
    return engine.decode(pair[0].tokenizer.encode("In the beginning"), Stop(40, 1024), PhiloxNoise(0))


def test_the_live_certificate_covers_every_row_of_every_pass(pair):
    certificate, rows = Certificate(TokenRule()), 0
    for done in passes(pair, TokenRule()):
        certificate.add(done)
        rows += len(done.drafted) + 1
    finding = certificate.finding("test")
    assert certificate.positions == rows > 40
    assert finding.verdict == "LOSSLESS"
    assert finding.max_deviation <= 1e-14


def test_the_live_certificate_turns_red_under_a_tamper(pair):
    rule = TokenRule(residual=lambda p, q: p)
    certificate = Certificate(rule)
    for done in passes(pair, rule):
        certificate.add(done)
    assert certificate.finding("test").verdict == "LOSSY"


def test_a_certificate_that_saw_nothing_decides_nothing():
    finding = Certificate(TokenRule()).finding("nothing")
    assert (finding.verdict, finding.max_deviation) == ("UNDECIDED", None)
