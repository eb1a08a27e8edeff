"""The whole loop, integrated exactly while tokens without mass are left out: the target's law, for every rule."""

from fractions import Fraction

import pytest

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.errors import ContractError
from draftproof.models.table import TableModel
from draftproof.rules import draft_laws, support
from draftproof.rules.catalogue import CHAIN_RULES, RULES, TREE_RULES
from draftproof.rules.draft_laws import DraftLaws
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.top_k import TopK
from engines_of_tests import product_law, text_law, without_zeros

TOP_TWO = Pipeline((TopK(2),))
WEIGHTS = (4, 2, 1)


def table(seed):
    """Laws that depend on the last token and the length; token 1 never comes, of the others the two best are kept."""

    def law_of(text):
        turn = (seed + len(text) * seed + text[-1]) % 3
        weights = [*WEIGHTS[turn:], *WEIGHTS[:turn]]
        return [Fraction(weight, sum(WEIGHTS)) for weight in (weights[0], 0, *weights[1:])]

    return TableModel(law_of, 4)


def engine(block, rule, branching=()):
    drafter = ModelDrafter(table(2), TOP_TWO)
    return Engine(table(1), drafter, RULES[rule], TOP_TWO, FixedLength(block), branching)


@pytest.fixture
def left_out(monkeypatch):
    """Leave tokens out of the smallest vocabulary too, and count how often that happened."""
    counted, find = [], DraftLaws.small

    def counting(laws, target):
        found = find(laws, target)
        counted.append(found is not None and len(found.ids) < target.shape[-1])
        return found

    monkeypatch.setattr(draft_laws, "LEAST", 1)
    monkeypatch.setattr(draft_laws, "SPARSE", 1)
    monkeypatch.setattr(DraftLaws, "small", counting)
    return counted


@pytest.mark.parametrize("rule", RULES)
def test_the_text_has_the_targets_law(rule, left_out):
    tested = engine(1, rule, (2,) if rule in TREE_RULES else ())
    assert without_zeros(text_law(tested, Stop(3, 64))) == product_law(tested, 3)
    assert any(left_out)


@pytest.mark.parametrize("rule", CHAIN_RULES)
def test_two_drafts_in_a_row_have_it_too(rule, left_out):
    tested = engine(2, rule)
    assert without_zeros(text_law(tested, Stop(3, 64))) == product_law(tested, 3)
    assert any(left_out)


def test_a_token_named_by_its_place_would_be_found(left_out, monkeypatch):
    honest = support.verify

    def by_place(rule, target, draft, drafted, draws):
        found, small = honest(rule, target, draft, drafted, draws), draft.small(target)
        return found if small is None else found._replace(token=int((small.ids == found.token).argmax()))

    monkeypatch.setattr("draftproof.engine.loop.verify", by_place)
    tested = engine(1, "token")
    assert without_zeros(text_law(tested, Stop(3, 64))) != product_law(tested, 3)


@pytest.mark.parametrize("rule", RULES)
def test_a_draft_named_by_its_place_would_be_found(rule, left_out, monkeypatch):
    def by_place(laws, rule, law, place):
        few = laws._add(place.row, law)
        return rule.children(law if few is None else few.entries, place)

    monkeypatch.setattr(DraftLaws, "children", by_place)
    tested = engine(1, rule, (2,) if rule in TREE_RULES else ())
    with pytest.raises(ContractError, match="no mass"):
        text_law(tested, Stop(3, 64))
