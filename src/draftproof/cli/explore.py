"""`draftproof explore`: the page on which a person sees and tries it all, served to this machine until Ctrl-C."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from draftproof.cli.numbers import whole
from draftproof.economics.store import folder
from draftproof.engine.traces import read
from draftproof.errors import MissingExtraError, UsageError

__all__ = ["explore"]

HOST, PORT, LAST_PORT = "127.0.0.1", 8080, 65535


def explore(
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="The default is reached from this machine only.")] = HOST,
    port: Annotated[int, typer.Option(parser=whole, metavar="PORT", help="1 to 65535.")] = PORT,
    trace: Annotated[Path | None, typer.Option(metavar="FILE", help="Replay what `generate --trace` wrote.")] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, open nothing.")] = False,
) -> None:
    """Open a page where the rule, its proof, its tampers, its costs and the real thing can be tried live."""
    if not 1 <= port <= LAST_PORT:
        raise UsageError(f"got {port}; allowed are whole numbers from 1 to {LAST_PORT}", "port")
    saved = read(trace) if trace else None
    try:
        from draftproof.explorer.serve import serve
    except ModuleNotFoundError as error:
        if error.name != "nicegui":
            raise
        raise MissingExtraError("`explore` needs NiceGUI: pip install 'draftproof[explorer]'") from None
    with suppress(KeyboardInterrupt):  # the way to end it
        serve(host, port, folder(), saved, show=not no_browser)
