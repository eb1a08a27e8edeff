"""Tampered rules emit the laws that an enumeration found; witnesses see them, and leave the controls alone.

Every law is exact.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from conftest import exact_answers, fractions
from draftproof.engine.stop import Stop
from draftproof.redteam.tampers import acceptance, block, coupling, look_alikes, lossy, proposal, residual, trees
from draftproof.rules.catalogue import RULES
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.top_p import TopP
from draftproof.witness.battery import battery
from draftproof.witness.exact import PAIRS, first_token_law, rationals, total_variation
from draftproof.witness.sequence import emitted_law
from draftproof.witness.tables import WORLDS
from races_of_tests import raced_law
from texts_of_tests import GAMMA, WHOLE, engine_on_the_model, known_text_law, text_law

FAMILIES = (residual, acceptance, proposal, block, trees, coupling, lossy, look_alikes)
TAMPERS = {tamper.name: tamper for family in FAMILIES for tamper in family.TAMPERS}
assert len(TAMPERS) == sum(len(family.TAMPERS) for family in FAMILIES), "two tampers have one name"
HARMFUL = [tamper for tamper in TAMPERS.values() if not tamper.harmless]
CONTROLS = [tamper for tamper in TAMPERS.values() if tamper.harmless]
WITNESSES = {witness.name: witness for witness in battery()}
SINGLE, LOSSY = exact_answers("tampers_single.json"), exact_answers("lossy_rules.json")
SINGLE_BY_ID = {answer["id"]: answer for answer in SINGLE["tampers"]}
RACES = {"S26", "S27"}
NUCLEUS = Pipeline((TopP(Fraction(7, 10)),))
FILTERED = {"S11d", "S11e", "S11f", "S11g", "S11h"}


def by_name(tamper):
    return tamper.name


def with_fixture(letter):
    found = [tamper for tamper in TAMPERS.values() if (tamper.fixture or "")[:1] == letter]
    return pytest.mark.parametrize("tamper", [tamper for tamper in found if tamper.fixture not in RACES], ids=by_name)


def assert_law_of_pair(law, answers, number, answer):
    p = fractions(answers["pairs"][number]["p"])
    goal = NUCLEUS.laws(p[None], "laws")[0] if answer.get("goal", "p") != "p" else p
    assert sum(abs(goal - law)) / 2 == Fraction(answer["tv"][number])
    if number < len(answer["P_emit"]):
        assert list(law) == fractions(answer["P_emit"][number]).tolist()


def emitted(tamper, pair, pipeline=None):
    def assemble(honest):
        return tamper.apply(replace(honest, pipeline=pipeline) if pipeline else honest)

    return first_token_law(tamper.rule, *(fractions(pair[name]) for name in "pq"), tamper.branching, assemble)


@with_fixture("S")
def test_one_position_emits_the_known_law(tamper):
    pipeline = NUCLEUS if tamper.fixture in FILTERED else None
    for number, pair in enumerate(SINGLE["pairs"]):
        assert_law_of_pair(emitted(tamper, pair, pipeline), SINGLE, number, SINGLE_BY_ID[tamper.fixture])


@with_fixture("L")
def test_a_lossy_rule_emits_the_known_law_and_the_law_that_it_declares(tamper):
    answer = next(answer for answer in LOSSY["rules"] if answer["id"] == tamper.fixture)
    rule = tamper.apply(WORLDS[0].engine(tamper.rule)).rule
    for number, pair in enumerate(LOSSY["pairs"]):
        law = emitted(tamper, pair)
        assert_law_of_pair(law, LOSSY, number, answer)
        assert law == rule.emitted_law(fractions(pair["p"]), fractions(pair["q"])).tolist()


@pytest.mark.parametrize("fixture", sorted(RACES))
def test_a_race_in_the_ratio_rule_emits_the_known_law(fixture):
    # Races of six are slow, so their closed form stands between the rule, with fewer tokens, and the fixture.
    tamper = next(tamper for tamper in TAMPERS.values() if tamper.fixture == fixture)
    for number, pair in enumerate(SINGLE["pairs"]):
        law = raced_law(fixture, fractions(pair["p"]), fractions(pair["q"]))
        assert_law_of_pair(law, SINGLE, number, SINGLE_BY_ID[fixture])
    for p, q in PAIRS.values():
        assert emitted(tamper, {"p": p, "q": q}) == raced_law(fixture, *rationals([p, q]))
    assert_law_of_pair(emitted(tamper, SINGLE["pairs"][7]), SINGLE, 7, SINGLE_BY_ID[fixture])


SEQUENCES = [
    # tamper, fixture, branching, draft length, whether the rule goes from token to token, compared length
    ("residual-is-the-target", "Q17b", (), GAMMA, True, WHOLE),
    *((tamper.name, tamper.fixture, (), GAMMA, False, WHOLE) for tamper in block.TAMPERS),
    ("siblings-with-replacement-not-renormalised", "Q24a", (2, 2), GAMMA, True, 2),
    ("siblings-not-renormalised", "Q24b", (3, 2), GAMMA, True, 1),
    ("siblings-not-renormalised", "Q24c", (2, 2), GAMMA, True, 1),
    ("siblings-tested-with-the-first-draft-law", "Q25", (2, 2), GAMMA, True, WHOLE),
    ("twins-tested-once", "Q26", (2, 2), GAMMA, True, 1),
    ("certain-children-tested-as-drawn", "Q27", (2, 2), GAMMA, True, WHOLE),
    ("budget-over-the-rest-of-the-draft", "Q28", (2, 2), GAMMA, False, 1),
    ("k-seq-at-one", "Q29", (2,), 1, True, WHOLE),
    # A node of another path stands in a context of its own: the row after it is not that of the enumeration.
    ("all-paths-stay-alive", "Q30", (2,), GAMMA, True, 2),
]
SLOW = [(*case[:-1], WHOLE) for case in SEQUENCES if case[1] in {"Q24a", "Q24b", "Q24c", "Q26", "Q28"}]
ROUNDED = {"Q28": 2.0**-52}
"""This answer went through a float: its denominators hold 2**57, and it is 6e-18 from the law."""


def assert_text_law(name, fixture, branching, draft_length, token_by_token, length):
    decoder = engine_on_the_model(TAMPERS[name], branching, draft_length)
    law, known = text_law(decoder, length, token_by_token), known_text_law(fixture, length)
    assert total_variation(law, known) <= ROUNDED.get(fixture, 0)


@pytest.mark.parametrize("case", SEQUENCES, ids=lambda case: case[1])
def test_a_text_has_the_known_law(case):
    assert_text_law(*case)


@pytest.mark.slow
@pytest.mark.parametrize("case", SLOW, ids=lambda case: case[1])
def test_a_whole_text_has_the_known_law(case):
    assert_text_law(*case)


def test_passes_put_together_are_a_whole_run():
    decoder = engine_on_the_model(TAMPERS["residual-is-the-target"], (), GAMMA)
    law = dict.fromkeys(product(range(3), repeat=2), Fraction(0))
    for text, chance in emitted_law(decoder, Stop(WHOLE)).items():
        law[text[:2]] += chance
    assert text_law(decoder, 2, token_by_token=True) == law


@pytest.mark.parametrize(
    ("tamper", "key"),
    [
        ("siblings-not-renormalised", "residual_not_renormalised"),
        ("siblings-tested-with-the-first-draft-law", "q_not_updated_without_replacement"),
        ("twins-tested-once", "duplicates_merged_with_replacement"),
    ],
)
def test_several_drafts_at_one_position_emit_the_known_law(tamper, key):
    for case in exact_answers("multi_draft.json"):
        one = replace(TAMPERS[tamper], branching=(case["k"],))
        assert emitted(one, case) == fractions(case["tampers"][key]).tolist()


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("ratio-upside-down", "1/5 3/10 1/2"),
        ("everything-upside-down", "2/25 3/10 31/50"),
        ("residual-is-the-target", "7/20 39/100 13/50"),
        ("residual-without-the-rejected", "31/80 33/80 1/5"),
        ("residual-absolute", "7/20 3/10 7/20"),
        ("greedy-draft-tested-as-drawn", "3/5 0 2/5"),
        ("rejected-stays-in-the-residual", "91/200 303/1000 121/500"),
        ("match-or-a-second-sample", "91/200 303/1000 121/500"),
        ("only-the-target-argmax", "1 0 0"),
        ("target-zeroed-at-the-draft", "5/8 3/8 0"),
    ],
)
def test_a_fault_in_public_reports_emits_the_law_that_they_measured(name, law):
    assert (
        emitted(TAMPERS[name], dict(zip("pq", PAIRS["overlapping laws"], strict=True)))
        == fractions(law.split()).tolist()
    )


def test_siblings_of_a_certain_draft_emit_the_law_of_the_report():
    pair = {"p": ["2/5", "3/10", "1/5", "1/10"], "q": ["0", "2/3", "1/3", "0"]}
    law = emitted(TAMPERS["certain-siblings-not-renormalised"], pair)
    assert law == fractions(["56/125", "3/10", "7/50", "14/125"]).tolist()


@pytest.mark.parametrize("tamper", HARMFUL, ids=by_name)
def test_a_tamper_is_seen_by_the_witnesses_that_must_see_it(tamper):
    assert {"exact", "sequence"} & set(tamper.caught_by)
    for name in tamper.caught_by:
        assert any(finding.verdict == "LOSSY" for finding in WITNESSES[name].examine(tamper.subject)), name


@pytest.mark.parametrize("tamper", CONTROLS, ids=by_name)
def test_a_control_is_left_alone(tamper):
    for witness in WITNESSES.values():
        assert "LOSSY" not in {finding.verdict for finding in witness.examine(tamper.subject)}, witness.name


def test_a_control_that_throws_drafts_away_is_called_wasteful():
    findings = WITNESSES["oracles"].examine(TAMPERS["drawn-draft-taken-for-certain"].subject)
    assert "WASTEFUL" in {finding.verdict for finding in findings}


def test_the_first_tamper_is_that_of_the_source():
    assert residual.TAMPERS[0].name == "residual-is-the-target"


def test_no_lossy_rule_is_among_those_that_a_user_can_choose():
    for tamper in lossy.TAMPERS:
        rule = tamper.apply(WORLDS[0].engine(tamper.rule)).rule
        assert not rule.lossless
        assert rule not in RULES.values()
