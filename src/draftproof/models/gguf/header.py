"""Reads the fields at the beginning of a GGUF file: sizes, and the merges of its tokenizer. In: a path. Out: fields.

Weights are not read. It must never believe a length before it has looked whether the file is that long.
"""

import mmap
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from draftproof.errors import UsageError

__all__ = ["MAGIC", "Fields", "read_fields"]

MAGIC = b"GGUF"
VERSIONS = (2, 3)
_NUMBERS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
"""By the number that GGUF gives a type: what `struct` calls it. 8 is a text, 9 a list."""
_TEXT, _LIST = 8, 9

Fields = dict[str, Any]


def read_fields(path: Path, wanted: Callable[[str], bool]) -> Fields:
    """Return the fields of a GGUF file whose keys are wanted.

    Raises:
        UsageError: if it is no GGUF file, is damaged or ends too early.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Reader(data).fields(wanted)
    except (struct.error, UnicodeDecodeError, _DamagedError):
        raise UsageError(f"{path} is damaged: its header ends too early or holds no sense") from None
    except ValueError:  # what mmap says of an empty file
        raise UsageError(f"{path} is empty") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None


class _DamagedError(Exception):
    """A length or a type that cannot be."""


class _Reader:
    """Walks over the header of a file."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data, self._at = data, len(MAGIC)

    def fields(self, wanted: Callable[[str], bool]) -> Fields:
        version, count = self._number("I"), 0
        if self._data[: len(MAGIC)] != MAGIC or version not in VERSIONS:
            raise UsageError(f"is no GGUF file of version {' or '.join(map(str, VERSIONS))}")
        self._number("Q")  # tensors
        count, found = self._number("Q"), Fields()
        for _ in range(count):
            key, kind = self._text().decode(), self._number("I")
            value = self._value(kind, keep=wanted(key))
            if wanted(key):
                found[key] = value
        return found

    def _value(self, kind: int, *, keep: bool) -> Any:
        if kind == _TEXT:
            return self._text().decode("utf-8", "replace") if keep else self._skip_text()
        if kind == _LIST:
            return self._list(keep=keep)
        if kind not in _NUMBERS:
            raise _DamagedError
        return self._number(_NUMBERS[kind])

    def _list(self, *, keep: bool) -> list[Any] | None:
        kind, count = self._number("I"), self._number("Q")
        if kind in _NUMBERS:
            format_ = f"<{count if count <= len(self._data) else 0}{_NUMBERS[kind]}"
            size = struct.calcsize(f"<{_NUMBERS[kind]}") * count
            if self._at + size > len(self._data):
                raise _DamagedError
            start, self._at = self._at, self._at + size
            return [*struct.unpack_from(format_, self._data, start)] if keep else None
        if kind != _TEXT:
            raise _DamagedError
        if not keep:
            for _ in range(count):
                self._skip_text()
            return None
        return [self._text().decode("utf-8", "replace") for _ in range(count)]

    def _text(self) -> bytes:
        start = self._skip_text()
        return self._data[start : self._at]

    def _skip_text(self) -> int:
        """Step over a text and return where it begins."""
        length, start = self._number("Q"), self._at
        if start + length > len(self._data):
            raise _DamagedError
        self._at = start + length
        return start

    def _number(self, format_: str) -> Any:
        (value,) = struct.unpack_from(f"<{format_}", self._data, self._at)
        self._at += struct.calcsize(f"<{format_}")
        return value
