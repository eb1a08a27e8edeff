"""The files that a GGUF model consists of: that they are there, and what they are known by. In: a path. Out: paths.

It must never read a weight.
"""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from reprlib import repr as shortened

from draftproof.errors import UsageError
from draftproof.models.gguf.header import MAGIC

__all__ = ["digest", "model_files"]

PART = re.compile(r"(?P<stem>.*)-(?P<number>[0-9]{5})-of-(?P<count>[0-9]{5})\.gguf", re.ASCII)
MIB = 1 << 20
WHOLE = 64 * MIB
"""Of larger files only the first and the last MiB are looked at: they hold the header and some weights."""


def model_files(path: Path) -> list[Path]:
    """Return the parts of a model, of which `path` is the first, or only `path`.

    Raises:
        UsageError: if one is not there, or is no GGUF file.
    """
    try:
        if path.is_dir():
            raise UsageError(f"{path} is a folder; give the .gguf file in it, or hf:{path} for a Hugging Face folder")
        if not path.is_file():
            raise UsageError(f"{path if str(path).isprintable() else shortened(str(path))} is no file")
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise UsageError(f"{path} is no GGUF file: it does not begin with the letters GGUF")
    except (OSError, ValueError) as error:  # a name that is too long, a zero byte in it, no right to read
        raise UsageError(f"{shortened(str(path))} cannot be read: {getattr(error, 'strerror', error)}") from None
    part = PART.fullmatch(path.name)
    return [path] if part is None else _parts(path, part)


def digest(files: Sequence[Path], *settings: str) -> str:
    """Return twelve hexadecimal digits that change with the files and with the settings."""
    found = hashlib.sha256()
    for path in files:
        size = path.stat().st_size
        found.update(size.to_bytes(8, "little"))
        with path.open("rb") as file:
            if size <= WHOLE:
                found.update(file.read())
                continue
            found.update(file.read(MIB))
            file.seek(size - MIB)
            found.update(file.read(MIB))
    found.update("".join(settings).encode())
    return found.hexdigest()[:12]


def _parts(path: Path, part: re.Match[str]) -> list[Path]:
    count = int(part["count"])
    names = [f"{part['stem']}-{number:05}-of-{count:05}.gguf" for number in range(1, count + 1)]
    if int(part["number"]) != 1:
        raise UsageError(
            f"{path} is part {int(part['number'])} of {count}; give the first, {names[0] if names else '?'}"
        )
    missing = [name for name in names if not (path.parent / name).is_file()]
    if missing:
        raise UsageError(f"{path} is the first of {count} parts, and {', '.join(missing[:3])} is not beside it")
    return [path.parent / name for name in names]
