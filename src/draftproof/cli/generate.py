"""`draftproof generate`: text from the target's own law, faster, with a proof. The main job of the house."""

import json
import logging
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from draftproof.api.auto import Auto
from draftproof.api.generate import check_logprobs
from draftproof.api.settings import options_of
from draftproof.cli.generate_options import Certify, given, signature
from draftproof.cli.statuses import INTERRUPTED
from draftproof.cli.words import settings_of
from draftproof.engine.combinations import check
from draftproof.engine.passes import Pass
from draftproof.engine.rerun import settings_of as kept_settings
from draftproof.engine.setup import Run, prepare
from draftproof.engine.traces import check_writable, save
from draftproof.witness.identity import Certificate

if TYPE_CHECKING:
    from draftproof.cli.decoding import Decoded
    from draftproof.cli.screen import Screen
    from draftproof.cli.watched import Watched

__all__ = ["generate"]

OUTPUT = ("prompts", "out", "batch_size", "workers", "certify", "witness", "logprobs", "json", "trace")
"""Options that are no settings of a text."""


def generate(context: typer.Context, prompt: str, **options: Any) -> int:
    """Generate text with speculative decoding; the output is the target's own, whatever the draft guesses."""
    logging.getLogger("draftproof").addHandler(logging.NullHandler())  # the summary and the report count what failed
    typed = given(context)
    settings = settings_of({name: value for name, value in typed.items() if name not in {*OUTPUT, "prompt"}})
    asked = options_of(prompt, settings)
    check(asked, frozenset(typed))
    check_logprobs(options["logprobs"])
    if options["prompts"] is not None:
        from draftproof.cli.many import generate_many

        files = options["prompts"], options["out"]
        beside = {name: options[name] for name in ("batch_size", "workers", "logprobs")}
        status = generate_many(*files, **beside, **settings)
        if not options["witness"] or status == INTERRUPTED:
            return status
        from draftproof.cli.witnessed_file import witness_file

        return witness_file(*files, options_of("", settings)) or status
    if options["trace"] is not None:
        check_writable(options["trace"])
    return _text(prepare(asked, decide=Auto(asked.n).of(asked)), options)


generate.__signature__ = signature()  # pyright: ignore[reportFunctionMemberAccess] (typer reads the options from it)


def _text(run: Run, output: Mapping[str, Any]) -> int:
    """Generate for one prompt, show or report it, and return the exit status."""
    from draftproof.cli.decoding import decoded
    from draftproof.cli.report import merged
    from draftproof.cli.screen import note

    trace_file: Path | None = output["trace"]
    settings = {} if trace_file is None else kept_settings(run)
    certificate = Certificate(run.engine.rule)
    screen = None if output["json"] else _screen(run, live=output["witness"])
    watched = _watched(run, screen) if output["witness"] else None

    def watch(done: Pass, sample: int) -> None:
        if output["certify"] is Certify.EVERY:
            certificate.add(done)
        if screen is not None:
            screen.show(done)
        if watched is not None:
            watched.add(done, sample)

    with nullcontext() if screen is None else screen.begun(run.tokenizer.decode(run.prompt)):
        found = decoded(run, output["logprobs"], watch)
        if screen is not None:
            screen.finish([sample.text for sample in found.samples])
    if trace_file is not None:
        save(replace(merged(found.samples, found.seconds), settings=settings), trace_file)
    if watched is not None:
        watched.finish()
    _tell(run, found, certificate, watched, screen)
    if screen is not None and trace_file is not None:
        note(f"trace: {trace_file}")
    return INTERRUPTED if found.interrupted else 0 if watched is None else watched.status


def _screen(run: Run, *, live: bool) -> "Screen":
    if live:
        from draftproof.cli.live import LiveScreen as Kind
    else:
        from draftproof.cli.screen import Screen as Kind
    return Kind(run.tokenizer, streams=run.options.n == 1)


def _watched(run: Run, screen: "Screen | None") -> "Watched":
    from draftproof.cli.watched import Watched

    return Watched(run, screen)


def _tell(
    run: Run, found: "Decoded", certificate: Certificate, watched: "Watched | None", screen: "Screen | None"
) -> None:
    """Print the summary, or the report if there is no screen."""
    from draftproof.cli.decoding import plain_tokens_per_second
    from draftproof.cli.report import merged, report

    if screen is None:
        told = report(run, found.samples, found.seconds, certificate)
        told |= {} if watched is None else {"witness": watched.told()}
        sys.stdout.write(json.dumps(told) + "\n")
        return
    trace = merged(found.samples, found.seconds)
    plain = plain_tokens_per_second(run, trace)
    auto = run.options.num_speculative_tokens == "auto"
    witness = None if watched is None else watched.verdict()
    screen.summary(trace, plain, certificate.finding("this generation"), auto=auto, witness=witness)
