"""Runs decoded together, and what each of them generates, as soon as all its samples are over.

In: runs. Out: each with its number and its `Generated`, in the order in which they end.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from draftproof.api.samples import Collector, Generated
from draftproof.engine.batch import Request, decode
from draftproof.engine.passes import Pass
from draftproof.engine.setup import Run

__all__ = ["together"]


@dataclass
class _Text:
    collector: Collector
    began: float = field(default_factory=time.perf_counter)
    seconds: float | None = None
    """How long it took, once it is over; beside others in the batch."""


def together(runs: Iterable[Run], batch_size: int, logprobs: int | None = None) -> Iterator[tuple[int, Run, Generated]]:
    """Yield (number, run, what it generated).

    Args:
        runs: taken one by one, as room appears.
        batch_size: how many texts are decoded at a time, 1 or more.
        logprobs: see `Collector`.
    """
    open_runs: dict[int, tuple[Run, list[_Text]]] = {}

    def requests() -> Iterator[Request]:
        for number, run in enumerate(runs):
            open_runs[number] = run, [_Text(Collector(run, logprobs)) for _ in run.noises]
            yield Request(run.engine, run.prompt, run.stop, run.noises)

    for number, sample, what in decode(requests(), batch_size):
        run, texts = open_runs[number]
        text = texts[sample]
        if isinstance(what, Pass):
            text.collector.add(what)
        elif what is not None:
            text.collector.fail(what)
        else:
            text.seconds = time.perf_counter() - text.began
        if all(each.seconds is not None for each in texts):
            del open_runs[number]
            yield number, run, _generated(run, texts)


def _generated(run: Run, texts: list[_Text]) -> Generated:
    samples = tuple(text.collector.sample(text.seconds or 0.0) for text in texts)
    return Generated(run.options.prompt, tuple(run.prompt), samples)
