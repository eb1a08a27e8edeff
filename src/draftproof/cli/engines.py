"""From what a user types after `--engine` to what the witnesses examine. In: a word. Out: a way to assemble engines."""

import importlib
from collections.abc import Callable
from typing import Any, cast

from draftproof.engine.loop import Engine
from draftproof.errors import UsageError
from draftproof.redteam.campaign import tamper_named
from draftproof.rules.catalogue import rule_named
from draftproof.witness.base import Decoder, Subject

__all__ = ["ENGINES", "SHIPPED", "subject_for"]

SHIPPED = "shipped"
ENGINES = "shipped, tamper:NAME (see `draftproof attack`), or MODULE:FUNCTION, which gets an Engine and returns one"


def subject_for(rule: str, engine: str) -> Subject:
    """Return the subject: a rule in the shipped engine, in a tampered one, or in one of the user's own.

    Raises:
        UsageError: if rule or engine name nothing.
    """
    named = rule_named(rule)
    branching = (2,) if named.branches else ()
    if engine == SHIPPED:
        return Subject(rule, named, branching)
    place, _, name = engine.partition(":")
    if not place or not name:
        raise UsageError(f"got {engine!r}; allowed are {ENGINES}", "engine")
    if place == "tamper":
        return tamper_named(name).subject
    return Subject(f"{rule} in {engine}", named, branching, _function(place, name, engine))


def _function(module: str, name: str, engine: str) -> Callable[[Engine], Decoder]:
    try:
        found: Any = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"got {engine!r}, but {error}; allowed are {ENGINES}", "engine") from None
    if not callable(found):
        raise UsageError(f"got {engine!r}, which is a {type(found).__name__}; a function is needed", "engine")
    return cast("Callable[[Engine], Decoder]", found)
