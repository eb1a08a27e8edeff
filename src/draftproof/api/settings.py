"""The settings that `generate` and `stream` take, typed, and how they become `Options`.

In: keyword arguments, under this project's names or those of other engines. Out: `Options`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypedDict

from draftproof.api.speculative_config import settings_of_config
from draftproof.engine.options import Options, from_json, named
from draftproof.errors import UsageError

__all__ = ["Settings", "options_of"]


class Settings(TypedDict, total=False):
    """Keyword arguments of `generate` and `stream`; docs/reference/sampling.md has ranges and neutral values."""

    target: str
    drafter: str
    num_speculative_tokens: int | Literal["auto"]
    max_tokens: int
    temperature: float
    top_k: int
    top_p: float
    seed: int
    no_speculation: bool
    rule: str
    tree: str
    min_p: float
    typical_p: float
    repetition_penalty: float
    presence_penalty: float
    frequency_penalty: float
    logit_bias: Mapping[int, float]
    bad_words: Sequence[str]
    allowed_token_ids: Sequence[int]
    json_schema: str
    regex: str
    lark: str
    draft_sampling: Literal["same", "raw"]
    min_tokens: int
    stop: str | Sequence[str]
    stop_token_ids: Sequence[int]
    ignore_eos: bool
    n: int
    chat: bool
    speculative_config: str | Mapping[str, Any]
    num_assistant_tokens: int
    num_draft_tokens: int
    gamma: int
    max_new_tokens: int
    max_completion_tokens: int
    stop_strings: str | Sequence[str]


def options_of(prompt: str, settings: Mapping[str, Any], beside: Options = Options()) -> Options:  # noqa: B008 (frozen)
    """Return the options that settings amount to; what they do not say is as in `beside`.

    Raises:
        UsageError: if a name is unknown or given twice, or a value is of the wrong type.
    """
    given = dict(settings)
    config = settings_of_config(given.pop("speculative_config")) if "speculative_config" in given else {}
    own = named(given)
    if twice := sorted(own.keys() & config.keys()):
        raise UsageError(f"speculative_config gives it too, as {config[twice[0]]!r}; give one of them", twice[0])
    values: dict[str, Any] = from_json(own | config)
    return replace(beside, prompt=prompt, **values)
