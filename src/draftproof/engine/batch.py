"""Many texts decoded together: each exactly as it would be alone, all reading the models' weights at once.

In: requests, and how many texts may be decoded at a time. Out: the passes of all of them, as they happen. A text
never waits for another's acceptance: in every round each emits what its own rule accepts, and one that ends makes room
for the next. Equal to decoding one after another: tests/engine/test_batch.py.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from greenlet import GreenletExit, getcurrent

from draftproof.engine.gathered import TextTask, Wanted
from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.engine.stop import Stop
from draftproof.errors import DraftproofError, UsageError
from draftproof.models.batch import read_all
from draftproof.types import Noise, Tokens

__all__ = ["Happened", "Request", "decode"]


class Request(NamedTuple):
    """A prompt to be gone on from, once for each source of random numbers.

    Args:
        engine: its models should be `Gathered`; those that are not read each text by itself.
        prompt: token ids, at least one.
        stop: where the texts end.
        noises: one for each sample; all samples share the target's reading of the prompt.
    """

    engine: Engine
    prompt: Tokens
    stop: Stop
    noises: tuple[Noise, ...]


class Happened(NamedTuple):
    """What happened to one text."""

    request: int
    """Which request, from 0."""
    sample: int
    """Which of its samples, from 0."""
    what: Pass | DraftproofError | None
    """A pass; an error that ended this text alone; None when the text is over."""


def decode(requests: Iterable[Request], size: int) -> Iterator[Happened]:
    """Yield what happens to the texts of all requests, at most `size` of them at a time, begun in order.

    Args:
        requests: taken one by one, as room for their samples appears.
        size: 1 or more.
    """
    if size < 1:
        raise UsageError(f"got {size}; allowed are whole numbers from 1 up", "batch_size")
    coming, active = _samples(requests), dict[TextTask, _Text]()
    try:
        while True:
            while len(active) < size and (text := next(coming, None)):
                active[TextTask(_run)] = text
            if not active:
                return
            for task, text in list(active.items()):
                yield from _advance(task, text)
                if task.dead:
                    del active[task]
            _read([text for text in active.values() if text.wanted])
    finally:
        for task in active:
            task.throw(GreenletExit)


@dataclass
class _Text:
    """A text of the batch: where it belongs, what it goes on with, what it waits for."""

    request: int
    sample: int
    passes: Iterator[Pass]
    answer: Any = None
    wanted: Wanted | None = None


def _samples(requests: Iterable[Request]) -> Iterator[_Text]:
    for number, (engine, prompt, stop, noises) in enumerate(requests):
        first = engine.start(prompt)
        if len(noises) > 1:
            first.prefill()
        sessions = [first, *(first.fork(engine.length.begin()) for _ in noises[1:])]
        for sample, (session, noise) in enumerate(zip(sessions, noises, strict=True)):
            yield _Text(number, sample, engine.go_on(session, stop, noise))


def _run(passes: Iterator[Pass]) -> None:
    """Decode one text, in a task of its own; its parent gets every pass, and what it wants to read."""
    parent = getcurrent().parent
    assert parent is not None  # noqa: S101 (a task is always made by `decode`)
    try:
        for done in passes:
            parent.switch(done)
    except DraftproofError as error:
        parent.switch(error)


def _advance(task: TextTask, text: _Text) -> Iterator[Happened]:
    """Let a text go on until it waits for a reading or is over; a text that waits already is left alone."""
    while not text.wanted and not task.dead:
        what = task.switch(text.passes) if not task else task.switch(text.answer)
        text.answer = None
        if isinstance(what, Wanted):
            text.wanted = what
        else:
            yield Happened(text.request, text.sample, what)


def _read(waiting: list[_Text]) -> None:
    """Read for those that draft; if nobody does, for those that verify."""
    quick = [text for text in waiting if text.wanted and not text.wanted.patient]
    chosen = quick or waiting
    reads = [text.wanted.read for text in chosen if text.wanted]
    for text, rows in zip(chosen, read_all(reads), strict=True):
        text.answer, text.wanted = rows, None
