"""Which Python runs an engine: one that has it already, or one set up for it alone, so that engines never meet.

In: a subject, what the user says. Out: an interpreter. Nothing is installed unless the user asks for it.
"""

import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

from draftproof.audit.catalogue import Chosen
from draftproof.errors import MissingExtraError, UsageError

__all__ = ["cache_folder", "prepare", "python_for", "requirements"]

FIRST = ("torch",)
"""Installed before the rest, so that what the rest asks for does not bring another build of it."""
_EXTRA = re.compile(r"""\s*;\s*extra\s*==\s*["']([^"']+)["']""")


def cache_folder() -> Path:
    """Return where probe pairs, environments and interrupted audits are kept; all can be made anew."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~")).expanduser() / "draftproof"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/draftproof").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "draftproof"


def python_for(chosen: Chosen, given: str) -> str:
    """Return the interpreter of the engine: the one given, this one if it has the library, or one prepared for it.

    Raises:
        UsageError: if the one given is no interpreter that has the library.
        MissingExtraError: if there is none.
    """
    library = chosen.member.LIBRARY
    if given:
        if not _has(given, library):
            raise UsageError(f"got {given!r}, which is no Python that can import {library or 'anything'}", "python")
        return given
    if not library or importlib.util.find_spec(library) is not None:
        return sys.executable
    prepared = _interpreter(chosen.name)
    if prepared.is_file() and _has(str(prepared), library):
        return str(prepared)
    raise MissingExtraError(
        f"{chosen.name} is not installed here; give a Python that has it by --python, let --install set one up in "
        f"{prepared.parents[1]}, or pip install 'draftproof[{chosen.member.EXTRA}]'",
        "subject",
    )


def prepare(chosen: Chosen) -> str:
    """Set up an environment with what the extra of an engine lists, and return its interpreter.

    Raises:
        UsageError: if there is nothing to install, or the installation fails.
    """
    wanted = requirements(chosen.member.EXTRA)
    if not wanted:
        raise UsageError(f"{chosen.name} needs no environment of its own; leave it out", "install")
    python = _interpreter(chosen.name)
    steps = [[sys.executable, "-m", "venv", str(python.parents[1])]]
    early = [one for one in wanted if re.split(r"[^\w-]", one)[0] in FIRST]
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    steps += [[*install, *some] for some in (early, wanted) if some]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)  # noqa: S603 (pip, of this package)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
            raise UsageError(f"the environment of {chosen.name} could not be set up: {last}", "install")
    return str(python)


def requirements(extra: str) -> list[str]:
    """Return what an extra of this package lists."""
    lines = [(line, _EXTRA.search(line)) for line in importlib.metadata.requires("draftproof") or []]
    return [line[: needed.start()] for line, needed in lines if needed and needed[1] == extra]


def _interpreter(name: str) -> Path:
    folder = cache_folder() / "environments" / name
    return folder / "Scripts" / "python.exe" if sys.platform == "win32" else folder / "bin" / "python"


def _has(python: str, library: str) -> bool:
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({library!r}) is None)" if library else ""
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, check=False, timeout=60)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
