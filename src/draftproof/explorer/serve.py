"""Starts the page on an address of this machine. In: host, port. Out: a running server, or a refusal in one line."""

import asyncio
import socket
import sys
from pathlib import Path

from nicegui import app, background_tasks, run, ui

from draftproof.errors import UsageError
from draftproof.explorer.app import page
from draftproof.records import Trace
from draftproof.redteam.campaign import judge_named
from draftproof.redteam.tampers.catalogue import TAMPERS

__all__ = ["serve"]

FAVICON = (
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 10 10'>"
    "<path d='M1 5l3 3 5-6' fill='none' stroke='%230072b2' stroke-width='2'/></svg>"
)

GLANCE = 0.05
"""Seconds between two looks whether the server listens."""
LOOPBACK = ("127.", "localhost", "::1")
"""How the addresses begin that only this machine reaches."""


def serve(host: str, port: int, measurements: Path, trace: Trace | None, show: bool) -> None:
    """Serve the page until Ctrl-C.

    Args:
        host: an address of this machine.
        port: 1 to 65535.
        measurements: folder of stored measurements.
        trace: a saved generation to show.
        show: whether to open a browser.

    Raises:
        UsageError: if the address cannot be had.
    """
    _check(host, port)
    run.process_pool_start_method = "spawn"
    app.on_startup(lambda: background_tasks.create(_announce(host, port), name="announce"))
    ui.run(
        lambda: page(measurements, trace),
        host=host, port=port, show=show, reload=False, title="draftproof explorer", favicon=FAVICON,
        tailwind=False, show_welcome_message=False, uvicorn_logging_level="error",
    )  # fmt: skip


async def _announce(host: str, port: int) -> None:
    """Say where the page is once it is there, and start the process for longer work before anybody waits for it."""
    while True:
        try:
            _, connection = await asyncio.open_connection(host, port)
        except OSError:
            await asyncio.sleep(GLANCE)
        else:
            break
    connection.close()
    shown = f"[{host}]" if ":" in host else host
    sys.stderr.write(f"the page is at http://{shown}:{port}/ ; Ctrl-C ends it\n")
    if not host.startswith(LOOPBACK):
        sys.stderr.write(f"note: whoever reaches {shown} can use it\n")
    sys.stderr.flush()
    await run.cpu_bound(judge_named, next(iter(TAMPERS)))


def _check(host: str, port: int) -> None:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror:
        raise UsageError(f"got {host!r}, which is no address; 127.0.0.1 is this machine alone", "host") from None
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            setting = "host" if error.errno not in _TAKEN else "port"
            reason = error.strerror or "it cannot be bound"
            raise UsageError(f"got {host} port {port}: {reason.lower()}; choose another {setting}", setting) from None


_TAKEN = {13, 98, 48}
"""Permission denied, and address in use as Linux and macOS number it."""
