"""`draftproof measure`: what speculation costs on this machine and how much a draft gets right, for `plan`."""

import json
import sys
from pathlib import Path
from typing import Any

from draftproof.cli import options
from draftproof.cli.findings import bar
from draftproof.cli.generate import INTERRUPTED
from draftproof.cli.pairs import Choice, loaded, subject_of
from draftproof.cli.prompted import prompts_digest, prompts_of
from draftproof.economics.check import Generation, verdict
from draftproof.economics.machine import machine
from draftproof.economics.measure import measure as measure_pair
from draftproof.economics.measure import steps
from draftproof.economics.pair import Pair
from draftproof.economics.store import cells_of, find, folder, record, save, specs_of
from draftproof.engine.setup import Options
from draftproof.errors import UsageError
from draftproof.records import Measurement
from draftproof.rules.catalogue import CHAIN_RULES

__all__ = ["measure"]

DEFAULT = Options()
CHECKED = range(1, 9)
"""Draft lengths with which `--check` generates."""
TOKENS, ROUNDS = 96, 8
CHECK_SEED = 10_000
"""Added to the seed for the texts that are generated, so that they are others than those measured."""


def measure(
    target: options.Target = DEFAULT.target,
    drafter: options.Drafters = None,
    rule: options.Rules = None,
    temperature: options.Temperature = DEFAULT.temperature,
    top_k: options.TopK = DEFAULT.top_k,
    top_p: options.TopP = DEFAULT.top_p,
    workload: options.Workloads = None,
    prompts: options.PromptFiles = None,
    chat: options.Chat = False,
    max_tokens: options.MaxTokens = TOKENS,
    rounds: options.Rounds = ROUNDS,
    seed: options.Seed = DEFAULT.seed,
    check: options.Check = False,
    again: options.Again = False,
    out: options.Out = None,
    as_json: options.AsJson = False,
) -> int:
    """Measure costs and acceptance of target and drafters on this machine, and keep them for `plan`."""
    choice = Choice(target, tuple(dict.fromkeys(drafter or [DEFAULT.drafter])), temperature, top_k, top_p, chat)
    texts = prompts_of(workload or [], prompts or [])
    rules = tuple(dict.fromkeys(rule or CHAIN_RULES))
    if out is not None and not out.parent.is_dir():
        raise UsageError(f"got {str(out)!r}, but {out.parent} is no folder", "out")
    subject = subject_of(
        choice, rules, prompts_digest(texts), {"max_tokens": max_tokens, "rounds": rounds, "seed": seed}
    )
    pair, sizes = loaded(choice, rules, texts, max_tokens)
    pair.check(rounds)
    subject |= {"sizes": sizes}
    measurement, path = (None, None) if again else _known(subject, check)
    if measurement is None:
        measurement = _measured(pair, subject, rounds, seed, check)
        path = save(measurement, folder())
    return _shown(measurement, path, out, as_json) or int(measurement.subject["rounds"] < rounds) * INTERRUPTED


def _shown(measurement: Measurement, path: Path | None, out: Path | None, as_json: bool) -> int:
    """Show a measurement, and return the exit status that its predictions deserve."""
    if out is not None:
        out.write_text(json.dumps(measurement.to_json()), encoding="utf-8")
    if as_json:
        sys.stdout.write(json.dumps(measurement.to_json()) + "\n")
    else:
        from draftproof.cli.measured import show

        show(measurement, path)
    cells = cells_of(measurement)
    return int(bool(cells) and not verdict(cells).good)


def _known(subject: dict[str, Any], check: bool) -> tuple[Measurement | None, Path | None]:
    """Return the measurement of just this on this machine, if there is one."""
    for path, found in find(folder(), subject, subject["drafters"]):
        if found.subject == subject and found.machine == machine(specs_of(subject)) and (cells_of(found) or not check):
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
