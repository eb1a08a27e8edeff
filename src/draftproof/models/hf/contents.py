"""What a model folder holds, in twelve digits. In: a folder. Out: digits that change with what makes the model."""

import hashlib
from pathlib import Path

from draftproof.models.hf.folder import weight_files

__all__ = ["contents"]

LARGE = 64 * 2**20
END = 2**20
READ = (
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    "*.py",
)


def contents(folder: Path, *beside: str) -> str:
    """Return twelve hexadecimal digits.

    Args:
        folder: with a model. Of files of more than 64 MB, size, first and last MB are read.
        beside: what else makes the model what it is.

    Raises:
        UsageError: if weights are missing.
    """
    found = hashlib.sha256(repr(beside).encode())
    paths = [path for pattern in READ for path in sorted(folder.glob(pattern))]
    for path in [*paths, *weight_files(folder)]:
        found.update(path.name.encode() + _digest(path))
    return found.hexdigest()[:12]


def _digest(path: Path) -> bytes:
    size = path.stat().st_size
    with path.open("rb") as file:
        if size <= LARGE:
            return hashlib.file_digest(file, "sha256").digest()
        found = hashlib.sha256(str(size).encode() + file.read(END))
        file.seek(-END, 2)
        found.update(file.read())
    return found.digest()
