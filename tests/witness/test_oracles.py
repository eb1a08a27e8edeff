"""The probes give the published texts, and the oracles see a wrong cache, a wrong length and wasted drafts."""

from dataclasses import dataclass, replace

import pytest

from draftproof.engine.loop import Engine
from draftproof.rules.catalogue import RULES
from draftproof.witness.base import Subject
from draftproof.witness.oracles import Oracles
from draftproof.witness.probes import PROBES, plain_text

# Computed by hand from the definitions; vocabulary 11, prompt 3 1 4.
TEXTS = {
    "sum probe": (6, 8, 4, 6, 4, 3, 8, 0, 0, 0),
    "recurrent probe": (3, 8, 10, 0, 4, 1, 10, 2, 0, 10),
    "window probe": (6, 8, 4, 1, 5, 6, 1, 0, 9, 0),
}
TOKEN = RULES["token"]


@pytest.mark.parametrize("name", PROBES)
def test_a_probe_emits_its_text(name):
    assert plain_text(PROBES[name], 10) == TEXTS[name]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_every_rule_leaves_the_probes_texts_as_they_are(rule):
    findings = list(Oracles().examine(Subject("shipped", rule, (2,) if rule.branches else ())))
    assert [finding.verdict for finding in findings] == ["LOSSLESS"] * 4


@dataclass(frozen=True)
class Forgetful(Engine):
    """Trims one entry too many after a pass."""

    def forget(self, target, drafter, start, path, proposal, tokens):
        target.keep(start, path)
        target.context[-1:] = [0]
        drafter.rewind(0)


def test_a_damaged_cache_is_seen_on_all_probes():
    def damaged(engine):
        parts = {name: getattr(engine, name) for name in engine.__dataclass_fields__}
        return Forgetful(**parts)

    findings = list(Oracles().examine(Subject("damaged", TOKEN, assemble=damaged)))
    assert [finding.verdict for finding in findings[:3]] == ["LOSSY"] * 3
    assert all(finding.where.startswith("token ") for finding in findings[:3])


def test_drafts_that_are_thrown_away_are_called_wasteful_and_not_lossy():
    findings = list(Oracles().examine(Subject("match", TOKEN, assemble=lambda e: replace(e, rule=RULES["match"]))))
    assert [finding.verdict for finding in findings] == ["LOSSLESS"] * 3 + ["WASTEFUL"]
