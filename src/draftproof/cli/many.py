"""`generate --prompts FILE --out FILE`: a bar while it works, a line when it ends.

In: what was asked for. Out: the exit status.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from draftproof.api.files import Progress as Far
from draftproof.api.files import generate_file
from draftproof.cli.statuses import INTERRUPTED, SOME_FAILED

__all__ = ["generate_many"]


def generate_many(prompts: Path, out: Path, **asked: Any) -> int:
    """Generate for every prompt of a file as `generate_file` is asked to, and return the exit status."""
    work = generate_file(prompts, out, **asked)
    began, first, far = time.perf_counter(), None, None
    interrupted = False
    try:
        for far in _shown(work):
            first = first or far
    except KeyboardInterrupt:
        interrupted = True
    work.close()
    if far is None or first is None:
        return INTERRUPTED
    seconds = time.perf_counter() - began
    sys.stderr.write(_last_line(first, far, seconds, out, interrupted=interrupted))
    return INTERRUPTED if interrupted else SOME_FAILED if far.failed else 0


def _shown(work: Iterator[Far]) -> Iterator[Far]:
    """Yield what `work` does, with a bar where a person is watching."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield from work
        return
    columns = "prompts", BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[speed]}"), TimeRemainingColumn()
    began = time.perf_counter()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, speed="loading")
        for far in work:
            rate = far.tokens / (time.perf_counter() - began)
            bar.update(task, total=far.prompts, completed=far.done, speed=f"{far.tokens} tokens, {rate:.0f} a second")
            yield far


def _last_line(first: Far, far: Far, seconds: float, out: Path, *, interrupted: bool) -> str:
    came = f"{far.done} of {far.prompts} prompts are in {out}"
    before = f", {first.done} of them from before" if first.done else ""
    failed = f"; {far.failed} failed: their lines have an error" if far.failed else ""
    speed = f"; {far.tokens} tokens, {far.tokens / seconds:.0f} a second" if far.tokens else ""
    faults = f"; the drafter failed in {far.faults} passes, and the target went on alone there" if far.faults else ""
    todo = "; interrupted: the same command goes on from here" if interrupted else ""
    return f"{came}{before}{failed}{speed}{faults}{todo}\n"
