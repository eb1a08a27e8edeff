"""Passes of the shipped engine with the time of each stage: how a pass of every draft length is timed where it runs.

In: an engine without a length, prompts, draft lengths in order. Out: for each pass, how long each stage took. What a
pass costs depends on what ran before it (whose weights are still in the cache), so nothing is timed alone.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from draftproof.engine import plain
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.base import Model
from draftproof.noise import PhiloxNoise
from draftproof.warpers.pipeline import Pipeline

__all__ = ["STAGES", "Timed", "TimedPass", "plain_seconds", "rehearse"]

STAGES = ("draft", "target", "warp", "rule", "rest")
"""Draft steps; the target's forward; logits to laws; the rule, its expected acceptance included; all else."""


@dataclass(frozen=True)
class TimedPass:
    """The seconds of a pass by stage, as in `STAGES`; how many tokens it drafted, after a text of how many."""

    drafted: int
    context: int
    seconds: tuple[float, ...]


class Timed:
    """Any part of an engine, with the seconds spent in some of its methods added up, over all its fresh copies."""

    def __init__(self, part: Any, methods: Sequence[str], clock: list[float] | None = None) -> None:
        self._part, self._methods, self.clock = part, methods, [0.0] if clock is None else clock

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._part, name)
        if name not in self._methods:
            return found

        def timed(*arguments: Any, **named: Any) -> Any:
            began = time.perf_counter()
            result = found(*arguments, **named)
            self.clock[0] += time.perf_counter() - began
            return result

        return timed

    def fresh(self) -> "Timed":
        """Return the fresh copy of the part, on the same clock."""
        return Timed(self._part.fresh(), self._methods, self.clock)

    def lap(self) -> float:
        """Return the seconds since the last lap."""
        seconds, self.clock[0] = self.clock[0], 0.0
        return seconds


@dataclass
class _Next:
    """A `DraftLength` that reads its lengths from a list, one a pass, from one text to the next."""

    lengths: Iterator[int]
    why: str | None = None

    def begin(self) -> Self:
        """See `DraftLength`."""
        return self

    def next(self, emitted: int) -> int:
        """See `Lengths`."""
        return next(self.lengths, 0)

    def learn(self, drafted: int, accepted: int) -> None:
        """See `Lengths`: nothing."""


def rehearse(
    engine: Engine, prompts: Iterator[Sequence[int]], lengths: Sequence[int], tokens: int, seed: int
) -> list[TimedPass | None]:
    """Return a timed pass for each draft length, in order; None for the first of each text, which reads the prompt.

    Args:
        engine: whose `length` does not matter.
        prompts: endless; the next one begins when a text has `tokens` tokens.
        lengths: draft lengths of the passes.
        tokens: 1 or more.
        seed: of the first text; each text has one of its own.
    """
    draft, target = Timed(engine.drafter, ("law", "rewind")), Timed(engine.target, ("extend",))
    pipeline, rule = Timed(engine.pipeline, ("laws",)), Timed(engine.rule, ("verify", "expected_accepted"))
    clocks = draft, target, pipeline, rule
    parts: dict[str, Any] = dict(zip(("drafter", "target", "pipeline", "rule"), clocks, strict=True))
    timed = replace(engine, length=_Next(iter(lengths)), **parts)
    found: list[TimedPass | None] = []
    while len(found) < len(lengths):
        prompt, first = next(prompts), True
        stop = Stop(tokens + max(lengths) + 1, engine.target.context_limit)
        passes = timed.decode(prompt, stop, PhiloxNoise(seed + len(found)))
        emitted = 0
        while len(found) < len(lengths) and emitted < tokens:
            began = time.perf_counter()
            done = next(passes)
            total = time.perf_counter() - began
            stages = [clock.lap() for clock in clocks]
            stages.append(total - sum(stages))
            found.append(None if first else TimedPass(len(done.drafted), done.start, tuple(stages)))
            first, emitted = False, emitted + len(done.emitted)
        passes.close()  # pyright: ignore[reportAttributeAccessIssue]
    return found


def plain_seconds(
    model: Model, pipeline: Pipeline, prompt: Sequence[int], tokens: int, seed: int
) -> tuple[list[int], list[float]]:
    """Return a text of plain decoding and the seconds of each of its tokens; the first one reads the prompt too."""
    stop = Stop(tokens, model.context_limit)
    stream = plain.decode(model, pipeline, prompt, stop, PhiloxNoise(seed))
    return _each(stream)


def _each(stream: Iterable[int]) -> tuple[list[int], list[float]]:
    tokens, seconds, began = list[int](), list[float](), time.perf_counter()
    for token in stream:
        now = time.perf_counter()
        tokens.append(token)
        seconds.append(now - began)
        began = time.perf_counter()
    return tokens, seconds
