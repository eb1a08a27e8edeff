"""Real models of low precision are decoded losslessly: what differs is rounding, and it is measured beside."""

from dataclasses import replace

import pytest

from draftproof.records import Conclusion
from draftproof.witness.base import Subject, as_shipped
from draftproof.witness.greedy import Greedy
from draftproof.witness.pair import ReadAnew, witnesses_of_pair
from draftproof.witness.rescoring import Run

pytestmark = pytest.mark.real

TOKENS = 16


@pytest.fixture
def sampled(run_of):
    """Return a function: pair -> a short `Run` as the witnesses take it."""

    def make(pair):
        run = run_of(pair, temperature=0.8, top_p=0.95, max_tokens=TOKENS)
        return Run("real models", run.engine, tuple(run.prompt), run.stop, (3,))

    return make


def found(witness, run, assemble=as_shipped):
    return list(witness.examine(Subject("engine", run.engine.rule, assemble=assemble)))


def verdicts(findings, name):
    return [finding.verdict for finding in findings if finding.witness == name]


def lossy(findings):
    return [finding for finding in findings if finding.verdict is Conclusion.LOSSY]


def test_the_greedy_text_is_that_of_plain_decoding_or_flips_a_tie(pair, sampled):
    run = sampled(pair)
    (finding,) = found(Greedy([run]), run)
    assert finding.verdict is not Conclusion.LOSSY, finding


def test_rows_are_those_of_a_fresh_reading_reports_are_theirs_and_the_certificate_holds(pair, sampled):
    run = sampled(pair)
    findings = found(ReadAnew([run]), run)
    assert not lossy(findings)
    assert verdicts(findings, "report") == verdicts(findings, "identity") == [Conclusion.LOSSLESS]


def test_wrong_drafts_change_nothing_and_the_target_keeps_its_own(of_target, sampled):
    run = sampled(of_target)
    oracles = [witness for witness in witnesses_of_pair([run]) if witness.name == "oracles"]
    findings = [finding for witness in oracles for finding in found(witness, run)]
    assert len(findings) == 4
    assert {finding.verdict for finding in findings} <= {Conclusion.LOSSLESS, Conclusion.UNDECIDED}, findings


class Shifted:
    """A model in whose longer passes each row is that of the token before."""

    def __init__(self, model):
        self.model = model

    def __getattr__(self, name):
        return getattr(self.model, name)

    def extend(self, tokens, rows=None, parents=None):
        found = self.model.extend(tokens, rows, parents).copy()
        found[1:] = found[:-1].copy()
        return found

    def fresh(self):
        return Shifted(self.model.fresh())


def test_rows_of_other_tokens_are_caught_in_spite_of_the_rounding(of_target, sampled):
    """The control of the test of rows."""
    run = sampled(of_target)
    assert lossy(found(ReadAnew([run]), run, lambda engine: replace(engine, target=Shifted(engine.target))))


def test_laws_of_another_temperature_are_caught(of_target, sampled, run_of):
    """The control of the test of rows, where rows are right and laws are not."""
    run = sampled(of_target)
    hotter = run_of(of_target, temperature=0.9, top_p=0.95).engine.pipeline
    assert lossy(found(ReadAnew([run]), run, lambda engine: replace(engine, pipeline=hotter)))
