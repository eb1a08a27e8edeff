"""`generate --prompts FILE --witness`: when all texts are there, each is read anew and bet on.

In: two files. Out: a line.

The file of the texts has tokens and no passes. So nothing is known of where a pass ended, which costs power and makes
nothing wrong; and texts from before, of a run that was interrupted, are witnessed with the rest.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from draftproof.api.prompt_lines import read_lines
from draftproof.cli.findings import bar
from draftproof.cli.statuses import INTERRUPTED
from draftproof.cli.watched import status_of, verdict_line
from draftproof.engine.options import Options
from draftproof.engine.setup import Models, prepare
from draftproof.witness.case import Case
from draftproof.witness.stream import Told

__all__ = ["witness_file"]


def witness_file(prompts: Path, out: Path, options: Options) -> int:
    """Bet on all tokens of a file of texts, print the verdict, and return the exit status.

    Args:
        prompts: see `generate_file`.
        out: what it wrote for them.
        options: of lines that do not say otherwise.
    """
    found, interrupted = Case(), False
    try:
        with bar() as shown:
            task = shown.add_task("witnessing", total=None)
            for done, total in _witnessed(found, prompts, out, options):
                shown.update(task, completed=done, total=total)
    except KeyboardInterrupt:
        interrupted = True
    sys.stderr.write(f"witness: {verdict_line(found).plain}\n")
    return INTERRUPTED if interrupted else status_of(found)


def _witnessed(found: Case, prompts: Path, out: Path, options: Options) -> Iterator[tuple[int, int]]:
    """Take in one prompt's texts after another; yield how many are done, and of how many."""
    texts, models = _texts(out), Models()
    lines = [line for line in read_lines(prompts, options) if line.number in texts]
    for done, line in enumerate(lines, 1):
        asked = line.options(options)
        if asked.speculates:
            asked = replace(asked, num_speculative_tokens=1)  # how many are drafted is no matter of the laws
        run = prepare(asked, models)
        for sample in texts[line.number]:
            found.add(run.engine, run.prompt, Told(sample["token_ids"]))
        yield done, len(lines)


def _texts(out: Path) -> dict[int, list[dict[str, Any]]]:
    """Return the samples of each line; a prompt that failed has none."""
    with out.open(encoding="utf-8") as file:
        answers = [json.loads(line) for line in file]
    return {answer["line"]: answer["samples"] for answer in answers}
