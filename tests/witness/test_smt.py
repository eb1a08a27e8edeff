"""The proof for all laws: every shipped rule is proven, and a rule that is wrong anywhere, even at one law, is not."""

import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from conftest import needs
from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.errors import MissingExtraError
from draftproof.models.table import TableModel
from draftproof.rules.block import BlockRule
from draftproof.rules.catalogue import RULES, TREE_RULES
from draftproof.rules.match import MatchRule
from draftproof.rules.token import TokenRule, surplus
from draftproof.warpers.pipeline import Pipeline
from draftproof.witness.identity import check_seeded_pairs
from draftproof.witness.proof import prove
from draftproof.witness.sequence import emitted_law
from draftproof.witness.smt import Z3, prove_identity, prove_pass
from draftproof.witness.statements import chain_identity, one_pass

needs("z3")

TAMPERS = {
    "from the target": lambda p, q: p,
    "from the draft": lambda p, q: q,
    "from both sides": lambda p, q: np.abs(p - q),
}
# Their `identity` says only that they emit the target's own draws; the whole pass shows that they do.
SAYS_NOTHING = {"match", "coupled", "tree-match", "tree-coupled"}


@pytest.mark.parametrize("vocab_size", [2, 3, 4])
@pytest.mark.parametrize("rule", [TokenRule(), BlockRule()], ids=lambda rule: rule.name)
def test_the_identity_holds_for_all_laws(rule, vocab_size):
    finding = prove_identity(rule, vocab_size)
    assert (finding.witness, finding.verdict, finding.max_deviation) == ("smt", "LOSSLESS", 0.0)
    assert finding.reason.startswith(f"proved for all laws over {vocab_size} tokens, ")


def test_the_identity_of_a_block_holds_for_all_laws_of_all_its_rows():
    assert prove_identity(BlockRule(), 2, (1, 1)).verdict == "LOSSLESS"


@pytest.mark.parametrize("name", sorted(TREE_RULES.keys() - SAYS_NOTHING))
def test_the_identity_of_a_tree_of_two_children_holds_for_all_laws(name):
    assert prove_identity(TREE_RULES[name], 2, (2,)).verdict == "LOSSLESS"


@pytest.mark.parametrize("name", sorted(SAYS_NOTHING))
def test_an_identity_of_a_row_with_itself_is_no_proof(name):
    assert prove_identity(RULES[name], 2).verdict == "UNDECIDED"


@pytest.mark.parametrize("name", RULES)
def test_a_whole_pass_emits_the_target_for_all_laws(name):
    children = 2 if RULES[name].branches and name != "tree-k-seq" else 1  # with two, k-SEQ takes a minute: see below
    assert prove_pass(RULES[name], 2, (children,)).verdict == "LOSSLESS"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "vocab_size", "branching"),
    [("token", 3, (1,)), ("block", 3, (1,)), ("block", 2, (1, 1)), ("tree-k-seq", 2, (2,))],
)
def test_a_whole_pass_that_takes_a_minute_emits_the_target_for_all_laws(name, vocab_size, branching):
    assert prove_pass(RULES[name], vocab_size, branching).verdict == "LOSSLESS"


@pytest.mark.parametrize("vocab_size", [2, 3])
@pytest.mark.parametrize("residual", TAMPERS.values(), ids=TAMPERS)
@pytest.mark.parametrize("proven", [prove_identity, prove_pass])
def test_a_tampered_residual_is_refuted(proven, residual, vocab_size):
    finding = proven(TokenRule(residual=residual), vocab_size)
    assert finding.verdict == "LOSSY"
    assert finding.max_deviation > 0
    assert "at target (" in finding.reason


@pytest.mark.parametrize("residual", TAMPERS.values(), ids=TAMPERS)
def test_a_counterexample_is_a_pair_of_laws_at_which_the_engine_is_wrong(residual):
    rule = TokenRule(residual=residual)
    found = prove(one_pass(rule, (1,)), 1, 2, Z3, (), 100).counterexample
    for law in (*found.target, *found.draft):
        assert sum(law) == 1
        assert min(law) >= 0
        assert all(isinstance(entry, Fraction) for entry in law)
    target, draft = (TableModel(lambda text, rows=rows: rows[len(text) - 1], 2) for rows in (found.target, found.draft))
    law = emitted_law(Engine(target, ModelDrafter(draft), rule, Pipeline(), FixedLength(1)), Stop(2))
    wanted = {(x, y): found.target[0][x] * found.target[1][y] for x, y in product(range(2), repeat=2)}
    gaps = [abs(law.get(text, 0) - chance) for text, chance in wanted.items()]
    assert float(max(gaps)) == found.deviation > 0


def test_a_counterexample_of_the_identity_is_one_in_floats_too():
    rule = TokenRule(residual=TAMPERS["from the target"])
    found = prove(chain_identity(rule, (0,)), 1, 3, Z3, (), 100).counterexample
    emitted, wanted = rule.identity(found.target.astype(float), found.draft.astype(float), np.array([0]))
    assert np.abs(emitted - wanted).max() == pytest.approx(found.deviation, abs=1e-15)  # rounding of a few operations


def wrong_where(condition):
    """Return a rule that draws from the target after a rejection, but only where `condition` of p and q holds."""
    return TokenRule(residual=lambda p, q: np.where(condition(p[..., :1], q[..., :1]), p, surplus(p, q)))


def test_a_rule_that_is_wrong_at_a_single_law_is_refuted():
    rule = wrong_where(lambda p, q: (p * 3 == 1) & (q * 7 == 5))
    assert all(finding.verdict == "LOSSLESS" for finding in check_seeded_pairs(rule))
    finding = prove_identity(rule, 2)
    assert finding.verdict == "LOSSY"
    assert "target (1/3, 2/3)" in finding.reason
    assert "draft (5/7, 2/7)" in finding.reason


def test_a_rule_that_is_wrong_where_no_law_is_rational_is_not_proven():
    finding = prove_identity(wrong_where(lambda p, q: (p * p * 2 == 1) & (q > p)), 2)
    assert finding.verdict == "UNDECIDED"


def test_a_division_by_zero_is_lossy_even_if_only_equal_laws_lead_to_it():
    finding = prove_identity(TokenRule(residual=lambda p, q: np.maximum(p - q, np.zeros_like(q))), 2)
    assert (finding.verdict, finding.max_deviation) == ("LOSSY", float("inf"))
    assert finding.reason.startswith("divides by zero")


def test_who_gives_up_has_proven_nothing():
    finding = prove_identity(TokenRule(), 3, most_paths=2)
    assert (finding.verdict, finding.max_deviation) == ("UNDECIDED", None)
    assert "2 paths" in finding.reason


def test_a_missing_library_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    with pytest.raises(MissingExtraError, match=r"draftproof\[proof\]"):
        prove_pass(MatchRule(), 2)
