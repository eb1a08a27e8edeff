"""From what a user types to a rule. In: a name. Out: a value. Every rule listed here is lossless."""

from draftproof.errors import UsageError
from draftproof.rules.base import Rule
from draftproof.rules.block import BlockRule
from draftproof.rules.coupled import CoupledNode, CoupledRule
from draftproof.rules.match import MatchRule
from draftproof.rules.multidraft import GreedyDraft, KSeq, RecursiveRejection
from draftproof.rules.token import TokenRule
from draftproof.rules.traversal import Traversal
from draftproof.rules.tree import MostProbable, TopDown

__all__ = ["CHAIN_RULES", "DEFAULT_RULE", "RULES", "TREE_RULES", "rule_named"]

CHAIN_RULES: dict[str, Rule] = {rule.name: rule for rule in (TokenRule(), BlockRule(), MatchRule(), CoupledRule())}
"""Rules for a chain of drafted tokens."""
TREE_RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        TopDown("tree", RecursiveRejection()),
        TopDown("tree-with-replacement", RecursiveRejection(replacement=True)),
        TopDown("tree-k-seq", KSeq()),
        TopDown("tree-greedy-draft", GreedyDraft()),
        TopDown("tree-match", MostProbable()),
        TopDown("tree-coupled", CoupledNode()),
        Traversal("traversal", RecursiveRejection()),
        Traversal("traversal-with-replacement", RecursiveRejection(replacement=True), replacement=True),
    )
}
"""Rules for a drafted tree."""
RULES: dict[str, Rule] = CHAIN_RULES | TREE_RULES
DEFAULT_RULE = "block"


def rule_named(name: str) -> Rule:
    """Return the rule that `name` names.

    Raises:
        UsageError: if there is none.
    """
    if name not in RULES:
        raise UsageError(f"got {name!r}; allowed are {', '.join(RULES)}", "rule")
    return RULES[name]
