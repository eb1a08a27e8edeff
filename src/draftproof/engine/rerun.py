"""Runs a kept generation again, to see whether it comes out the same.

In: a `Trace` with settings. Out: the `Run` it was, and the first pass that differs. Settings that describe no run, and
models that are other ones now, are refused: a difference would say nothing about the engine then.
"""

from collections.abc import Iterable
from dataclasses import replace
from importlib import metadata
from reprlib import repr as shortened
from typing import Any

from draftproof.drafters.catalogue import fingerprint_of
from draftproof.engine.length import ListedLengths
from draftproof.engine.options import NAMES, Options, from_json, to_json
from draftproof.engine.passes import Pass
from draftproof.engine.setup import Run, prepare
from draftproof.errors import UsageError
from draftproof.models.catalogue import fingerprint
from draftproof.records import PassRecord, Trace

__all__ = ["first_difference", "options_of", "rerun", "settings_of"]


def settings_of(run: Run) -> dict[str, Any]:
    """Return what a trace keeps of a run: its options, the `fingerprints` of the models it reads, the `version`."""
    options = run.options
    prints = {options.target: fingerprint(options.target, "target")}
    if options.speculates:
        prints[options.drafter] = fingerprint_of(options.drafter)
    return to_json(options) | {"fingerprints": prints, "version": metadata.version("draftproof")}


def options_of(settings: dict[str, Any]) -> Options:
    """Return the options in the settings of a trace. Whether they can be honoured is for `prepare` to say.

    Raises:
        UsageError: if one is missing, unknown or of the wrong type.
    """
    names = {*NAMES, "fingerprints", "version"}
    if strange := names ^ settings.keys():
        name = min(strange)
        raise UsageError(f"its setting {shortened(name)} is {'missing' if name in names else 'unknown here'}", "trace")
    for name, kind in (("fingerprints", dict), ("version", str)):
        if not isinstance(settings[name], kind):
            raise UsageError(f"its setting {name} is {shortened(settings[name])}, which is no {kind.__name__}", "trace")
    try:
        options = Options(**from_json({name: settings[name] for name in NAMES}))
    except UsageError as error:
        raise UsageError(f"its setting {error}", "trace") from None
    prints = settings["fingerprints"]
    known = {options.target} <= prints.keys() <= {options.target, options.drafter}
    if not known or not all(isinstance(digits, str) for digits in prints.values()):
        raise UsageError(f"its fingerprints, {shortened(prints)}, are not those of its models", "trace")
    return options


def rerun(trace: Trace) -> Run:
    """Return the run that a trace was, ready to decode again.

    A trace that was interrupted gets its whole run, not a shorter one: near its end a run drafts less, so that only
    the whole one has the same passes. `first_difference` asks it for no pass that the trace does not have.

    Raises:
        UsageError: if the trace has no settings or settings that cannot be honoured, if a model is not there or has
            other weights now, or if the prompt is not what the text in the settings amounts to.
    """
    if not trace.settings:
        raise UsageError("it has no settings, so nothing says how to run it again", "trace")
    options = options_of(trace.settings)
    try:
        for spec, before in trace.settings["fingerprints"].items():
            _same(spec, before, fingerprint(spec, "target") if spec == options.target else fingerprint_of(spec))
        lengths = tuple(record.depth for record in trace.passes)
        run = prepare(options, decide=lambda engine, prompt: ListedLengths(lengths))
    except UsageError as error:
        raise UsageError(f"it cannot be run again: {error}", "trace") from None
    except OSError as error:
        raise UsageError(f"it cannot be run again: {shortened(error.filename)}: {error.strerror}", "trace") from None
    if tuple(run.prompt) != trace.prompt:
        raise UsageError("its prompt is not what the text in its settings amounts to", "trace")
    return run


def first_difference(trace: Trace, passes: Iterable[Pass]) -> int | None:
    """Return the number, from 0, of the first pass that comes out otherwise than in the trace; None if all agree.

    What was drafted, accepted and emitted is compared, not the seconds or the expected acceptance. Where all passes
    agree but the text ends in another way or goes on, the number is that of the pass after the last. A trace that was
    interrupted is compared as far as it goes.
    """
    coming, reason = iter(passes), "length"
    for number, before in enumerate(trace.passes):
        now = next(coming, None)
        if now is None or _decided(now.record()) != _decided(before):
            return number
        reason = now.finish_reason or reason
    if trace.finish_reason == "interrupted":
        return None
    ends_alike = reason == trace.finish_reason and next(coming, None) is None
    return None if ends_alike else len(trace.passes)


def _same(spec: str, before: str, now: str) -> None:
    if before != now:
        raise UsageError(f"{spec} has other weights now ({shortened(before)} then, {now!r} now)")


def _decided(record: PassRecord) -> PassRecord:
    """Return a record without its reasons and its estimate, whose last bits are the machine's."""
    return replace(record, expected_accepted=None, why=None)
