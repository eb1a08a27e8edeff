"""`threads=4&cache=f32`: settings behind the name of a model. In: text, what is allowed. Out: values, or a refusal."""

import re
from collections.abc import Callable, Mapping
from reprlib import repr as shortened
from typing import Any, NamedTuple

from draftproof.errors import UsageError

__all__ = ["SWITCH", "SWITCH_OR_AUTO", "Setting", "one_of", "read_query", "whole_number"]


class Setting(NamedTuple):
    """What a key may be set to."""

    allowed: str
    """For the refusal: "are true, false"."""
    read: Callable[[str], Any]
    """From what was typed to the value; KeyError or ValueError if it is not allowed."""


def read_query(query: str, settings: Mapping[str, Setting]) -> dict[str, Any]:
    """Return the values that a query sets.

    Raises:
        UsageError: if a key is unknown or given twice, or a value is not allowed.

    >>> read_query("flash=true", {"flash": SWITCH})
    {'flash': True}
    """
    found: dict[str, Any] = {}
    for part in query.split("&") if query else []:
        key, _, value = part.partition("=")
        if key not in settings:
            raise UsageError(f"there is no {shortened(key)} to set; allowed behind the ? are {', '.join(settings)}")
        if key in found:
            raise UsageError(f"{key} is given twice; give it once")
        try:
            found[key] = settings[key].read(value)
        except (KeyError, ValueError):
            raise UsageError(f"{key} is {shortened(value)}; allowed {settings[key].allowed}") from None
    return found


def one_of(values: Mapping[str, Any]) -> Setting:
    """Return a setting that is one of some words."""
    return Setting(f"are {', '.join(values)}", values.__getitem__)


def whole_number(least: int, most: int, allowed: str | None = None) -> Setting:
    """Return a setting that is a whole number between two others."""

    def read(value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", value, re.ASCII) or not least <= int(value) <= most:
            raise ValueError(value)
        return int(value)

    return Setting(allowed or f"are whole numbers from {least} to {most}", read)


SWITCH = one_of({"true": True, "false": False})
SWITCH_OR_AUTO = one_of({"auto": None, "true": True, "false": False})
