"""Traces as files of JSON. In: a `Trace` and a path, or a path. Out: a file that is whole or not there, or a `Trace`.

What is read is a trace in every part, or is refused: whoever goes on with it need not look for damage again.
"""

import json
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, get_args

from draftproof.engine.rerun import options_of
from draftproof.engine.stop import FinishReason
from draftproof.errors import UsageError
from draftproof.records import SCHEMA, PassRecord, Trace

__all__ = ["check_writable", "read", "save"]

REASONS = (*get_args(FinishReason), "interrupted")
LARGEST_ID = 2**32 - 1
"""Tokenizers count tokens in 32 bits."""


def check_writable(path: Path) -> None:
    """Find out before a generation whether its trace can be saved after it; what is there stays as it is.

    Raises:
        UsageError: if it cannot.
    """
    try:
        if path.exists() and not path.is_file():
            raise _refused(path, "a folder" if path.is_dir() else "no file")
        if not path.parent.is_dir():
            raise UsageError(f"got {str(path)!r}, but {path.parent} is no folder", "trace")
        if path.exists():
            path.open("r+b").close()
        unfinished = _unfinished(path)
        unfinished.touch(exist_ok=False)
        unfinished.unlink()
    except OSError as error:
        raise _failed(path, error) from None


def save(trace: Trace, path: Path) -> None:
    """Write a trace to a file. One that is there already is replaced when all is written, or stays as it is.

    Raises:
        UsageError: if it cannot be written.
    """
    check_writable(path)
    unfinished = _unfinished(path)
    try:
        unfinished.write_text(json.dumps(trace.to_json()) + "\n", encoding="utf-8")
        unfinished.replace(os.path.realpath(path))
    except OSError as error:
        raise _failed(path, error) from None
    finally:
        with suppress(OSError):
            unfinished.unlink()


def read(path: Path) -> Trace:
    """Return the trace in a file.

    Raises:
        UsageError: if it is none, is of another version, or contradicts itself.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _failed(path, error) from None
    except (ValueError, RecursionError):
        raise _refused(path, "no JSON, so no trace") from None
    schema = found.get("schema") if isinstance(found, dict) else None
    if type(schema) is int and schema != SCHEMA:
        raise UsageError(f"got {str(path)!r} of version {schema}; version {SCHEMA} is read", "trace")
    try:
        trace = Trace.from_json(found)
        _examine(trace)
        _demand(json.loads(json.dumps(trace.to_json())) == found, "parts", list(found))  # none of them left out
    except UsageError as error:
        raise _refused(path, f"no trace: {error.message}") from None
    except (TypeError, KeyError, AttributeError):
        raise _refused(path, "no trace; `draftproof generate --trace` writes one") from None
    return trace


def _failed(path: Path, error: OSError) -> UsageError:
    return UsageError(f"got {str(path)!r}: {error.strerror}", "trace")


def _refused(path: Path, what: str) -> UsageError:
    return UsageError(f"got {str(path)!r}, which is {what}", "trace")


def _unfinished(path: Path) -> Path:
    """Return a name beside what `path` leads to, another one for each process and thread."""
    return Path(os.path.realpath(path)).with_name(f".{os.getpid()}-{threading.get_ident()}.part")


def _examine(trace: Trace) -> None:
    """Raise a UsageError that says in what `trace` is none."""
    _demand(type(trace.schema) is int, "schema", trace.schema)
    _demand(trace.finish_reason in REASONS, "finish_reason", trace.finish_reason)
    _demand(_finite(trace.seconds) and trace.seconds >= 0, "seconds", trace.seconds)
    _demand(len(trace.prompt) > 0 and _tokens(trace.prompt), "prompt", trace.prompt)
    for i, record in enumerate(trace.passes):
        _examine_pass(record, f"passes[{i}].")
    starts = accumulate((len(record.emitted) for record in trace.passes), initial=len(trace.prompt))
    for i, (record, start) in enumerate(zip(trace.passes, starts, strict=False)):
        _demand(record.start == start, f"passes[{i}].start", record.start)
    _demand(isinstance(trace.settings, dict), "settings", trace.settings)
    if trace.settings:
        options_of(trace.settings)


def _examine_pass(record: PassRecord, where: str) -> None:
    drafted, depth, expected = record.drafted, record.tree_depth, record.expected_accepted
    _demand(_tokens(drafted), f"{where}drafted", drafted)
    _demand(depth is None or _whole(depth, len(drafted)), f"{where}tree_depth", depth)
    _demand(_whole(record.accepted, record.depth), f"{where}accepted", record.accepted)
    _demand(_tokens(record.emitted), f"{where}emitted", record.emitted)
    _demand(0 < len(record.emitted) <= record.accepted + 1, f"{where}emitted", record.emitted)
    _demand(type(record.start) is int, f"{where}start", record.start)
    _demand(type(record.bonus) is bool, f"{where}bonus", record.bonus)
    _demand(expected is None or _finite(expected), f"{where}expected_accepted", expected)
    _demand(isinstance(record.fault, str | None), f"{where}fault", record.fault)
    _demand(isinstance(record.why, str | None), f"{where}why", record.why)


def _demand(right: bool, part: str, value: Any) -> None:
    if not right:
        raise UsageError(f"its {part} cannot be {shortened(value)}")


def _tokens(ids: Sequence[Any]) -> bool:
    return all(_whole(token, LARGEST_ID) for token in ids)


def _whole(value: Any, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _finite(value: Any) -> bool:
    return type(value) in {int, float} and abs(value) <= sys.float_info.max
