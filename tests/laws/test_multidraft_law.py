"""Several drafts for one position, integrated exactly: the target's law, and what is kept against the fixtures."""

from dataclasses import dataclass, replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import exact_answers, fractions
from draftproof.rules.base import normalised, surplus
from draftproof.rules.catalogue import RULES
from draftproof.rules.multidraft import KSeq, RecursiveRejection
from draftproof.rules.tree import TopDown
from draftproof.witness.exact import pass_law
from engines_of_tests import mean, seen_law
from laws_of_tests import completed, law_pairs, product_of, repeated

CASES = exact_answers("multi_draft.json")
TREES = {name: rule for name, rule in RULES.items() if rule.branches}
KEPT = {
    "tree": lambda case: case["rrs_without_replacement"]["accept"],
    "tree-with-replacement": lambda case: case["rrs_with_replacement"]["accept"],
    "traversal": lambda case: case["rrs_without_replacement"]["accept"],
    "traversal-with-replacement": lambda case: case["rrs_with_replacement"]["accept"],
    "tree-greedy-draft": lambda case: case["greedy_draft"],
    "tree-match": lambda case: case["topk_sample_and_match"],
}


def named(case):
    return f"{case['p']} {case['q']} k={case['k']}"


def first_of(rule, case):
    """The exact law of (first token, whether a draft was kept) in a pass with k drafts for one position."""
    p, q = fractions(case["p"]), fractions(case["q"])
    return seen_law(rule, *repeated(p, q, 1), (case["k"],), lambda done: (done.emitted[0], bool(done.path)))


@pytest.mark.parametrize("case", CASES, ids=named)
@pytest.mark.parametrize("name", TREES)
def test_the_first_token_has_the_targets_law(name, case):
    if name == "tree-coupled" and len(case["p"]) > 3:
        case = {**case, "k": 2}  # four in a race for three places are cut into more pieces than a test has time for
    law = first_of(TREES[name], case)
    assert [law.get((x, True), 0) + law.get((x, False), 0) for x in range(len(case["p"]))] == fractions(
        case["p"]
    ).tolist()


@pytest.mark.parametrize("case", CASES, ids=named)
@pytest.mark.parametrize("name", KEPT)
def test_a_draft_is_kept_as_often_as_the_known_acceptance(name, case):
    assert mean(first_of(TREES[name], case), lambda outcome: outcome[1]) == Fraction(KEPT[name](case))


@pytest.mark.parametrize("case", CASES, ids=named)
@pytest.mark.parametrize(("name", "known"), [("tree", "without"), ("tree-with-replacement", "with")])
def test_what_is_kept_and_what_replaces_all_have_the_known_laws(name, known, case):
    law, answer = first_of(TREES[name], case), case[f"rrs_{known}_replacement"]
    for kept, part in ((True, "P_emit_accepted"), (False, "P_emit_not_accepted")):
        found = [law.get((x, kept), Fraction(0)) for x in range(len(case["p"]))]
        assert found == fractions(answer[part]).tolist()


@pytest.mark.parametrize("case", CASES, ids=named)
def test_k_seq_keeps_one_minus_the_chance_that_all_tests_fail(case):
    p, q, count = fractions(case["p"]), fractions(case["q"]), case["k"]
    node = KSeq()
    rho = node.rho(p, q, count)
    chance = sum(min(b, a / rho) for a, b in zip(p, q, strict=True))
    law = first_of(TopDown("k-seq", node), case)
    assert mean(law, lambda outcome: outcome[1]) == 1 - (1 - chance) ** count


@pytest.mark.parametrize("name", TREES)
@given(law_pairs(max_size=3), st.integers(1, 3))
@settings(max_examples=12)
def test_any_pair_of_laws_emits_the_target(name, laws, count):
    target, draft = repeated(*laws, 1)
    assert completed(pass_law(TREES[name], target, draft, (count,)), target) == product_of(target)


@dataclass(frozen=True)
class NotRenormalised(RecursiveRejection):
    """A tamper: what remains of the target after a rejection is not scaled up again."""

    def _after(self, p, q, token):
        return surplus(p, q), q


@dataclass(frozen=True)
class DraftKept(RecursiveRejection):
    """A tamper: drafts differ from one another, but the law of the next one is not updated."""

    def _after(self, p, q, token):
        return normalised(surplus(p, q)), q


@dataclass(frozen=True)
class Merged(RecursiveRejection):
    """A tamper: of equal drafts only one is tested."""

    def choose(self, p, q, tokens, place):
        unique = list(dict.fromkeys(tokens))
        return super().choose(p, q, unique, replace_children(place, tokens, unique))


def replace_children(place, tokens, unique):
    return place._replace(children=tuple(place.children[tokens.index(token)] for token in unique))


@pytest.mark.parametrize("case", CASES[:3], ids=named)
@pytest.mark.parametrize(
    ("node", "known"),
    [
        (NotRenormalised(replacement=True), "residual_not_renormalised"),
        (DraftKept(replacement=False), "q_not_updated_without_replacement"),
        (Merged(replacement=True), "duplicates_merged_with_replacement"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, RecursiveRejection) else "",
)
def test_known_faults_drift_by_their_known_amounts(node, known, case):
    law = first_of(replace(TREES["tree"], node=node), case)
    found = [law.get((x, True), 0) + law.get((x, False), 0) for x in range(len(case["p"]))]
    assert found == fractions(case["tampers"][known]).tolist()


def test_the_pair_that_hides_faults_least_shows_all_three():
    tampers = CASES[1]["tampers"]
    assert all(fractions(law).tolist() != fractions(CASES[1]["p"]).tolist() for law in tampers.values())
