"""What a user types, and what every rule in the catalogue promises."""

from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from draftproof.errors import UsageError
from draftproof.rules.catalogue import CHAIN_RULES, DEFAULT_RULE, RULES, TREE_RULES, rule_named


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_found_by_its_own_name(name):
    assert rule_named(name) is RULES[name]
    assert rule_named(name).name == name


@pytest.mark.parametrize("name", ["", "Token", "tree ", "typical"])
def test_an_unknown_name_is_refused_with_what_is_allowed(name):
    with pytest.raises(UsageError, match="token, block, match, coupled, tree") as refusal:
        rule_named(name)
    assert "\n" not in str(refusal.value)


def test_the_catalogue_holds_chains_and_trees_and_knows_which_is_which():
    assert {**CHAIN_RULES, **TREE_RULES} == RULES
    assert not any(rule.branches for rule in CHAIN_RULES.values())
    assert all(rule.branches for rule in TREE_RULES.values())
    assert len(RULES) == len(CHAIN_RULES) + len(TREE_RULES)


def test_every_listed_rule_calls_itself_lossless():
    assert all(rule.lossless for rule in RULES.values())


def test_the_default_is_the_best_chain_rule():
    assert DEFAULT_RULE == "block"


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_a_rule_is_a_value(rule):
    assert rule == type(rule)(**{field.name: getattr(rule, field.name) for field in fields(rule)})
    assert len({rule, rule}) == 1
    with pytest.raises((FrozenInstanceError, AttributeError)):
        rule.name = "another"


@pytest.mark.parametrize("rule", CHAIN_RULES.values(), ids=lambda rule: rule.name)
def test_a_chain_rule_expects_nothing_of_nothing(rule):
    assert rule.expected_accepted(np.array([[0.5, 0.5]]), np.zeros((0, 2)), np.zeros(0, np.int64), 0) == 0
