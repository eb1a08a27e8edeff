"""Reads the speculative configuration that vLLM takes, `{"method": "ngram", "num_speculative_tokens": 4}`.

In: JSON or a mapping. Out: settings by their names here. A key that means nothing here is refused, never ignored.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from draftproof.errors import UsageError

__all__ = ["settings_of_config"]

SETTING = "speculative_config"
METHODS = ("draft_model", "ngram", "suffix", "early_exit", "none")
_RULES = {"standard": "token", "block": "block"}
_KEYS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "num_speculative_tokens": lambda value: {"num_speculative_tokens": value},
    "rejection_sample_method": lambda value: {"rule": _one_of("rejection_sample_method", value, _RULES)},
    "rule": lambda value: {"rule": value},
    "tree": lambda value: {"tree": value},
}
_OF_DRAFTERS = ("method", "model", "prompt_lookup_min", "prompt_lookup_max", "early_exit_layers", "corpus")


def settings_of_config(config: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a configuration amounts to.

    Raises:
        UsageError: if it is no JSON object, or has a key or value that means nothing here.
    """
    found: dict[str, Any] = {}
    given = _read(config)
    if strange := [key for key in given if key not in {*_KEYS, *_OF_DRAFTERS}]:
        raise UsageError(f"got the key {strange[0]!r}; allowed are {', '.join([*_OF_DRAFTERS, *_KEYS])}", SETTING)
    for key, settings in _KEYS.items():
        if key in given:
            found |= settings(given[key])
    if any(key in given for key in _OF_DRAFTERS):
        found["drafter"] = _drafter(given)
    return found


def _read(config: str | Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        given = json.loads(config) if isinstance(config, str) else config
    except ValueError as error:
        raise UsageError(f"got {config!r}, which is no JSON ({error})", SETTING) from None
    if not isinstance(given, Mapping):
        raise UsageError(f"got {config!r}; allowed is a JSON object", SETTING)
    return given


def _drafter(given: Mapping[str, Any]) -> str:
    """Return the SPEC of the drafter; a model without a method is a draft model, as in vLLM."""
    method = _one_of("method", given.get("method", "draft_model"), {name: name for name in METHODS})
    used = {"draft_model": {"model"}, "ngram": {"prompt_lookup_min", "prompt_lookup_max"}, "suffix": {"corpus"},
            "early_exit": {"early_exit_layers"}, "none": set[str]()}[method]  # fmt: skip
    if idle := [key for key in _OF_DRAFTERS[1:] if key in given and key not in used]:
        raise UsageError(f"got {idle[0]!r}, which the method {method!r} does not use", SETTING)
    if method == "draft_model":
        return str(_needed(given, "model", method))
    if method == "ngram":
        longest = given.get("prompt_lookup_max", given.get("prompt_lookup_min", 5))
        return f"ngram:{given.get('prompt_lookup_min', longest)}-{longest}"
    if method == "early_exit":
        return f"early_exit:{_needed(given, 'early_exit_layers', method)}"
    return f"suffix:{given['corpus']}" if "corpus" in given else method


def _needed(given: Mapping[str, Any], key: str, method: str) -> Any:
    if key not in given:
        raise UsageError(f"the method {method!r} needs the key {key!r}", SETTING)
    return given[key]


def _one_of(key: str, value: Any, words: Mapping[str, str]) -> str:
    if not isinstance(value, str) or value not in words:
        raise UsageError(f"{key} is {value!r}; allowed are {', '.join(words)}", SETTING)
    return words[value]
