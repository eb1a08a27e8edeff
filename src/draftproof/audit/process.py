"""An engine under audit, seen from outside: a process that is asked and answers, crashes, or says nothing any more.

In: which Python, which member of `subjects/`, how it is to be started. Out: completions and counters, or a
`SubjectFailureError` that says in one line what happened. Whatever the engine started ends with it.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from draftproof.audit import host
from draftproof.audit.base import Answer, Asked, Counters, Request
from draftproof.errors import DraftproofError

__all__ = ["Process", "SubjectFailureError"]

PATIENCE = 2.0
"""Seconds in which an engine may end by itself."""
MOST_OF_A_LINE = 300
"""Characters of what an engine printed last that are worth repeating."""


class SubjectFailureError(DraftproofError):
    """The engine failed: that is a result of the audit, not a fault of it.

    Args:
        kind: `refused` (it said why it cannot), `crashed`, `hung`.
        message: one line.
        name: the class of its own exception, if it said why.
    """

    def __init__(self, kind: str, message: str, name: str = "") -> None:
        super().__init__(message)
        self.kind, self.name = kind, name


class Process:
    """An engine that was started.

    Args:
        python: the interpreter of its environment.
        member: the file of a member of `subjects/`.
        asked: how it is to be started.
        timeout: seconds in which it has to be ready.
    """

    def __init__(self, python: str, member: Path, asked: Asked, timeout: float) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        command = [python, "-P", str(Path(host.__file__)), str(member)]
        self._process = subprocess.Popen(  # noqa: S603 (an interpreter that the user chose, a file of this package)
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, start_new_session=True
        )
        self._waiting = False
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self.versions: dict[str, str] = self._told({"start": asked}, timeout)["versions"]
        except BaseException:
            self.close()
            raise

    def sample(self, requests: Sequence[Request], timeout: float) -> tuple[list[Answer], Counters | None]:
        """Return the completions, and how much was drafted since the start.

        Raises:
            SubjectFailureError: if they do not come in `timeout` seconds, or an error comes instead.
        """
        told = self._told({"sample": list(requests)}, timeout)
        return told["answers"], told["counters"]

    def close(self) -> None:
        """End the process and all that it started."""
        with contextlib.suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()
        if not self._waiting:  # what is in the middle of something does not hear
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=PATIENCE)
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        self._reader.join()
        if self._process.stdout:
            self._process.stdout.close()
        self._log.close()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line)
        self._lines.put(b"")

    def _told(self, what: dict[str, Any], timeout: float) -> dict[str, Any]:
        self._waiting = True
        try:
            if self._process.stdin:
                self._process.stdin.write(json.dumps(what).encode() + b"\n")
                self._process.stdin.flush()
            line = self._lines.get(timeout=timeout)
            self._waiting = False
        except queue.Empty:
            raise SubjectFailureError("hung", f"the engine said nothing for {timeout:g} seconds") from None
        except OSError:
            line = b""
        if not line:
            raise SubjectFailureError("crashed", self._epitaph())
        return _understood(line)

    def _epitaph(self) -> str:
        """Return how the process ended and what it printed last."""
        status = self._process.wait()
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        last = f"; its last line was: {' '.join(lines[-1].split())[:MOST_OF_A_LINE]}" if lines else ""
        return f"the engine's process {how}{last}"


def _understood(line: bytes) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(line)
    if "error" in told:
        message = f"the engine refused: {told['kind']}: {told['error'][:MOST_OF_A_LINE]}"
        raise SubjectFailureError("refused", message, told["kind"])
    return told
