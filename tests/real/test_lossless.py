"""Real models of low precision are decoded losslessly: what differs is rounding, and it is measured beside."""

from dataclasses import replace

import pytest

from draftproof.drafters.base import one_hot
from draftproof.drafters.model import ModelDrafter
from draftproof.engine.trace import follow
from draftproof.records import Conclusion
from draftproof.witness.base import Subject
from draftproof.witness.greedy import Greedy, at_temperature_zero
from draftproof.witness.identity import Certificate
from draftproof.witness.replay import Replay, Report
from draftproof.witness.rescoring import Run

pytestmark = pytest.mark.real

SAMPLED = {"temperature": 0.8, "top_p": 0.95}
TOKENS = 16


def examined(run, **parts):
    """Return a run as the witnesses take it, short."""
    engine = replace(run.engine, **parts)
    return Run("real models", engine, tuple(run.prompt), replace(run.stop, max_tokens=TOKENS), (run.options.seed,))


def findings(witness, run):
    return list(witness.examine(Subject("shipped", run.engine.rule)))


def lossy(found):
    return [finding for finding in found if finding.verdict is Conclusion.LOSSY]


def test_the_greedy_text_is_that_of_plain_decoding_or_flips_a_tie(pair, run_of):
    found = findings(Greedy([examined(run_of(pair))]), run_of(pair))
    assert found
    assert not lossy(found)


def test_every_row_that_was_used_is_that_of_a_fresh_reading(pair, run_of):
    run = run_of(pair, **SAMPLED)
    assert not lossy(findings(Replay([examined(run)]), run))


def test_log_probabilities_are_those_of_a_fresh_reading(pair, run_of):
    run = run_of(pair, **SAMPLED)
    assert not lossy(findings(Report([examined(run)]), run))


def test_the_live_certificate_says_lossless(pair, run_of):
    run = run_of(pair, **SAMPLED)
    certificate = Certificate(run.engine.rule)
    trace = follow(run.engine.decode(run.prompt, run.stop, run.noise), run.prompt, certificate.add)
    assert certificate.finding("").verdict is Conclusion.LOSSLESS
    assert certificate.positions == trace.num_draft_tokens + len(trace.passes)


def test_what_the_target_drafts_for_itself_is_kept(of_target, run_of):
    """All but what rounding moves: a draft step is a pass over one row, a check one over five."""
    run = run_of(of_target, **SAMPLED)
    drafter = ModelDrafter(run.engine.target, run.engine.pipeline)
    trace = follow(replace(run.engine, drafter=drafter).decode(run.prompt, run.stop, run.noise), run.prompt)
    assert trace.num_draft_tokens > TOKENS
    assert trace.expected_acceptance > 0.9


class Worst:
    """Proposes the token that the target thinks least likely."""

    def __init__(self, model):
        self.model = model

    def law(self, context):
        model = self.model.fresh()
        row = model.extend(context, 1)[0]
        return one_hot(int(row.argmin()), model.vocab_size)

    def rewind(self, length):
        pass

    def fresh(self):
        return self


def test_no_token_of_the_worst_draft_is_kept_and_the_greedy_text_stays(of_target, run_of):
    run = run_of(of_target, num_speculative_tokens=2)
    worst = examined(run, drafter=Worst(run.engine.target))
    assert not lossy(findings(Greedy([worst]), run))
    trace = follow(at_temperature_zero(worst.engine).decode(run.prompt, worst.stop, run.noise), run.prompt)
    assert trace.num_draft_tokens > TOKENS
    assert trace.num_accepted_tokens == 0


def test_a_faulty_engine_is_caught_on_a_real_model(run_of, of_target):
    """The control of the tests above: a law that belongs to another temperature."""
    run = run_of(of_target, **SAMPLED)

    def tampered(engine):
        hotter = run_of(of_target, temperature=1.6, top_p=0.95).engine.pipeline
        return replace(engine, pipeline=hotter)

    subject = Subject("hotter", run.engine.rule, assemble=tampered)
    assert lossy(list(Replay([examined(run)]).examine(subject)))
