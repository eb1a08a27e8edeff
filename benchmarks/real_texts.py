"""What the real models are asked: to complete, explain and mend short functions, and to repeat a file with one change.

The texts are in benchmarks/texts, divided by lines of four dashes. Each kind has prompts to measure with and others to
plan with, so that no plan has seen what it is held to.
"""

from pathlib import Path
from typing import NamedTuple

TEXTS = Path(__file__).parent / "texts"
MESSAGE = "USER: "
RENAMED = ("balance", "settings", "ordered", "attempts", "median", "size", "groups", "widths")
"""A name for each request to edit; the last half is there to plan with."""


class Asked(NamedTuple):
    """A prompt; one that is a user's message goes through the chat template."""

    text: str
    chat: bool


def asked(name: str) -> list[Asked]:
    """Return the prompts of a file."""
    return [Asked(text.removeprefix(MESSAGE), text.startswith(MESSAGE)) for text in _divided(name)]


def edits() -> list[Asked]:
    """Return requests to print a file of 120 lines again, four to measure and four with half of it to plan.

    The parts of the file stand in another order each time.
    """
    parts, found = _divided("file_to_edit"), []
    for i, name in enumerate(RENAMED):
        chosen = [*parts[i:], *parts[:i]][: len(parts) if i < len(RENAMED) // 2 else len(parts) // 2]
        file = "\n\n\n".join(["import argparse\nimport time", *chosen])
        change = f"with the name {name} changed to {name}_1 and nothing else changed"
        message = f"Print this file again, whole, {change}. Only the code.\n\n```python\n{file}\n```"
        found.append(Asked(message, chat=True))
    return found


def _divided(name: str) -> list[str]:
    return (TEXTS / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n").split("\n----\n")
