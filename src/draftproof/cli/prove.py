"""`draftproof prove`: run every witness there is, on every rule or on a pair of models; status 1 if one objects.

In: what is to be examined. Out: findings, as a table, as lines, or as JSON. What is examined is the engine that runs.
"""

import json
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Annotated

import typer

from draftproof.cli.engines import ENGINES, SHIPPED, subject_for
from draftproof.cli.numbers import number, whole
from draftproof.cli.proving_pair import AskedPair, examined_pair
from draftproof.engine.trace import follow
from draftproof.errors import UsageError
from draftproof.models.catalogue import SPECS
from draftproof.records import Conclusion, Finding
from draftproof.rules.catalogue import DEFAULT_RULE, RULES
from draftproof.witness.base import Subject, guarded
from draftproof.witness.battery import battery
from draftproof.witness.embedded import embedded_run
from draftproof.witness.identity import Certificate

__all__ = ["prove"]

ALL = "all"
SIZES = 2, 3, 4
"""Vocabularies for which the identity is proven for all laws."""
PAIR = AskedPair("")
"""What is asked of a pair where nothing else is."""


def _of_pair(metavar: str, text: str, parser: Callable[[str], float] | None = None) -> typer.models.OptionInfo:
    return typer.Option(metavar=metavar, help=text, parser=parser, rich_help_panel="A pair of models")


def prove(
    rule: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help=f"all, or one of {', '.join(RULES)}; if not given, all, of a pair {DEFAULT_RULE}."
        ),
    ] = None,
    engine: Annotated[str, typer.Option(metavar="ENGINE", help=f"What is examined: {ENGINES}.")] = SHIPPED,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list of findings instead of a table.")] = False,
    target: Annotated[str | None, _of_pair("SPEC", f"Examine this model: {SPECS}.")] = None,
    drafter: Annotated[str | None, _of_pair("SPEC", f"What drafts for it, any drafter; {PAIR.drafter}.")] = None,
    temperature: Annotated[float | None, _of_pair("T", f"0 is greedy; {PAIR.temperature}.", number)] = None,
    top_p: Annotated[float | None, _of_pair("P", f"1 keeps all; {PAIR.top_p}.", number)] = None,
    num_speculative_tokens: Annotated[
        int | None, _of_pair("K", f"Tokens drafted in a pass; {PAIR.num_speculative_tokens}.", whole)
    ] = None,
    max_tokens: Annotated[int | None, _of_pair("N", f"Length of every text; {PAIR.max_tokens}.", whole)] = None,
    prompt: Annotated[list[str] | None, _of_pair("TEXT", "How a text begins; may be repeated; two short ones.")] = None,
    seed: Annotated[list[int] | None, _of_pair("S", "Of the random numbers; may be repeated; 0.", whole)] = None,
) -> int:
    """Prove the rules lossless: by algebra, by exact integration of the whole loop, and on real models."""
    sizes = {"num_speculative_tokens": num_speculative_tokens, "max_tokens": max_tokens}
    words = {"drafter": drafter, "temperature": temperature, "top_p": top_p, **sizes}
    lists = {"prompts": tuple(prompt or ()), "seeds": tuple(seed or ())}
    asked = {name: value for name, value in (words | lists).items() if value not in (None, ())}
    if target is not None:
        return _pair(AskedPair(target, **asked), _names(rule or DEFAULT_RULE, engine), engine, as_json=as_json)
    if asked:
        name = next(iter(asked))
        raise UsageError("it is a setting of a pair, which needs a target too", {"prompts": "prompt"}.get(name, name))
    return _rules(_names(rule or ALL, engine), engine, as_json=as_json)


def _names(rule: str, engine: str) -> list[str]:
    """Return the rules to examine; a word that names nothing is refused before work begins."""
    names = list(RULES) if rule == ALL and not engine.startswith("tamper:") else ["token" if rule == ALL else rule]
    for name in names:
        subject_for(name, engine)
    return names


def _pair(asked: AskedPair, names: list[str], engine: str, *, as_json: bool) -> int:
    findings: list[Finding] = []
    if as_json:
        findings += examined_pair(asked, names, engine)
        sys.stdout.write(json.dumps([finding.to_json() for finding in findings]) + "\n")
    else:
        from draftproof.cli.findings import print_ending, print_finding

        for finding in examined_pair(asked, names, engine):
            findings.append(finding)
            print_finding(finding)
        print_ending(findings)
    return _status(findings)


def _rules(names: list[str], engine: str, *, as_json: bool) -> int:
    findings: list[Finding] = []
    if as_json:
        for _, found in _examined(names, engine):
            findings += found
        sys.stdout.write(json.dumps([finding.to_json() for finding in findings]) + "\n")
    else:
        from draftproof.cli.findings import FindingsTable

        table = FindingsTable(names)
        with table.progress() as advance:
            for name, found in _examined(names, engine):
                findings += found
                advance(name, found)
        table.show(findings)
    return _status(findings)


def _status(findings: list[Finding]) -> int:
    return int(any(finding.verdict is Conclusion.LOSSY for finding in findings))


def _examined(names: list[str], engine: str) -> Iterator[tuple[str, list[Finding]]]:
    """Yield findings on the rules as they come; the work is shared out among the processors, in two parts a rule."""
    if len(names) == 1:
        yield names[0], _examine(names[0], engine, texts=False) + _examine(names[0], engine, texts=True)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count() or 1, mp_context=context) as pool:
        parts = [(name, texts) for texts in (True, False) for name in sorted(names, key=_is_quick)]
        jobs = {pool.submit(_examine, name, engine, texts=texts): name for name, texts in parts}
        try:
            for job in as_completed(jobs):
                yield jobs[job], job.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _is_quick(name: str) -> bool:
    """Return whether a rule takes less time than trees of drawn siblings do: those go first."""
    return not RULES[name].branches


def _examine(name: str, engine: str, *, texts: bool) -> list[Finding]:
    """Return what the witness of whole texts finds, which takes longest, or what all others find."""
    subject = subject_for(name, engine)
    witnesses = [witness for witness in battery([embedded_run()], SIZES) if (witness.name == "sequence") == texts]
    findings = [finding for witness in witnesses for finding in guarded(witness, subject)]
    return findings + _certified(subject) if engine == SHIPPED and not texts else findings


def _certified(subject: Subject) -> list[Finding]:
    """Return what the live certificate says about a generation of the embedded pair, as `generate` shows it."""
    run, certificate = embedded_run(), Certificate(subject.rule)
    follow(run.passes(subject, 0), run.prompt, certificate.add)
    return [certificate.finding(f"{subject.name}, embedded pair")]
