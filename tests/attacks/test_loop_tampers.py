"""Tampers of everything but the rule: they emit exactly the laws that are known, they are seen, and innocents are not.

The fixtures were enumerated pass by pass, always with two drafts, and cut at three tokens; so the laws here are put
together from single passes of the tampered engine, each with room for its whole block. Where a tamper remembers
something from pass to pass the loop runs whole, with room for one token more than is compared.
"""

import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from conftest import exact_answers, fractions
from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.table import TableModel
from draftproof.noise import PhiloxNoise
from draftproof.records import Conclusion
from draftproof.redteam.tampers import (
    batch,
    buffers,
    controls,
    counts,
    drafting,
    floats,
    innocent_controls,
    innocent_loops,
    innocents,
    noise,
    padding,
    penalties,
    positions,
    recurrent,
    reports,
    seeds,
    settings,
    states,
    stops,
    strings,
    vocabulary,
)
from draftproof.redteam.tampers import (
    cache as cache_family,
)
from draftproof.rules.token import TokenRule
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.temperature import Temperature
from draftproof.witness.base import guarded
from draftproof.witness.battery import battery
from draftproof.witness.embedded import embedded_run
from draftproof.witness.exact import Exact, first_token_law, total_variation
from draftproof.witness.forking import exact_law
from draftproof.witness.probes import PROBE_PROMPT, PROBE_VOCABULARY, PROBES, one_hot
from draftproof.witness.sequence import Sequence, product_law
from draftproof.witness.tables import WORLDS, World
from engines_of_tests import PROMPT, RAW, order_table, without_zeros

FAMILIES = (
    noise, seeds, positions, counts, drafting, settings, penalties, cache_family, buffers, padding, recurrent, batch,
    stops, reports, floats, vocabulary, controls, states, strings, innocents, innocent_loops, innocent_controls,
)  # fmt: skip
TAMPERS = {tamper.name: tamper for family in FAMILIES for tamper in family.TAMPERS}
HARMFUL = [tamper for tamper in TAMPERS.values() if not tamper.harmless]
CONTROLS = [tamper for tamper in TAMPERS.values() if tamper.harmless]

ANSWERS, SINGLE = exact_answers("tampers_sequence.json"), exact_answers("tampers_single.json")
LAWS = {answer["id"]: answer["law"] for answer in ANSWERS["tampers"]}
POSITION_LAWS = {answer["id"]: answer["P_emit"] for answer in SINGLE["tampers"]}
TABLES = exact_answers("sequence_order2.json")[0]
LENGTH, DRAFTS, END = 3, 2, 2
TEXTS = list(product(range(3), repeat=LENGTH))
REMEMBERING = {"Q10a", "Q10b", "Q10c"}
OF_ONE_POSITION = {
    "S07a": "residual-shares-the-coin",
    "S07c": "residual-mirrors-the-coin",
    "S28a": "coin-shares-the-draft-number",
    "S28b": "residual-shares-the-draft-number",
}
SPECIAL = [world for world in WORLDS if world.pipeline != RAW or world.stop.tokens or world.stop.max_tokens > 10]
EQUALS = fractions(["3/7", "3/7", "1/7"])
TIES = World("equals", lambda _: EQUALS, WORLDS[0].draft, 3, 2, Stop(2), Pipeline((Temperature(0),)))
QUICK = {"laws with zeros", "a stop inside a block", "one draft a pass, many passes", "greedy", "top-k"}
SMALL = [world for world in WORLDS if world.name in QUICK]


def by_name(tamper):
    return tamper.name


def fixture_engine(tamper, answers=TABLES, drafts=DRAFTS, order=2):
    target, draft = (order_table(answers[side], order) for side in "PQ")
    return tamper.apply(Engine(target, ModelDrafter(draft), tamper.rule, RAW, FixedLength(drafts)))


def law_pass_by_pass(decoder, ends=frozenset()):
    """The law of the first tokens, from one pass of the engine after every text; ended texts are filled up with END."""

    def emitted(text, random):
        done = next(decoder.decode((*PROMPT, *text), Stop(LENGTH + DRAFTS, tokens=ends), random))
        return done.emitted, done.finish_reason == "stop"

    @cache
    def rest(text):
        if len(text) >= LENGTH:
            return {text[:LENGTH]: Fraction(1)}
        law = dict.fromkeys(TEXTS, Fraction(0))
        for (tokens, ended), chance in exact_law(lambda random: emitted(text, random)).items():
            longer = text + tokens
            after = {(longer + (END,) * LENGTH)[:LENGTH]: Fraction(1)} if ended or not chance else rest(longer)
            for whole, part in after.items():
                law[whole] += chance * part
        return without_zeros(law)

    return rest(())


def law_of_the_loop(decoder, length):
    """The law of the first tokens, from the whole loop."""

    def program(random):
        text = []
        for done in decoder.decode(PROMPT, Stop(length + 1), random):
            text += done.emitted
            if len(text) >= length:
                break
        return tuple(text[:length])

    return without_zeros(exact_law(program))


@pytest.mark.parametrize("tamper", [tamper for tamper in TAMPERS.values() if tamper.fixture in LAWS], ids=by_name)
def test_the_text_has_the_known_law(tamper):
    known = without_zeros(dict(zip(TEXTS, fractions(LAWS[tamper.fixture]), strict=True)))
    decoder = fixture_engine(tamper)
    if tamper.fixture in REMEMBERING:
        assert law_of_the_loop(decoder, LENGTH) == known
    else:
        assert law_pass_by_pass(decoder, frozenset({END} if tamper.fixture.startswith("Q14") else ())) == known


@pytest.mark.parametrize("name", OF_ONE_POSITION)
def test_one_position_has_the_known_law(name):
    tamper = TAMPERS[OF_ONE_POSITION[name]]
    assert POSITION_LAWS[name]
    for pair, known in zip(SINGLE["pairs"], POSITION_LAWS[name], strict=False):
        law = first_token_law(tamper.rule, fractions(pair["p"]), fractions(pair["q"]), (), tamper.apply)
        assert law == fractions(known).tolist()


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("name", ["block-keyed-by-position-alone", "token-keyed-by-position-alone"])
def test_a_key_without_the_pass_costs_a_block_what_is_known_and_a_token_nothing(name, number):
    answers = exact_answers("rng_keying.json")["models"][number]
    tamper = TAMPERS[name]
    decoder = fixture_engine(tamper, answers, answers["gamma"], answers["order"])
    case = next(case for case in answers["cases"] if case["rule"] == tamper.rule.name and case["key"] == "pos")
    wanted = product_law(decoder.engine, Stop(answers["L"]))
    assert total_variation(law_of_the_loop(decoder, answers["L"]), wanted) == Fraction(case["tv"])


@dataclass
class Once:
    """A model that is started once, so that a drafter can look at what it holds."""

    model: object
    row_kind = "laws"
    vocab_size = PROBE_VOCABULARY

    def fresh(self):
        return self.model


@dataclass
class Peeking:
    """Drafts what the target is going to say next, once, and then something else."""

    target: object
    drafted: int = 0

    def law(self, context):
        target = copy.deepcopy(self.target)
        said = int(np.argmax(target.extend(context[target.length :], 1)[0])) + (self.drafted > 0)
        self.drafted += 1
        return fractions([int(token == said % PROBE_VOCABULARY) for token in range(PROBE_VOCABULARY)])

    def rewind(self, length):
        self.drafted = 0

    def fresh(self):
        return self


PUBLISHED = {
    ("all-drafts-stay", "sum probe"): (6, 8, 4, 3, 10, 9, 1, 6, 10, 1),
    ("all-drafts-stay", "recurrent probe"): (3, 8, 3, 6, 8, 8, 9, 9, 10, 2),
    ("all-drafts-stay", "window probe"): (6, 8, 6, 9, 6, 9, 6, 9, 6, 9),
    ("token-after-a-rejection-lost", "sum probe"): (6, 8, 8, 4, 4, 6, 6, 4, 4, 3),
    ("token-after-a-rejection-lost", "recurrent probe"): (3, 8, 8, 10, 10, 0, 0, 4, 4, 1),
    ("token-after-a-rejection-lost", "window probe"): (6, 8, 8, 4, 4, 1, 1, 5, 5, 6),
}
"""What a wrong cache makes of the probes if the first of three drafts is right."""


@pytest.mark.parametrize(("name", "probe"), PUBLISHED)
def test_a_wrong_cache_makes_of_a_probe_what_is_known(name, probe):
    model = TableModel(one_hot(PROBES[probe]), PROBE_VOCABULARY)
    engine = TAMPERS[name].apply(Engine(model, ModelDrafter(model), TokenRule(), RAW, FixedLength(3)))
    target = engine.target.fresh()
    watched = replace(engine, target=Once(target), drafter=Peeking(target))
    passes = watched.decode(PROBE_PROMPT, Stop(len(PUBLISHED[name, probe])), PhiloxNoise(0))
    assert tuple(token for done in passes for token in done.emitted) == PUBLISHED[name, probe]


def lossy(witness, tamper):
    return any(finding.verdict is Conclusion.LOSSY for finding in guarded(witness, tamper.subject))


@pytest.fixture(scope="module")
def witnesses():
    return {witness.name: witness for witness in battery([embedded_run()])}


def worlds_for(tamper):
    """All worlds; those in which such a tamper shows soonest come first, which saves time and decides nothing."""
    special = tamper.family in {"settings", "penalties", "controls", "states", "stops", "stop strings", "floats"}
    return [TIES, *SPECIAL, *WORLDS] if special else [*SMALL, *WORLDS]


def first_and_exact(names):
    return [name for name in names if name in {"exact", "sequence"}] or names[:1]


SEEN = [(tamper, name) for tamper in HARMFUL for name in first_and_exact(tamper.caught_by)]


@pytest.mark.parametrize(("tamper", "name"), [pytest.param(t, n, id=f"{t.name}, {n}") for t, n in SEEN])
def test_a_tamper_is_seen(tamper, name, witnesses):
    assert lossy(Sequence(worlds_for(tamper)) if name == "sequence" else witnesses[name], tamper)


@pytest.mark.parametrize("tamper", CONTROLS, ids=by_name)
def test_an_innocent_is_left_alone(tamper):
    findings = [finding for witness in (Exact(), Sequence(SMALL)) for finding in witness.examine(tamper.subject)]
    assert {finding.verdict for finding in findings} == {Conclusion.LOSSLESS}


def test_every_tamper_has_a_name_of_its_own_and_a_story_of_one_sentence():
    assert sum(len(family.TAMPERS) for family in FAMILIES) == len(TAMPERS)
    for tamper in TAMPERS.values():
        assert tamper.name == tamper.name.lower()
        assert " " not in tamper.name
        assert tamper.story.endswith(".")
        assert tamper.harmless != bool(tamper.caught_by)
