"""Reads settings that are more than a number from the command line: lists, biases, grammars in files.

In: words as typed. Out: what `Options` takes, or a refusal that names the option.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from draftproof.errors import UsageError

__all__ = ["settings_of"]


def settings_of(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that options amount to.

    Raises:
        UsageError: if a word is not of the form that its option has.
    """
    return {name: _READERS[name](value) if name in _READERS else value for name, value in typed.items()}


def _biases(words: Sequence[str]) -> dict[int, float]:
    """Read `17=-100`, repeated, or one JSON object."""
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        return _object(words[0])
    found: dict[int, float] = {}
    for word in words:
        token, _, bias = word.partition("=")
        try:
            number, value = int(token), float(bias)
        except ValueError:
            raise _biases_refused(word) from None
        if number in found:
            raise UsageError(
                f"got {shortened(word)}, but the token {number} has a bias already; give one", "logit_bias"
            )
        found[number] = value
    return found


def _object(word: str) -> dict[int, float]:
    try:
        found = {int(token): bias for token, bias in json.loads(word).items()}
    except (ValueError, RecursionError):
        raise _biases_refused(word) from None
    return found


def _biases_refused(word: str) -> UsageError:
    return UsageError(
        f'got {shortened(word)}; allowed are ID=BIAS, as 17=-100, and JSON, as {{"17": -100}}', "logit_bias"
    )


def _ids(setting: str) -> Callable[[str], tuple[int, ...]]:
    def read(word: str) -> tuple[int, ...]:
        try:
            return tuple(int(entry) for entry in word.split(","))
        except ValueError:
            raise UsageError(f"got {shortened(word)}; allowed are token ids with commas, as 17,18", setting) from None

    return read


def _schema(word: str) -> str:
    """Return JSON as it is; anything else is the name of a file that holds it."""
    try:
        json.loads(word)
    except (ValueError, RecursionError):
        return _content(word, "json_schema", "a JSON schema")
    return word


def _lark(word: str) -> str:
    """Return a grammar as it is; what has no rule in it, which takes a colon, is the name of a file."""
    return word if ":" in word and not _is_file(word) else _content(word, "lark", "a grammar (start: ...)")


def _is_file(word: str) -> bool:
    try:
        return Path(word).is_file()
    except (OSError, ValueError):  # too long for a name, or a zero byte in it
        return False


def _content(word: str, setting: str, what: str) -> str:
    try:
        return Path(word).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        allowed = f"allowed are {what} and the name of a file that holds one"
        raise UsageError(f"got {shortened(word)}, as a file: {reason}; {allowed}", setting) from None


_READERS: dict[str, Callable[[Any], Any]] = {
    "logit_bias": _biases,
    "allowed_token_ids": _ids("allowed_token_ids"),
    "stop_token_ids": _ids("stop_token_ids"),
    "json_schema": _schema,
    "lark": _lark,
}
