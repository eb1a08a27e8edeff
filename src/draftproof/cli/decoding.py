"""Decodes what `generate` was asked for and watches it. In: a run. Out: its samples, the seconds they took, certified.

One sample is shown as it comes; several are decoded together, and shown when all are over.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from draftproof.api.samples import Collector, Sample
from draftproof.engine import plain
from draftproof.engine.batch import Request, decode
from draftproof.engine.passes import Pass
from draftproof.engine.setup import Run
from draftproof.engine.trace import follow
from draftproof.errors import DraftproofError
from draftproof.records import Trace

__all__ = ["Decoded", "decoded", "plain_tokens_per_second"]

COMPARED_TOKENS = 128
"""Plain decoding is timed on at most this many tokens: enough for a steady figure, short enough to wait for."""


@dataclass(frozen=True)
class Decoded:
    """The samples of a prompt, and the seconds in which all of them came."""

    samples: tuple[Sample, ...]
    seconds: float

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return any(sample.finish_reason == "interrupted" for sample in self.samples)


Watching = Callable[[Pass, int], None]
"""Takes a pass, and of which sample it is, from 0."""


def decoded(run: Run, logprobs: int | None, watch: Watching) -> Decoded:
    """Decode all samples of `run`, handing each pass to `watch` as it happens; Ctrl-C ends them where they are.

    Raises:
        DraftproofError: what ended a text before its time.
    """
    return _one(run, logprobs, watch) if run.options.n == 1 else _several(run, logprobs, watch)


def plain_tokens_per_second(run: Run, trace: Trace) -> float | None:
    """Time plain decoding of the same prompt with the same target in the same process; None without speculation."""
    count = min(len(trace.token_ids), COMPARED_TOKENS)
    if run.options.n > 1 or not trace.num_drafts or trace.finish_reason == "interrupted":
        return None
    tokens = plain.decode(run.engine.target, run.engine.pipeline, run.prompt, run.stop, run.noise)
    began = time.perf_counter()
    emitted = sum(1 for _ in zip(range(count), tokens, strict=False))
    return emitted / (time.perf_counter() - began)


def _one(run: Run, logprobs: int | None, watch: Watching) -> Decoded:
    collector = Collector(run, logprobs)

    def take(done: Pass) -> None:
        collector.add(done)
        watch(done, 0)

    trace = follow(run.engine.decode(run.prompt, run.stop, run.noise), run.prompt, take)
    sample = collector.sample(trace.seconds)
    return Decoded((replace(sample, finish_reason=trace.finish_reason, trace=trace),), trace.seconds)


def _several(run: Run, logprobs: int | None, watch: Watching) -> Decoded:
    collectors = [Collector(run, logprobs) for _ in run.noises]
    open_texts, watching, began = set(range(len(collectors))), 0.0, time.perf_counter()
    try:
        for _, number, what in decode([Request(run.engine, run.prompt, run.stop, run.noises)], len(collectors)):
            before = time.perf_counter()
            if isinstance(what, DraftproofError):
                raise what
            if what is None:
                open_texts.discard(number)
            else:
                collectors[number].add(what)
                watch(what, number)
            watching += time.perf_counter() - before
    except KeyboardInterrupt:
        for number in open_texts:
            collectors[number].reason = "interrupted"
    seconds = time.perf_counter() - began - watching
    return Decoded(tuple(collector.sample(seconds) for collector in collectors), seconds)
