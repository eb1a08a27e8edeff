"""Reads a file of prompts, a line of JSON each, `{"prompt": "In the beginning", "top_p": 0.9}`, and checks every line.

In: a path, and the settings of lines that do not say otherwise. Out: lines, all of them good as far as that can be said
without a model; or the first that is not.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, NamedTuple

from draftproof.api.settings import Settings, options_of
from draftproof.engine.options import Options
from draftproof.engine.setup import check_options
from draftproof.errors import UsageError

__all__ = ["Line", "read_lines"]

KEYS = ("prompt", "id", *Settings.__annotations__)


class Line(NamedTuple):
    """A prompt of the file."""

    number: int
    """Which line of the file, from 1."""
    id: str | int | None
    prompt: str
    settings: Mapping[str, Any]
    """Those of this line alone."""

    def options(self, beside: Options) -> Options:
        """Return the options of this line; what it does not say is as in `beside`."""
        return options_of(self.prompt, self.settings, beside)


def read_lines(path: Path, beside: Options) -> list[Line]:
    """Return the lines of a file that are not blank.

    Raises:
        UsageError: if the file cannot be read or has no prompt, or at the first line that is none.
    """
    found: list[Line] = []
    ids: dict[str | int, int] = {}
    number = 0
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                found.extend(_read(raw, number, beside, ids))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"got {shortened(str(path))}: {getattr(error, 'strerror', None) or error}", "prompts"
        ) from None
    except UsageError as error:
        raise UsageError(f"{path}, line {number}: {error}", "prompts") from None
    if not found:
        raise UsageError(f'got {str(path)!r}, which has no line; allowed are lines as {{"prompt": "Once"}}', "prompts")
    return found


def _read(raw: bytes, number: int, beside: Options, ids: dict[str | int, int]) -> Iterator[Line]:
    content = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
    if not content.strip():
        return
    parts = _object(content)
    if strange := [key for key in parts if key not in KEYS]:
        raise UsageError(f"got the key {strange[0]!r}; allowed are {', '.join(KEYS)}")
    prompt, name = parts.pop("prompt", None), parts.pop("id", None)
    if not isinstance(prompt, str):
        came = "there is none" if prompt is None else f"got {shortened(prompt)}"
        raise UsageError(f"{came}; allowed is a text", "prompt")
    if type(name) not in {str, int, type(None)}:
        raise UsageError(f"got {shortened(name)}; allowed are texts and whole numbers", "id")
    if name is not None and ids.setdefault(name, number) != number:
        raise UsageError(f"got {shortened(name)}, which is that of line {ids[name]} too; give each its own", "id")
    line = Line(number, name, prompt, parts)
    if parts:
        check_options(line.options(beside))
    yield line


def _object(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content.decode(), object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        raise UsageError(f"byte {error.start + 1} is no UTF-8; allowed are lines of JSON in UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"got {shortened(content.decode().strip())}, which is no JSON ({error}); {_LINES}") from None
    if not isinstance(found, dict):
        raise UsageError(f"got {shortened(found)}; {_LINES}")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise UsageError(f"got the key {twice!r} twice; give it once")
    return found


_LINES = 'allowed is an object a line, as {"prompt": "Once", "top_p": 0.9}'
