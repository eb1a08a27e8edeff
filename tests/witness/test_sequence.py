"""The sequence witness: exact laws of whole texts, and its worlds together show what each alone may hide."""

from dataclasses import replace
from fractions import Fraction

import pytest

from draftproof.engine.stop import Stop
from draftproof.rules.catalogue import RULES
from draftproof.rules.token import TokenRule
from draftproof.witness.base import Subject
from draftproof.witness.exact import total_variation
from draftproof.witness.sequence import Sequence, emitted_law, first_difference, product_law
from draftproof.witness.tables import PROMPT, WORLDS

TOKEN = RULES["token"]


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_the_product_law_is_a_law_over_texts_that_may_be_emitted(world):
    law = product_law(world.engine(TOKEN), world.stop)
    assert sum(law.values()) == 1
    for text in law:
        room = world.stop.room(len(PROMPT), len(PROMPT) + len(text))
        ends = [world.stop.begin(text[:-1]).cut(text[-1:], 1 + room)[1] == "stop", text[-1] in world.stop.tokens]
        assert room == 0 or any(ends)
        assert not set(text[:-1]) & world.stop.tokens


def test_every_law_of_every_world_is_a_law():
    for world in WORLDS:
        for law_of in (world.target, world.draft):
            for context in (PROMPT, (*PROMPT, 1), (*PROMPT, 1, 0)):
                law = law_of(context)
                assert sum(law) == 1
                assert min(law) >= 0


def test_the_worlds_hold_what_hides_a_fault_elsewhere():
    contexts = [(*PROMPT, *more) for more in ((), (0,), (1,), (0, 1), (1, 1))]
    laws = [(world.target(context), world.draft(context)) for world in WORLDS for context in contexts]
    assert any(p == q for p, q in laws)
    assert any(0 in p for p, _ in laws)
    assert any(0 in q for _, q in laws)
    assert any(world.stop.tokens for world in WORLDS)
    assert any(world.stop.context_limit < 50 for world in WORLDS)
    assert any(world.pipeline.reads_text for world in WORLDS)
    assert any(world.stop.strings for world in WORLDS)
    assert any(world.num_speculative_tokens + 1 <= world.stop.max_tokens for world in WORLDS)


def test_a_redraw_from_the_target_is_lossy_wherever_the_laws_differ():
    subject = Subject("redraw", TOKEN, assemble=lambda e: replace(e, rule=TokenRule(residual=lambda p, q: p)))
    verdicts = {finding.subject.partition(", ")[2]: finding.verdict for finding in Sequence().examine(subject)}
    blind = {name for name, verdict in verdicts.items() if verdict == "LOSSLESS"}
    assert blind == {"draft equal to target", "greedy", "a tie at temperature 0"}


def test_where_two_laws_first_differ():
    one = {(0, 0): Fraction(1, 2), (0, 1): Fraction(1, 2)}
    assert first_difference(one, {(0, 0): Fraction(1)}) == 2
    assert first_difference(one, {(1, 0): Fraction(1)}) == 1
    assert first_difference(one, one) == 0
    assert total_variation(one, {(0, 0): Fraction(1)}) == Fraction(1, 2)


def test_an_emitted_law_counts_every_path_once():
    engine = WORLDS[0].engine(TOKEN)
    assert sum(emitted_law(engine, Stop(2)).values()) == 1
