"""The prompts that `measure` is told to use. In: names of workloads, files. Out: texts by workload; a name for these.

A file is one prompt a line; if its name ends in .jsonl, a JSON object a line, whose prompt may have many lines.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from draftproof.api.prompt_lines import read_lines
from draftproof.economics.machine import digest
from draftproof.economics.workloads import WORKLOADS
from draftproof.engine.options import Options
from draftproof.errors import UsageError

__all__ = ["prompts_digest", "prompts_of"]


def prompts_of(workloads: Sequence[str], files: Sequence[Path]) -> dict[str, tuple[str, ...]]:
    """Return prompts by workload: those named, and those in files; all that are built in if none is.

    Raises:
        UsageError: if a workload or file is none.
    """
    if unknown := [name for name in workloads if name not in WORKLOADS]:
        raise UsageError(f"got {unknown[0]!r}; allowed are {', '.join(WORKLOADS)}", "workload")
    names = workloads or ([] if files else list(WORKLOADS))
    found = {name: WORKLOADS[name] for name in names}
    for path in files:
        if path.stem in found:
            raise UsageError(f"got {str(path)!r}; there is a workload {path.stem} already", "prompts")
        found[path.stem] = _objects(path) if path.suffix == ".jsonl" else _lines(path)
    return found


def prompts_digest(prompts: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return a name for the prompts of each workload, so that other prompts are another measurement."""
    return {name: digest(list(some)) for name, some in prompts.items()}


def _lines(path: Path) -> tuple[str, ...]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"got {str(path)!r}: {reason}; a file has one prompt a line", "prompts") from None
    return tuple(line for line in lines if line.strip())


def _objects(path: Path) -> tuple[str, ...]:
    lines = read_lines(path, Options())
    for line in lines:
        if line.settings:
            name = next(iter(line.settings))
            told = (
                f"{path}, line {line.number}: got {name}; one setting holds for all prompts here, give it as an option"
            )
            raise UsageError(told, "prompts")
    return tuple(line.prompt for line in lines)
