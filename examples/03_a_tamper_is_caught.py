"""The attack of the source: after a rejection emit from the target instead of the residual. Two witnesses see it."""

from draftproof import TokenRule
from draftproof.witness.exact import check_rule, rationals
from draftproof.witness.identity import check_seeded_pairs

honest, tampered = TokenRule(), TokenRule(residual=lambda p, q: p)
p, q = rationals([["1/2", "3/10", "1/5"], ["1/5", "3/10", "1/2"]])

for name, rule in (("honest", honest), ("tampered", tampered)):
    by_algebra = max(finding.max_deviation for finding in check_seeded_pairs(rule))
    by_integration = check_rule(rule, p, q, name)
    print(f"{name:9} identity: {by_algebra:.1e}   exact: {by_integration.verdict}, {by_integration.reason}")
