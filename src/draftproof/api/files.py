"""A file of prompts in, a file of texts out: decoded together, and gone on with where it was interrupted.

In: two paths and settings. Out: lines of the second file, in the order in which texts end, and how far it is. Each text
is the one its prompt would get alone, whatever is decoded beside it and however often the work was interrupted
(tests/api/test_files.py).
"""

import json
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from draftproof.api.answers import Answers
from draftproof.api.generate import check_logprobs
from draftproof.api.prompt_lines import Line, read_lines
from draftproof.api.samples import Generated, sample_json, usage
from draftproof.api.settings import Settings, options_of
from draftproof.api.workers import Found, check_workers, generated, in_processes
from draftproof.drafters.catalogue import fingerprint_of
from draftproof.engine.length import FixedLength
from draftproof.engine.options import Options, to_json
from draftproof.engine.setup import check_options, prepare
from draftproof.errors import DraftproofError, UsageError
from draftproof.models.catalogue import fingerprint

__all__ = ["Progress", "generate_file"]


class Progress(NamedTuple):
    """How far the work is."""

    prompts: int
    """How many there are."""
    done: int
    """How many have their line, those from before among them."""
    failed: int
    """How many of these say `error`."""
    tokens: int
    """How many tokens were emitted, since the work was begun or gone on with, in texts that are over."""
    faults: int
    """In how many passes of these texts the drafter failed; the target went on alone there."""


def generate_file(
    prompts: Path,
    out: Path,
    *,
    batch_size: int = 8,
    workers: int = 1,
    logprobs: int | None = None,
    **settings: Unpack[Settings],
) -> Generator[Progress, None, None]:
    """Generate for every prompt of a file, and yield how far it is: at the beginning, and after every prompt.

    Args:
        prompts: a line of JSON for each prompt, `{"prompt": "Once"}`, with an `id` and settings of its own if it likes.
        out: gets a line for each; prompts that have theirs from before are not generated again.
        batch_size: how many texts are decoded at a time; it changes the speed, not the texts.
        workers: see `generate`.
        logprobs: see `generate`.
        settings: of lines that do not say otherwise.

    Raises:
        UsageError: naming what cannot be; all lines are looked at before anything is loaded. A prompt that fails later,
            alone, gets a line with `error`.
    """
    check_logprobs(logprobs)
    check_workers(workers)
    if batch_size < 1:
        raise UsageError(f"got {batch_size}; allowed are whole numbers from 1 up", "batch_size")
    options = options_of("", settings)
    check_options(options)
    lines = read_lines(prompts, options)
    if out.resolve() == prompts.resolve():
        raise UsageError(f"got {str(out)!r}, which is the file of the prompts; name another", "out")
    seal = _Seal(options, logprobs)
    seals = {line.number: seal.of(line) for line in lines}
    Answers(out, seals).close()  # whatever is wrong with the file is said now; the work opens it when it begins
    return _begun(out, seals, lines, options, batch_size, logprobs, workers)


def _begun(out: Path, seals: Mapping[int, str], *work: Any) -> Generator[Progress, None, None]:
    with Answers(out, seals) as answers:
        yield from _Work(answers, *work).progress()


@dataclass
class _Seal:
    """Makes a digest of all that decides the texts of a prompt: all settings, and the models."""

    options: Options
    logprobs: int | None
    prints: dict[str, str] = field(default_factory=dict[str, str])

    def of(self, line: Line) -> str:
        options = line.options(self.options)
        for spec, find in (
            (options.target, lambda spec: fingerprint(spec, "target")),
            (options.drafter, fingerprint_of),
        ):
            if spec not in self.prints:
                self.prints[spec] = find(spec)
        prints = self.prints[options.target], self.prints[options.drafter]
        content = json.dumps([line.id, to_json(options), self.logprobs, prints], sort_keys=True)
        return sha256(content.encode()).hexdigest()[:16]


@dataclass
class _Work:
    answers: Answers
    lines: list[Line]
    options: Options
    batch_size: int
    logprobs: int | None
    workers: int
    tokens: int = 0
    faults: int = 0

    def progress(self) -> Generator[Progress, None, None]:
        """Do the work."""
        yield self._now()
        if len(self.answers.failed) == len(self.lines):
            return
        _rehearse(self.options)
        todo = [line for line in self.lines if line.number not in self.answers.failed]
        for number, found in self._found(line.options(self.options) for line in todo):
            self._write(todo[number], found)
            yield self._now()

    def _found(self, options: Iterator[Options]) -> Iterator[Found]:
        if self.workers > 1:
            return in_processes(options, self.workers, self.batch_size, self.logprobs)
        return generated(options, self.batch_size, self.logprobs)

    def _now(self) -> Progress:
        failed = self.answers.failed
        return Progress(len(self.lines), len(failed), sum(failed.values()), self.tokens, self.faults)

    def _write(self, line: Line, what: Generated | DraftproofError) -> None:
        if isinstance(what, DraftproofError):
            failed = {"id": line.id, "prompt": line.prompt, "samples": [], "error": str(what)}
            self.answers.append(line.number, failed)
            return
        counts = usage(len(what.prompt_token_ids), what.samples)
        samples = [sample_json(sample) for sample in what.samples]
        content = {"id": line.id, "prompt": line.prompt, "samples": samples, "usage": counts}
        errors = [sample.error for sample in what.samples if sample.error is not None]
        self.answers.append(line.number, content | ({"error": errors[0]} if errors else {}))
        self.tokens += counts["completion_tokens"]
        self.faults += sum(sample.trace.num_drafter_faults for sample in what.samples)


def _rehearse(options: Options) -> None:
    """Refuse what no line can have: a drafter of another vocabulary, a grammar that is none."""
    try:
        prepare(replace(options, prompt="Once"), decide=lambda engine, prompt: FixedLength(1))
    except UsageError as error:
        if error.setting != "prompt":
            raise
