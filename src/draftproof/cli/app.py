"""The command `draftproof`: its verbs, and what an error looks like: one line, exit status 2, no traceback."""

import os
import sys
from importlib import metadata
from typing import Annotated

import typer
from typer.exceptions import TyperException

from draftproof.cli.attack import attack
from draftproof.cli.audit import audit
from draftproof.cli.explore import explore
from draftproof.cli.generate import generate
from draftproof.cli.measure import measure
from draftproof.cli.plan import plan
from draftproof.cli.prove import prove
from draftproof.cli.statuses import INTERRUPTED, USAGE_ERROR
from draftproof.errors import DraftproofError, UsageError

__all__ = ["app", "main"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
)
app.command()(generate)
app.command()(prove)
app.command()(attack)
app.command()(audit)
app.command()(measure)
app.command()(plan)
app.command()(explore)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    """Speculative decoding whose output is proven to be the target model's own distribution."""
    if version:
        sys.stdout.write(f"draftproof {metadata.version('draftproof')}\n")
        raise typer.Exit


def main() -> None:
    """Run the command line and exit with its status."""
    try:
        status = app(standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the flush at exit is quiet
        status = 0
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except DraftproofError as error:
        status = _refuse(_named(error))
    except TyperException as error:  # a word on the command line that is no option, verb or number
        status = _refuse(error.format_message())
    sys.exit(status)


def _refuse(message: str) -> int:
    if message:  # empty when typer has just printed the help instead
        sys.stderr.write(f"error: {' '.join(message.split())}\n")
    return USAGE_ERROR


def _named(error: DraftproofError) -> str:
    """Return the message, with the setting written as the option a user typed."""
    if not isinstance(error, UsageError) or error.setting is None:
        return str(error)
    argument = error.setting in {"prompt", "subject"}
    option = error.setting.upper() if argument else "--" + error.setting.replace("_", "-")
    return f"{option}: {error.message}"
