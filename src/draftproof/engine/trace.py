"""Follows a generation to its end and keeps it in numbers. In: passes. Out: a `Trace`. It keeps no laws."""

import time
from collections.abc import Callable, Iterator, Sequence

from draftproof.engine.passes import Pass
from draftproof.records import PassRecord, Trace

__all__ = ["follow"]


def follow(passes: Iterator[Pass], prompt: Sequence[int], watch: Callable[[Pass], None] = lambda _: None) -> Trace:
    """Run `passes` to the end, handing each to `watch` as it happens, and return the trace.

    The seconds are those of the engine: what `watch` does with a pass (printing, certifying) is not counted.
    An interruption (Ctrl-C) ends the text where it is, with the finish reason `interrupted`.
    """
    records: list[PassRecord] = []
    reason, seconds = "length", 0.0
    try:
        while True:
            began = time.perf_counter()
            done = next(passes, None)
            if done is not None:
                records.append(done.record())
            seconds += time.perf_counter() - began
            if done is None:
                break
            reason = done.finish_reason or reason
            watch(done)
    except KeyboardInterrupt:
        reason = "interrupted"
    return Trace(tuple(prompt), tuple(records), reason, seconds)
