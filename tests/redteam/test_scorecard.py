"""The scorecard says what was found and nothing else; the campaign judges by what the witnesses say."""

from dataclasses import replace

import pytest

from draftproof.errors import UsageError
from draftproof.records import Conclusion, Finding
from draftproof.redteam.campaign import campaign, judge, tamper_named
from draftproof.redteam.scorecard import Score, Scorecard
from draftproof.redteam.tampers.catalogue import TAMPERS
from draftproof.rules.catalogue import RULES
from draftproof.rules.token import TokenRule
from draftproof.witness.exact import Exact
from draftproof.witness.identity import Identity

SOURCES_OWN = "residual-is-the-target"


def finding(witness, verdict, deviation=0.0, variation=None, where=None):
    return Finding(witness, "subject", verdict, deviation, "reason", variation, where)


def score(*findings, harmless=False):
    return Score("name", "family", "story", "seen", harmless, findings)


def test_the_sources_own_tamper_comes_first():
    assert next(iter(TAMPERS)) == SOURCES_OWN


def test_there_are_enough_tampers_and_innocents_and_each_says_where_it_was_seen():
    harmless = [tamper for tamper in TAMPERS.values() if tamper.harmless]
    assert len(TAMPERS) - len(harmless) >= 48
    assert len(harmless) >= 10
    assert all(tamper.story and tamper.seen_in and tamper.family for tamper in TAMPERS.values())
    assert all(bool(tamper.caught_by) != tamper.harmless for tamper in TAMPERS.values())


def test_no_rule_that_a_user_can_choose_is_a_tamper():
    chosen = list(RULES.values())
    lossy = [tamper for tamper in TAMPERS.values() if tamper.family == "lossy rule"]
    assert len(lossy) >= 6
    assert all(rule.lossless for rule in chosen)
    assert not {tamper.name for tamper in TAMPERS.values()} & set(RULES)


def test_an_exact_drift_is_preferred_to_a_larger_one_that_is_not():
    seen = score(
        finding("replay", Conclusion.LOSSY, 0.9, None, "token 3"),
        finding("sequence", Conclusion.LOSSY, 0.1, 0.2, "token 1"),
        finding("exact", Conclusion.LOSSLESS),
    )
    assert seen.caught_by == ("replay", "sequence")
    said = seen.to_json()
    assert (said["max_deviation"], said["total_variation"], said["first_shows"]) == (0.1, 0.2, "token 1")


def test_waste_is_no_alarm():
    seen = score(finding("oracles", Conclusion.WASTEFUL), harmless=True)
    assert seen.as_it_should_be
    assert seen.wasteful
    assert seen.to_json()["caught_by"] == []


def test_escapes_and_false_alarms_are_named():
    card = Scorecard(
        (
            replace(score(finding("exact", Conclusion.LOSSLESS)), name="sly"),
            replace(score(finding("exact", Conclusion.LOSSY, 0.1, 0.1), harmless=True), name="accused"),
        )
    )
    assert card.escaped == ("sly",)
    assert card.false_alarms == ("accused",)
    assert not any(one.as_it_should_be for one in card.scores)


def test_an_infinite_deviation_can_be_written_as_json():
    assert score(finding("identity", Conclusion.LOSSY, float("inf"))).to_json()["max_deviation"] is None


def test_a_tamper_is_judged_by_the_witnesses_alone():
    tamper = tamper_named(SOURCES_OWN)
    assert judge(tamper, [Identity(), Exact()]).caught_by == ("identity", "exact")
    innocent = replace(tamper, apply=lambda engine: engine)
    assert judge(innocent, [Identity(), Exact()]).caught_by == ()


def test_an_engine_that_breaks_down_is_caught():
    def broken(engine):
        return replace(engine, rule=TokenRule(residual=lambda p, q: 1 / 0))

    found = judge(replace(tamper_named(SOURCES_OWN), apply=broken), [Exact()])
    assert found.caught_by == ("exact",)
    assert "broke down: ZeroDivisionError" in found.findings[0].reason


def test_an_unknown_name_is_refused_with_names_that_are_near():
    with pytest.raises(UsageError, match=r"near are .*residual"):
        tamper_named("residual-is-the-targets")


def test_a_campaign_gives_a_score_for_every_name():
    names = [SOURCES_OWN, "as-shipped"]
    scores = {score.name: score for score in campaign(names)}
    assert set(scores) == set(names)
    assert all(score.as_it_should_be for score in scores.values())
