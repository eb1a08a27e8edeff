"""`draftproof measure`: what speculation costs on this machine and how much a draft gets right, for `plan`."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from draftproof.cli.findings import bar
from draftproof.cli.generate import INTERRUPTED
from draftproof.cli.numbers import number, whole
from draftproof.cli.pairs import Choice, folder, pair_of, prompts_digest, prompts_of, sizes, subject_of
from draftproof.cli.setup import Options
from draftproof.economics.check import Generation, verdict
from draftproof.economics.machine import machine
from draftproof.economics.measure import measure as measure_pair
from draftproof.economics.measure import steps
from draftproof.economics.pair import Pair
from draftproof.economics.store import cells_of, find, record, save
from draftproof.economics.workloads import WORKLOADS
from draftproof.errors import UsageError
from draftproof.models.catalogue import SPECS
from draftproof.records import Measurement
from draftproof.rules.catalogue import CHAIN_RULES

__all__ = ["DraftersOption", "TargetOption", "TemperatureOption", "TopKOption", "TopPOption", "measure"]

DEFAULT = Options()
CHECKED = range(1, 9)
"""Draft lengths with which `--check` generates."""
TOKENS, ROUNDS = 96, 8
CHECK_SEED = 10_000
"""Added to the seed for the texts that are generated, so that they are others than those measured."""

TargetOption = Annotated[str, typer.Option("--target", metavar="SPEC", help=f"The model whose law is kept: {SPECS}.")]
DraftersOption = Annotated[
    list[str] | None, typer.Option("--drafter", metavar="SPEC", help="What may draft; may be repeated.")
]
TemperatureOption = Annotated[float, typer.Option("--temperature", parser=number, metavar="T", help="0 is greedy.")]
TopKOption = Annotated[int, typer.Option("--top-k", parser=whole, metavar="K", help="0 keeps all.")]
TopPOption = Annotated[float, typer.Option("--top-p", parser=number, metavar="P", help="1 keeps all.")]


def measure(
    target: TargetOption = DEFAULT.target,
    drafter: DraftersOption = None,
    rule: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help=f"May be repeated; of {', '.join(CHAIN_RULES)}; else all.")
    ] = None,
    temperature: TemperatureOption = DEFAULT.temperature,
    top_k: TopKOption = DEFAULT.top_k,
    top_p: TopPOption = DEFAULT.top_p,
    workload: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help=f"May be repeated; of {', '.join(WORKLOADS)}; else all.")
    ] = None,
    prompts: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A workload of your own, one prompt a line; may be repeated."),
    ] = None,
    max_tokens: Annotated[int, typer.Option(parser=whole, metavar="N", help="Length of every text.")] = TOKENS,
    rounds: Annotated[int, typer.Option(parser=whole, metavar="R", help="How often all costs are measured.")] = ROUNDS,
    seed: Annotated[int, typer.Option(parser=whole, metavar="S", help="Of texts and order.")] = DEFAULT.seed,
    check: Annotated[bool, typer.Option("--check", help="Generate too, and compare predictions with it.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Measure even if it was measured before.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the measurement to a file too.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the measurement as one JSON object.")] = False,
) -> int:
    """Measure costs and acceptance of target and drafters on this machine, and keep them for `plan`."""
    choice = Choice(target, tuple(dict.fromkeys(drafter or [DEFAULT.drafter])), temperature, top_k, top_p)
    texts = prompts_of(workload or [], prompts or [])
    rules = tuple(dict.fromkeys(rule or CHAIN_RULES))
    if out is not None and not out.parent.is_dir():
        raise UsageError(f"got {str(out)!r}, but {out.parent} is no folder", "out")
    subject = subject_of(
        choice, rules, prompts_digest(texts), {"max_tokens": max_tokens, "rounds": rounds, "seed": seed}
    )
    pair = pair_of(choice, rules, texts, max_tokens)
    pair.check(rounds)
    subject |= {"sizes": sizes(choice)}
    measurement, path = (None, None) if again else _known(subject, check)
    if measurement is None:
        measurement = _measured(pair, subject, rounds, seed, check)
        path = save(measurement, folder())
    if out is not None:
        out.write_text(json.dumps(measurement.to_json()), encoding="utf-8")
    if as_json:
        sys.stdout.write(json.dumps(measurement.to_json()) + "\n")
    else:
        from draftproof.cli.measured import show

        show(measurement, path)
    if measurement.subject["rounds"] < rounds:
        return INTERRUPTED
    cells = cells_of(measurement)
    return int(bool(check and cells) and not verdict(cells).good)


def _known(subject: dict[str, Any], check: bool) -> tuple[Measurement | None, Path | None]:
    """Return the measurement of just this on this machine, if there is one."""
    for path, found in find(folder(), subject, subject["drafters"]):
        if found.subject == subject and found.machine == machine() and (cells_of(found) or not check):
            return found, path
    return None, None


def _measured(pair: Pair, subject: dict[str, Any], rounds: int, seed: int, check: bool) -> Measurement:
    with bar() as shown:
        task = shown.add_task("measuring", total=None)

        def advance(what: str) -> None:
            shown.update(task, description=what, advance=1)

        generation = Generation(pair, CHECKED, rounds, seed + CHECK_SEED, advance)
        shown.update(task, total=steps(pair, rounds) + generation.steps * check)
        samples = measure_pair(pair, rounds, seed, advance, generation.round if check else lambda _: None)
        done = len(samples.plain.seconds)
        return record(samples, subject | {"rounds": done}, generation.cells(samples) if check else [])
