"""The campaign: every tamper against every witness, on all processors.

In: names of tampers, witnesses. Out: scores as they come. Witnesses get to see engines only, never the stories.
"""

import multiprocessing
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from difflib import get_close_matches
from functools import cache

from draftproof.errors import UsageError
from draftproof.records import Conclusion, Finding
from draftproof.redteam.base import Tamper
from draftproof.redteam.scorecard import Score
from draftproof.redteam.tampers.catalogue import TAMPERS
from draftproof.witness.base import Witness, guarded
from draftproof.witness.battery import battery
from draftproof.witness.embedded import embedded_run

__all__ = ["campaign", "judge", "judge_named", "tamper_named"]


def tamper_named(name: str) -> Tamper:
    """Return the tamper with that name.

    Raises:
        UsageError: if there is none.
    """
    if name not in TAMPERS:
        near = get_close_matches(name, TAMPERS, cutoff=0.3) or list(TAMPERS)[:3]
        raise UsageError(
            f"got {name!r}; near are {', '.join(near)}; `draftproof attack` prints all {len(TAMPERS)} names", "tamper"
        )
    return TAMPERS[name]


def judge(tamper: Tamper, witnesses: Iterable[Witness]) -> Score:
    """Return what each witness says; each stops at the first thing that it finds wrong."""
    found: list[Finding] = []
    for witness in witnesses:
        last: Finding | None = None
        for finding in guarded(witness, tamper.subject):
            worse = last is None or finding.verdict is not Conclusion.LOSSLESS
            last = finding if worse else last
            if finding.verdict is Conclusion.LOSSY:
                break
        if last is not None:
            found.append(last)
    return Score.of(tamper, tuple(found))


def campaign(names: Sequence[str], workers: int | None = None) -> Iterator[Score]:
    """Yield the scores of the named tampers as they are reached, each in a process of its own.

    Args:
        names: of tampers, see `tampers/catalogue.py`.
        workers: how many processes; None means one for each processor.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers or os.cpu_count() or 1, mp_context=context) as pool:
        slowest_first = sorted(names, key=lambda name: not tamper_named(name).harmless)  # nothing stops at a control
        jobs = [pool.submit(judge_named, name) for name in slowest_first]
        try:
            for job in as_completed(jobs):
                yield job.result()
        finally:
            pool.shutdown(cancel_futures=True)


def judge_named(name: str) -> Score:
    """Return what all witnesses say about the tamper with that name; for a process of its own."""
    return judge(tamper_named(name), _witnesses())


@cache
def _witnesses() -> tuple[Witness, ...]:
    return battery([embedded_run()])
