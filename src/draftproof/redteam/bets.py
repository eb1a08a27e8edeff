"""Every tamper before the statistical witness, on all processors. In: names of tampers. Out: trials as they end.

Whoever stops asking stops the work: processes are ended, not waited for.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager

from draftproof.redteam.betting import Tried, tried
from draftproof.redteam.campaign import tamper_named

__all__ = ["bets"]


def bets(names: Sequence[str], most: int, workers: int | None = None) -> Iterator[Tried]:
    """Yield the trials of the named tampers as they end.

    Args:
        names: of tampers.
        most: see `tried`.
        workers: how many processes; None means one for each processor.
    """
    context, others = multiprocessing.get_context("spawn"), set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers or os.cpu_count() or 1, mp_context=context)
    slowest_first = sorted(names, key=lambda name: not tamper_named(name).harmless)  # nothing stops at a control
    try:
        with _without_interruptions():
            jobs = [pool.submit(_tried, name, most) for name in slowest_first]
        for job in as_completed(jobs):
            yield job.result()
    finally:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        pool.shutdown(cancel_futures=True)


def _tried(name: str, most: int) -> Tried:
    return tried(tamper_named(name), most)


@contextmanager
def _without_interruptions() -> Iterator[None]:
    """Begin processes that leave Ctrl-C to this one: what a process ignores, those that it begins ignore too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
