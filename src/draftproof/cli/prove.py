"""`draftproof prove`: run every witness there is on the shipped rule and the embedded pair; status 1 if one objects."""

import json
import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from draftproof.cli.setup import Options, prepare
from draftproof.engine.trace import follow
from draftproof.records import Conclusion, Finding
from draftproof.rules.token import TokenRule
from draftproof.witness.exact import check_rule, rationals
from draftproof.witness.identity import Certificate, check_seeded_pairs

__all__ = ["prove"]

RATIONAL_PAIRS = {
    "overlapping laws": (["1/2", "3/10", "1/5"], ["1/5", "3/10", "1/2"]),
    "laws with zeros": (["1/3", "0", "1/2", "1/6", "0"], ["0", "1/6", "1/3", "0", "1/2"]),
    "disjoint laws": (["1/4", "3/4", "0", "0"], ["0", "0", "2/3", "1/3"]),
    "equal laws": (["1/2", "1/3", "1/6"], ["1/2", "1/3", "1/6"]),
    "greedy target": (["0", "1", "0"], ["1/4", "1/4", "1/2"]),
    "greedy draft": (["1/2", "1/4", "1/4"], ["0", "1", "0"]),
}
LIVE_TOKENS = 64


def prove(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list of findings instead of a table.")] = False,
) -> int:
    """Prove the shipped rule lossless: by algebra, by exact integration, and live on the embedded pair."""
    findings = list(_findings())
    if as_json:
        sys.stdout.write(json.dumps([finding.to_json() for finding in findings]) + "\n")
    else:
        _print(findings)
    return int(any(finding.verdict is Conclusion.LOSSY for finding in findings))


def _findings() -> Iterator[Finding]:
    rule = TokenRule()
    yield from check_seeded_pairs(rule)
    for name, pair in RATIONAL_PAIRS.items():
        p, q = rationals(pair)
        yield check_rule(rule, p, q, f"{rule.name} rule, {name}")
    run = prepare(Options(max_tokens=LIVE_TOKENS))
    certificate = Certificate(run.engine.rule)
    follow(run.engine.decode(run.prompt, run.stop, run.noise), run.prompt, certificate.add)
    yield certificate.finding(f"embedded pair, {LIVE_TOKENS} tokens")


def _print(findings: list[Finding]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from draftproof.cli.screen import VERDICT_STYLES

    table = Table("witness", "subject", "verdict", "max |P_emit - p|", box=None, header_style="dim")
    for finding in findings:
        largest = "" if finding.max_deviation is None else f"{finding.max_deviation:.1e}"
        verdict = Text(finding.verdict, VERDICT_STYLES[finding.verdict])
        table.add_row(finding.witness, finding.subject, verdict, largest)
    console = Console(highlight=False)
    console.print(table)
    for finding in findings:
        if finding.verdict is not Conclusion.LOSSLESS:
            console.print(f"{finding.witness} on {finding.subject}: {finding.reason}")
