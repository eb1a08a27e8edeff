"""`draftproof audit`: is somebody's speculative engine lossless? Status 0 if it is, 1 if not, 3 if that cannot be told.

In: an engine, a pair of models, settings. Out: a verdict, as text or JSON, and a report if one is asked for.
"""

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import typer

from draftproof.audit.arm import Arm
from draftproof.audit.black_box import BlackBox
from draftproof.audit.catalogue import chosen
from draftproof.audit.environments import prepare
from draftproof.audit.pairs import Side
from draftproof.audit.runner import Audit
from draftproof.cli.audit_options import asked, signature
from draftproof.cli.statuses import INTERRUPTED

__all__ = ["audit"]

Watch = Callable[[str, Arm | Side], None]
"""(arm, its state) after every batch."""


def audit(context: typer.Context, **typed: Any) -> int:  # noqa: ARG001 (typer hands it over)
    """Find out from its tokens alone whether an engine's speculation changes more than its speed."""
    report: Path | None = typed["report"]
    if report is not None:
        from draftproof.audit.report import check

        check(report)
    options = asked(typed)
    if typed["install"]:
        prepare(chosen(options.subject))
    running, interrupted = (BlackBox if options.black_box else Audit)(options), False
    with _watching(running, as_json=typed["json"]) as watch:
        try:
            outcome = running.run(watch)
        except KeyboardInterrupt:
            outcome, interrupted = running.so_far(), True
    if report is not None:
        from draftproof.audit.report import write

        write(report, outcome, running.drawn())
    if typed["json"]:
        sys.stdout.write(json.dumps(outcome.to_json()) + "\n")
    else:
        from draftproof.cli.audited import show

        show(outcome, interrupted=interrupted)
    return INTERRUPTED if interrupted else outcome.status


audit.__signature__ = signature()  # pyright: ignore[reportFunctionMemberAccess] (typer reads the options from it)


def _watching(running: Audit | BlackBox, *, as_json: bool) -> AbstractContextManager[Watch]:
    if as_json:
        return nullcontext(lambda _, __: None)
    from draftproof.cli.audited import Live

    return Live(running)
