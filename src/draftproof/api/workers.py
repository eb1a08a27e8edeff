"""Prompts generated for in this process, or in several, each with a batch and a copy of the models of its own.

In: options of each prompt. Out: what each generates, or why it cannot, in the order in which they end. Texts do not
depend on how many processes there are. Threads would not do: between small products they wait for each other (for the
embedded pair, eight texts: two threads 0.8 times as fast as one, two processes 1.6 times).
"""

import multiprocessing
import queue
import signal
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from draftproof.api.auto import Auto
from draftproof.api.samples import Generated
from draftproof.api.together import together
from draftproof.engine.options import Options
from draftproof.engine.setup import Models, Run, prepare
from draftproof.errors import ContractError, DraftproofError, UsageError
from draftproof.warpers.base import Warper

__all__ = ["MOST_WORKERS", "Found", "check_workers", "generated", "in_processes"]

MOST_WORKERS = 64
PATIENCE = 1.0
"""Seconds between looks whether the processes still live."""
Found = tuple[int, Generated | DraftproofError]
"""(number of the prompt from 0, what it generated or why it could not)."""


def generated(
    options: Iterable[Options], batch_size: int, logprobs: int | None = None, processors: Sequence[Warper] = ()
) -> Iterator[Found]:
    """Generate in this process, with models that are loaded once.

    Args:
        options: taken one by one, as room appears.
        batch_size: how many texts are decoded at a time.
        logprobs: see `Collector`.
        processors: see `generate`.
    """
    models, auto = Models(), Auto(batch_size)
    numbers, failed = list[int](), list[Found]()

    def runs() -> Iterator[Run]:
        for number, each in enumerate(options):
            try:
                run = prepare(each, models, auto.of(each), processors)
            except DraftproofError as error:
                failed.append((number, error))
                continue
            numbers.append(number)
            yield run

    for place, _, found in together(runs(), batch_size, logprobs):
        while failed:
            yield failed.pop(0)
        yield numbers[place], found
    yield from failed


def in_processes(
    options: Iterable[Options], workers: int, batch_size: int, logprobs: int | None = None
) -> Iterator[Found]:
    """Generate in `workers` processes, which share the `batch_size` texts that are decoded at a time.

    Raises:
        DraftproofError: if a process fails as a whole.
    """
    context = multiprocessing.get_context("spawn")
    tasks, results = context.Queue(), context.Queue()
    for task in enumerate(options):
        tasks.put(task)
    for _ in range(workers):
        tasks.put(None)
    work = tasks, results, -(-batch_size // workers), logprobs
    processes = [context.Process(target=_work, args=work, daemon=True) for _ in range(workers)]
    try:
        for process in processes:
            process.start()
        yield from _collected(processes, results)
    finally:
        for process in processes:
            if process.is_alive():
                process.terminate()
                process.join()
        for each in (tasks, results):
            each.cancel_join_thread()
            each.close()


def check_workers(workers: int) -> None:
    """Refuse numbers of processes that cannot be.

    Raises:
        UsageError: if the number is out of range.
    """
    if not 1 <= workers <= MOST_WORKERS:
        raise UsageError(f"got {workers}; allowed are 1 to {MOST_WORKERS}", "workers")


def _collected(processes: Sequence[Any], results: Any) -> Iterator[Found]:
    """Yield results until every process has said that it is done."""
    working = len(processes)
    while working:
        try:
            found = results.get(timeout=PATIENCE)
        except queue.Empty:
            if dead := [process for process in processes if process.exitcode not in {None, 0}]:
                raise ContractError(f"a process of the workers ended with status {dead[0].exitcode}") from None
            continue
        if found is None:
            working -= 1
        elif isinstance(found, DraftproofError):
            raise found
        else:
            yield found


def _work(tasks: Any, results: Any, batch_size: int, logprobs: int | None) -> None:
    """Be one of the processes. Ctrl-C is for the one that began them, which ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    numbers: list[int] = []

    def coming() -> Iterator[Options]:
        while (task := tasks.get()) is not None:
            numbers.append(task[0])
            yield task[1]

    try:
        for place, found in generated(coming(), batch_size, logprobs):
            results.put((numbers[place], found))
        results.put(None)
    except Exception as error:  # noqa: BLE001 (told to the one that asked, in one line)
        results.put(ContractError(f"{type(error).__name__}: {error}"))
