"""An engine asked for batch after batch, by one process or several, ahead of what is scored.

In: how to start it, requests. Out: batches in their order. It must never drop a completion: which tokens are scored may
not depend on them.
"""

import queue
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from itertools import count
from typing import NamedTuple, Self

from draftproof.audit.base import Answer, Asked, Counters, Request
from draftproof.audit.catalogue import Chosen
from draftproof.audit.options import Options
from draftproof.audit.pair import Pair
from draftproof.audit.process import Process
from draftproof.audit.requests import ARMS, Numbered

__all__ = ["Batch", "Sampler"]

STARTING = 600.0
"""Seconds in which an engine has to be ready; large ones compile first."""


class Batch(NamedTuple):
    """What was asked for and what came."""

    asked: list[Request]
    answers: list[Answer]
    counters: Counters | None
    """How much was drafted for it; None if the engine does not say."""


class Sampler(AbstractContextManager["Sampler"]):
    """One arm of an engine, started `workers` times."""

    def __init__(self, options: Options, chosen: Chosen, python: str, pair: Pair, arm: str, requests: Numbered) -> None:
        self._options, self._arm, self._requests = options, arm, requests
        places = {"address": chosen.address, "control": options.control, "ends": sorted(requests.ends)}
        asked: Asked = {
            "target": pair.target,
            "drafter": pair.drafter if options.method in chosen.member.DRAFTED else "",
            "speculative": arm == ARMS[1],
            "method": options.method,
            "num_speculative_tokens": options.num_speculative_tokens,
            "settings": options.settings,
            "max_tokens": options.max_tokens,
            "options": options.option | (places if chosen.address else {}),
        }
        self._processes: list[Process] = []
        self._free: queue.Queue[Process] = queue.Queue()
        self._before: dict[int, Counters] = {}
        try:
            for _ in range(options.workers):
                process = Process(python, chosen.file, asked, STARTING)
                self._processes.append(process)
                self._free.put(process)
        except BaseException:
            self.close()
            raise

    @property
    def versions(self) -> dict[str, str]:
        """What the engine says of itself."""
        return self._processes[0].versions

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes."""
        for process in self._processes:
            process.close()

    def ask(self, requests: list[Request]) -> Batch:
        """Return what comes for requests.

        Raises:
            SubjectFailureError: if it does not come.
        """
        process = self._free.get()
        try:
            answers, counters = process.sample(requests, self._options.timeout * len(requests))
        finally:
            self._free.put(process)
        return Batch(requests, answers, None if counters is None else self._since(process, counters))

    def batches(self, first: int) -> Iterator[Batch]:
        """Yield batch after batch, from number `first` on, without end.

        Raises:
            SubjectFailureError: if one does not come.
        """
        size, coming = self._options.batch_size, deque[Future[Batch]]()
        numbers = count(first)
        with ThreadPoolExecutor(len(self._processes)) as pool:
            try:
                while True:
                    while len(coming) <= len(self._processes):
                        begin = next(numbers) * size
                        asked = [self._requests.numbered(self._arm, begin + i) for i in range(size)]
                        coming.append(pool.submit(self.ask, asked))
                    yield coming.popleft().result()
            finally:
                for future in coming:
                    future.cancel()
                self.close()  # what is still asked for ends at once

    def _since(self, process: Process, counters: Counters) -> Counters:
        """Return how much was drafted since this process was last asked."""
        before = self._before.get(id(process), {"drafted": 0, "accepted": 0})
        self._before[id(process)] = counters
        return {
            "drafted": counters["drafted"] - before["drafted"],
            "accepted": counters["accepted"] - before["accepted"],
        }
