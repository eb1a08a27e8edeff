"""Anything that is a Python function: it is called with a prompt, a seed and a length, and returns token ids.

In: MODULE:FUNCTION, looked for in the working folder too. Out: what it returns: a list of ids, or an `Answer`. By name
it may also take `speculative` (then there is a control arm), `target` and `drafter` (where the pair is), `method`,
`num_speculative_tokens`, and any sampling setting.
"""

import importlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from draftproof.audit.base import Answer, Asked, Request

__all__ = ["CLAIMS", "DRAFTED", "EXTRA", "FORMAT", "LIBRARY", "METHODS", "NoControlArmError", "start"]

LIBRARY = ""
EXTRA = ""
FORMAT = "hf"
METHODS = ("draft", "lookup")
"""What it does is its own affair; a lookup is bet against with lookups in mind."""
DRAFTED = METHODS[:1]
CLAIMS = (
    "repetition_penalty", "presence_penalty", "frequency_penalty", "temperature", "top_k", "top_p", "min_p",
)  # fmt: skip
CALLED = 3
"""prompt, seed, length."""


class NoControlArmError(Exception):
    """The engine cannot be asked not to speculate."""


def start(asked: "Asked") -> "_Running":
    """See `Subject.start`."""
    return _Running(asked)


class _Running:
    """See `Running`."""

    def __init__(self, asked: "Asked") -> None:
        module, _, name = asked["options"]["address"].partition(":")
        sys.path.insert(0, str(Path.cwd()))
        self._function = getattr(importlib.import_module(module), name)
        told: dict[str, Any] = {name: asked[name] for name in asked if name not in ("settings", "options")}  # type: ignore[literal-required]
        self._told = _taken(self._function, told | asked["settings"])
        if not asked["speculative"] and "speculative" not in self._told:
            raise NoControlArmError(f"{module}:{name} has no parameter `speculative`, so it cannot be told not to")
        self._counters: dict[str, int] | None = None
        self.versions: Mapping[str, str] = {"python": sys.version.split()[0]}

    def sample(self, requests: "Sequence[Request]") -> "list[Answer]":
        """See `Running.sample`."""
        answers: list[Any] = []
        for one in requests:
            found = self._function(list(one["prompt"]), one["seed"], one["max_tokens"], **self._told)
            answer = dict(found) if isinstance(found, Mapping) else {"tokens": found}
            if isinstance(answer["tokens"], str):
                answer |= {"tokens": [], "text": answer["tokens"]}
            answer["tokens"] = [int(token) for token in answer["tokens"]]
            self._count(answer.get("rounds"))
            answers.append(answer)
        return answers

    def counters(self) -> Any:
        """See `Running.counters`: what the rounds add up to, if the function tells them."""
        return self._counters

    def close(self) -> None:
        """See `Running.close`."""

    def _count(self, rounds: Any) -> None:
        if rounds is not None:
            before = self._counters or {"drafted": 0, "accepted": 0}
            drafted = sum(drafted for drafted, _ in rounds)
            accepted = sum(max(0, min(drafted, emitted - 1)) for drafted, emitted in rounds)
            self._counters = {"drafted": before["drafted"] + drafted, "accepted": before["accepted"] + accepted}


def _taken(function: Any, told: dict[str, Any]) -> dict[str, Any]:
    """Return what the function takes by name, of all it can be told."""
    parameters = inspect.signature(function).parameters.values()
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters):
        return told
    names = [one.name for one in list(parameters)[CALLED:]]
    return {name: told[name] for name in names if name in told}
