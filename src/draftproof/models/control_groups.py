"""What a container may still use. In: the control groups of this process. Out: free bytes, the fewest of its groups.

The system says how much memory the machine has, whoever asks; a container that is given less is killed when it takes
more. Linux has two versions of control groups, which keep the same numbers under other names; what files hold in memory
is given up when it is needed, so it counts as free.
"""

import math
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

__all__ = ["free_in_groups"]

GROUPS = Path("/proc/self/cgroup")
MOUNTED = Path("/sys/fs/cgroup")


class _Version(NamedTuple):
    """Where a version of control groups keeps its numbers."""

    root: str
    limit: str
    used: str
    files: tuple[str, str]


FIRST = _Version(
    "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file")
)
SECOND = _Version(".", "memory.max", "memory.current", ("inactive_file", "active_file"))


def free_in_groups() -> float:
    """Return how many bytes the groups of this process leave it; infinity if none has a limit that can be read."""
    return min((_free(folder, version) for folder, version in _folders()), default=math.inf)


def _folders() -> Iterator[tuple[Path, _Version]]:
    """Yield the group of this process and all that it lies in; in a container names of the host may not be there."""
    with suppress(OSError, ValueError):
        for line in GROUPS.read_text("utf-8").splitlines():
            _, controllers, name = line.split(":", 2)
            version = FIRST if "memory" in controllers.split(",") else SECOND if not controllers else None
            if version is not None:
                group = PurePosixPath(name.lstrip("/"))
                for part in (group, *group.parents):
                    yield MOUNTED / version.root / part, version


def _free(folder: Path, version: _Version) -> float:
    with suppress(OSError, ValueError):
        limit, used = (int((folder / name).read_text("ascii")) for name in (version.limit, version.used))
        lines = (line.split() for line in (folder / "memory.stat").read_text("ascii").splitlines())
        return max(0, limit - used + sum(int(value) for name, value in lines if name in version.files))
    return math.inf
