"""Replay and report: silent on the shipped engine, loud on rows and log-probabilities that are not the text's."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from draftproof.engine.loop import Engine
from draftproof.rules.catalogue import RULES
from draftproof.witness.base import Subject
from draftproof.witness.embedded import embedded_run
from draftproof.witness.replay import Replay, Report
from draftproof.witness.rescoring import fresh_laws
from draftproof.witness.tables import WORLDS

TOKEN = RULES["token"]


@pytest.mark.parametrize("witness", [Replay, Report])
@pytest.mark.parametrize("rule", ["token", "block", "coupled", "tree", "traversal"])
def test_the_shipped_engine_uses_and_reports_the_rows_of_its_text(rule, witness):
    subject = Subject(rule, RULES[rule], (2,) if RULES[rule].branches else ())
    findings = list(witness([embedded_run()]).examine(subject))
    assert {finding.verdict for finding in findings} == {"LOSSLESS"}
    assert any("embedded pair" in finding.subject for finding in findings)


@dataclass(frozen=True)
class RowEarly(Engine):
    """Uses for the bonus the row before it."""

    def score(self, target, tokens, proposal):
        laws = np.array(super().score(target, tokens, proposal))
        laws[-1] = laws[max(0, len(laws) - 2)]
        return laws


def test_a_row_of_another_position_is_seen_on_tables_and_on_the_embedded_pair():
    def tampered(engine):
        return RowEarly(**{name: getattr(engine, name) for name in engine.__dataclass_fields__})

    findings = list(Replay([embedded_run()]).examine(Subject("row early", TOKEN, assemble=tampered)))
    verdicts = {finding.subject.split(", ")[-1]: finding.verdict for finding in findings}
    assert verdicts["embedded pair"] == "LOSSY"
    assert verdicts["two tables"] == "LOSSY"


def with_logprobs(change):
    def assemble(engine):
        class Reports:
            def decode(self, prompt, stop, noise):
                for done in engine.decode(prompt, stop, noise):
                    yield replace(done, logprobs=change(done.logprobs))

        return Reports()

    return assemble


@pytest.mark.parametrize(
    "change",
    [
        lambda logprobs: tuple(0.0 for _ in logprobs),
        lambda logprobs: logprobs[:-1],
        lambda logprobs: (*logprobs[:-1], logprobs[-1] - 1e-5),
    ],
    ids=["zeros", "one too few", "a little off"],
)
def test_wrong_log_probabilities_are_seen(change):
    findings = list(Report().examine(Subject("reports", TOKEN, assemble=with_logprobs(change))))
    assert "LOSSY" in {finding.verdict for finding in findings}


def test_texts_are_scored_anew_whether_they_follow_one_another_or_not():
    engine = WORLDS[0].engine(TOKEN)
    texts = [[0], [0, 1], [0, 1, 2], [0, 2], [0, 2, 2]]
    together = fresh_laws(engine, texts)
    alone = [fresh_laws(engine, [text])[0] for text in texts]
    assert [list(row) for row in together] == [list(row) for row in alone]
