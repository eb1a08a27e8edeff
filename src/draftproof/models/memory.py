"""Whether what is to be loaded fits into memory. In: planned bytes, by what they are for, and free ones. Out: refusals.

It must never read or allocate what it plans for.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from draftproof.errors import UsageError
from draftproof.models.control_groups import free_in_groups

__all__ = ["check_room", "free_memory", "in_words"]

MEMINFO = Path("/proc/meminfo")
UNITS = ("bytes", "kB", "MB", "GB", "TB")


def check_room(parts: Mapping[str, int], free: int | None, where: str = "memory") -> None:
    """Refuse what needs more bytes than are free.

    Args:
        parts: planned bytes, by what they are for: "weights", "a cache of 4096 tokens".
        free: bytes; None if nobody can say, and nothing is refused then.
        where: what they are free of, for the error.

    Raises:
        UsageError: with each part, and what is free.

    >>> check_room({"weights": 3_100_000_000, "a cache of 9 tokens": 900_000}, 10**9)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    draftproof.errors.UsageError: needs 3.1 GB for weights and 900 kB for a cache of 9 tokens, but 1.0 GB of memory ...
    """
    if free is None or sum(parts.values()) <= free:
        return
    *most, last = (f"{in_words(size)} for {what}" for what, size in parts.items() if size)
    needed = f"{', '.join(most)} and {last}" if most else last
    raise UsageError(
        f"needs {needed}, but {in_words(free)} of {where} are free; choose a smaller model, dtype or context"
    )


def free_memory() -> int | None:
    """Return how many bytes this machine or container can still give to a program; None where it does not say."""
    with suppress(OSError, ValueError, IndexError):
        for line in MEMINFO.read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(min(int(line.split()[1]) * 1024, free_in_groups()))
    return None


def in_words(size: float) -> str:
    """Return bytes as people write them.

    >>> in_words(512), in_words(1_117_320_768), in_words(98_362_432)
    ('512 bytes', '1.1 GB', '98 MB')
    """
    number, unit = float(size), 0
    while number >= 1000 and unit < len(UNITS) - 1:
        number, unit = number / 1000, unit + 1
    return f"{number:.1f} {UNITS[unit]}" if 0 < number < 10 and unit else f"{number:.0f} {UNITS[unit]}"
