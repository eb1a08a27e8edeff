"""The file that texts are written to, a line of JSON for each prompt, which survives whatever interrupts the writing.

In: a path, and the seal of every prompt. Out: which prompts are in it, and room for the others. A line is written whole
or, if something ends the process while it is written, dropped the next time: what it would have said is not lost but
generated again. A seal is a digest of all that decides a text, so that no file holds texts of two kinds.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, Self

from draftproof.errors import UsageError

__all__ = ["Answers"]

try:
    import fcntl
except ImportError:  # Windows has no such locks: there two processes can write to one file
    fcntl = None


class Answers:
    """An open file of texts.

    Args:
        path: of a file that is there from before or is not there yet.
        seals: of every prompt, by the number of its line.

    Raises:
        UsageError: if the file cannot be written, another process writes to it, or it belongs to other prompts or
            settings; it is left as it is then.
    """

    def __init__(self, path: Path, seals: Mapping[int, str]) -> None:
        self.path, self._seals = path, seals
        self.failed: dict[int, bool] = {}
        """For each prompt that is in the file, by its line, whether it failed."""
        self._file = _open(path)
        try:
            self._size = self._read()
            os.ftruncate(self._file, self._size)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; one that nothing was written to is not left behind."""
        if os.fstat(self._file).st_size == 0:
            self.path.unlink(missing_ok=True)
        os.close(self._file)

    def append(self, number: int, content: Mapping[str, Any]) -> None:
        """Write what there is to say of the prompt in a line; when this returns, it is on the disk.

        Raises:
            UsageError: if there is no room on the disk; what was written before stays.
        """
        line = (_beginning(number, self._seals[number]) + json.dumps(content)[1:] + "\n").encode()
        try:
            written = 0
            while written < len(line):
                written += os.write(self._file, line[written:])
            os.fsync(self._file)
        except OSError as error:
            raise _failed(self.path, error) from None
        self._size += len(line)
        self.failed[number] = "error" in content

    def _read(self) -> int:
        """Take in what is there, and return the bytes of its whole lines."""
        size = 0
        with open(self._file, "rb", closefd=False) as file:
            for place, raw in enumerate(file, 1):
                if raw.endswith(b"\n"):
                    self._take(raw, place)
                    size += len(raw)
                elif not self._is_torn(raw):
                    raise self._refused(place, "is none of this command")
        return size

    def _take(self, raw: bytes, place: int) -> None:
        try:
            found = json.loads(raw)
            number, seal, failed = found["line"], found["settings"], "error" in found
        except (ValueError, RecursionError, TypeError, KeyError):
            raise self._refused(place, "is none of this command") from None
        if number in self.failed:
            raise self._refused(place, f"is a second one for the prompt of line {number}")
        if self._seals.get(number) != seal:
            what = f"was written for another prompt than line {shortened(number)} has now, or other settings or models"
            raise self._refused(place, what)
        self.failed[number] = failed

    def _is_torn(self, raw: bytes) -> bool:
        """Return whether these bytes may be the beginning of a line of this file."""
        beginnings = (_beginning(*each).encode() for each in self._seals.items())
        return any(raw.startswith(begin) or begin.startswith(raw) for begin in beginnings)

    def _refused(self, place: int, what: str) -> UsageError:
        todo = "name another file, or remove this one to begin anew"
        return UsageError(f"got {str(self.path)!r}, whose line {place} {what}; {todo}", "out")


def _beginning(number: int, seal: str) -> str:
    return f'{{"line": {number}, "settings": "{seal}", '


def _open(path: Path) -> int:
    """Open a file to read and append, and lock it."""
    try:
        if path.exists() and not path.is_file():
            raise UsageError(
                f"got {str(path)!r}, which is {'a folder' if path.is_dir() else 'no file'}; name one", "out"
            )
        if not path.parent.is_dir():
            raise UsageError(f"got {str(path)!r}, but {path.parent} is no folder; make it first", "out")
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    except (OSError, ValueError) as error:
        raise _failed(path, error) from None
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise UsageError(f"got {str(path)!r}, which another process writes to; wait for it", "out") from None
    return file


def _failed(path: Path, error: Exception) -> UsageError:
    return UsageError(f"got {shortened(str(path))}: {getattr(error, 'strerror', None) or error}", "out")
