"""`draftproof prove`: run every witness there is on every rule, in the engine that runs; status 1 if one objects."""

import json
import multiprocessing
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Annotated

import typer

from draftproof.cli.engines import ENGINES, SHIPPED, subject_for
from draftproof.engine.trace import follow
from draftproof.records import Conclusion, Finding
from draftproof.rules.catalogue import RULES
from draftproof.witness.base import Subject, guarded
from draftproof.witness.battery import battery
from draftproof.witness.embedded import embedded_run
from draftproof.witness.identity import Certificate

__all__ = ["prove"]

ALL = "all"
SIZES = 2, 3, 4
"""Vocabularies for which the identity is proven for all laws."""


def prove(
    rule: Annotated[str, typer.Option(metavar="NAME", help=f"all, or one of {', '.join(RULES)}.")] = ALL,
    engine: Annotated[str, typer.Option(metavar="ENGINE", help=f"What is examined: {ENGINES}.")] = SHIPPED,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list of findings instead of a table.")] = False,
) -> int:
    """Prove the rules lossless: by algebra, by exact integration of the whole loop, and on real models."""
    names = list(RULES) if rule == ALL and not engine.startswith("tamper:") else [rule if rule != ALL else "token"]
    for name in names:
        subject_for(name, engine)  # a word that names nothing is refused before work begins
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
