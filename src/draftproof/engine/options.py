"""What may be asked of a generation: one record, whose names are those of the command line and of the Python functions.

In: words and numbers. Out: the same, and as JSON. Ranges are judged by the parts that use them (`setup.py`), what does
not go together by `combinations.py`.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from reprlib import repr as shortened
from typing import Any, Literal

from draftproof.errors import UsageError
from draftproof.rules.catalogue import DEFAULT_RULE

__all__ = ["ALIASES", "NAMES", "Options", "from_json", "named", "to_json"]

ALIASES = {"num_assistant_tokens": "num_speculative_tokens", "num_draft_tokens": "num_speculative_tokens",
           "gamma": "num_speculative_tokens", "typical": "typical_p", "max_new_tokens": "max_tokens",
           "max_completion_tokens": "max_tokens", "stop_strings": "stop", "model": "drafter"}  # fmt: skip
"""Names of other engines for the same settings: transformers, mlx-lm, the papers, OpenAI, vLLM."""


@dataclass(frozen=True)
class Options:
    """What a user may ask of a generation; docs/reference/sampling.md says what each sampling control does."""

    prompt: str = ""
    target: str = "tiny:target"
    drafter: str = "tiny:draft"
    num_speculative_tokens: int | Literal["auto"] = 3
    max_tokens: int = 128
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    no_speculation: bool = False
    rule: str = DEFAULT_RULE
    tree: str = ""
    min_p: float = 0.0
    typical_p: float = 1.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: Mapping[int, float] = field(default_factory=dict[int, float])
    bad_words: tuple[str, ...] = ()
    allowed_token_ids: tuple[int, ...] = ()
    json_schema: str = ""
    regex: str = ""
    lark: str = ""
    draft_sampling: str = "same"
    min_tokens: int = 0
    stop: tuple[str, ...] = ()
    stop_token_ids: tuple[int, ...] = ()
    ignore_eos: bool = False
    n: int = 1
    chat: bool = False
    """The prompt is a user's message, which the target's chat template puts to it."""

    @property
    def speculates(self) -> bool:
        """Whether anything may be drafted."""
        return not self.no_speculation and self.num_speculative_tokens != 0 and self.drafter != "none"


_EMPTY = Options()
NAMES = {field.name: type(getattr(_EMPTY, field.name)) for field in fields(Options)}
"""The options of a run and what they are."""


def named(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings under this project's names.

    Raises:
        UsageError: if a name is unknown, or one setting comes under two names.
    """
    found: dict[str, Any] = {}
    names: dict[str, str] = {}
    for name, value in settings.items():
        own = ALIASES.get(name, name)
        if own not in NAMES:
            raise UsageError(f"there is no setting of this name; allowed are {', '.join(NAMES)}", name)
        if own in found:
            raise UsageError(f"it is the same setting as {names[own]}, which is given too; give one of them", name)
        found[own], names[own] = value, name
    return found


def to_json(options: Options) -> dict[str, Any]:
    """Return the options as a JSON object would come back when it is read."""
    found = asdict(options)
    for name, value in found.items():
        if isinstance(value, tuple):
            found[name] = list(value)
    return found | {"logit_bias": {str(token): bias for token, bias in options.logit_bias.items()}}


def from_json(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of options as `Options` takes them, from what a JSON file or a caller has.

    Raises:
        UsageError: if one is of the wrong type.
    """
    return {name: _value(name, value) for name, value in settings.items()}


def _value(name: str, value: Any) -> Any:
    kind = NAMES[name]
    if name == "num_speculative_tokens" and value == "auto":
        return value
    if name == "logit_bias":
        return _biases(value)
    if kind is tuple:
        return _several(name, value)
    if type(value) is kind or (kind is float and type(value) is int):
        return value
    raise UsageError(f"got {shortened(value)}; allowed is {_ALLOWED[kind]}", name)


def _several(name: str, value: Any) -> tuple[Any, ...]:
    kind = int if name.endswith("_ids") else str
    several = (value,) if isinstance(value, str) else value
    if not isinstance(several, list | tuple | set | frozenset) or not all(type(entry) is kind for entry in several):
        raise UsageError(f"got {shortened(value)}; allowed is a list, each entry {_ALLOWED[kind]}", name)
    return tuple(several)


def _biases(value: Any) -> dict[int, float]:
    try:
        found = {int(token): bias for token, bias in value.items()}
    except (AttributeError, TypeError, ValueError):
        found = None
    if found is None or not all(type(bias) in {int, float} for bias in found.values()):
        raise UsageError(f'got {shortened(value)}; allowed are numbers by token id, as {{"17": -100}}', "logit_bias")
    return found


_ALLOWED = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", tuple: "a list"}
