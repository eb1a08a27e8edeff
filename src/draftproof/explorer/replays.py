"""Traces opened on the page: read from a file, run again if they can be, their settings put where they fit.

In: a file's content, or a `Trace`. Out: a `Generation` that runs it again, or why it cannot be; changes of the state.
A file from a browser names models, so only the embedded ones are run for it.
"""

import tempfile
from itertools import accumulate
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

from draftproof.engine import traces
from draftproof.engine.options import Options
from draftproof.engine.rerun import options_of, rerun
from draftproof.engine.setup import Run
from draftproof.errors import DraftproofError, UsageError
from draftproof.explorer.generation import Generation
from draftproof.explorer.state import State, changed
from draftproof.models.catalogue import fingerprint, load
from draftproof.models.tiny_backend import EMBEDDED
from draftproof.models.tokenizer import Tokenizer
from draftproof.records import Trace

__all__ = ["LARGEST_FILE", "Opened", "fitting", "opened", "read"]

LARGEST_FILE = 4_000_000
"""Bytes."""
MOST_ROWS = 64
"""Tokens drafted in a pass of which the page keeps the laws."""


class Opened(NamedTuple):
    """A trace on the page."""

    trace: Trace
    generation: Generation | None
    """Runs it again; None if it cannot be."""
    reason: str
    """Why it cannot be run again."""
    tokenizer: Tokenizer | None
    """That of its target; None if that is unknown."""


def read(content: bytes, name: str) -> Trace:
    """Return the trace in an uploaded file.

    Raises:
        UsageError: if it is none.
    """
    if len(content) > LARGEST_FILE:
        raise UsageError(f"got {name!r} of {len(content):,} bytes; allowed are {LARGEST_FILE:,}", "trace")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        path.write_bytes(content)
        try:
            return traces.read(path)
        except UsageError as error:
            raise UsageError(error.message.replace(repr(str(path)), repr(name)), "trace") from None


def opened(trace: Trace, *, trusted: bool) -> Opened:
    """Return a trace ready to be shown.

    Args:
        trace: as read.
        trusted: whether it may name models other than the embedded pair.
    """
    try:
        if not trusted:
            _check_models(trace)
        run = rerun(trace)
        _check_size(run, trace)
    except DraftproofError as error:
        return Opened(trace, None, str(error), _tokenizer(trace))
    return Opened(trace, Generation(run, before=trace), "", run.tokenizer)


def fitting(state: State, trace: Trace) -> dict[str, Any]:
    """Return those settings of a trace that a state can have, as changes of it."""
    if not trace.settings:
        return {}
    fits: dict[str, Any] = {}
    for name, value in _settings(options_of(trace.settings)).items():
        try:
            changed(state, **{name: value})
        except UsageError:
            continue
        fits[name] = value
    return fits


def _settings(options: Options) -> dict[str, Any]:
    chosen = {} if options.num_speculative_tokens == "auto" else {"k": options.num_speculative_tokens}
    return chosen | {
        "prompt": options.prompt,
        "drafter": options.drafter,
        **({"k": 0} if options.no_speculation else {}),
        "max_tokens": options.max_tokens,
        "temperature": options.temperature,
        "generation_top_k": options.top_k,
        "generation_top_p": options.top_p,
        "generation_seed": options.seed,
        "generation_rule": options.rule,
    }


def _check_models(trace: Trace) -> None:
    options = options_of(trace.settings) if trace.settings else Options()
    for spec in (options.target, options.drafter):
        if not all(_is_harmless(part) for part in spec.removeprefix("chain:").split(",")):
            raise UsageError(f"it names the model {spec!r}; for an opened file only the embedded pair is run", "trace")


def _check_size(run: Run, trace: Trace) -> None:
    asked, branching = run.options.num_speculative_tokens, run.engine.branching
    depth = max((record.depth for record in trace.passes), default=0) if asked == "auto" else asked
    widths = [*branching[:depth], *[1] * min(MOST_ROWS + 1, depth - len(branching))]
    if sum(accumulate(widths, mul)) > MOST_ROWS:
        raise UsageError(f"it drafts more than {MOST_ROWS} tokens a pass; the page keeps no more laws", "trace")


def _is_harmless(spec: str) -> bool:
    """Return whether a SPEC makes the page read no file but its own."""
    return spec in {"none", "suffix", *_EMBEDDED} or spec.partition(":")[0] in {"ngram", "early_exit"}


_EMBEDDED = {f"tiny:{name}" for name in EMBEDDED}


def _tokenizer(trace: Trace) -> Tokenizer | None:
    """Return the embedded tokenizer, if the target of the trace was the embedded one as it is now."""
    prints, spec = trace.settings.get("fingerprints", {}), "tiny:target"
    if trace.settings.get("target") != spec or prints.get(spec) != fingerprint(spec, "target"):
        return None
    return load(spec, "target").tokenizer
