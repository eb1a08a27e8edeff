"""What an audit asks of an engine. In: nothing. Out: contracts, plain enough to be passed between processes as JSON.

A member of `subjects/` is a module. It runs in a process of its own, in an environment that need not have this package,
so it imports the standard library and, within its functions, its own engine; nothing else.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, Protocol, TypedDict

__all__ = ["Answer", "Asked", "Counters", "Request", "Running", "Subject"]


class Asked(TypedDict):
    """How an engine is to be started."""

    target: str
    """Where the target is: a folder or a file in the subject's format; for an address, the name of the model."""
    drafter: str
    """Where the draft model is; empty if the method needs none."""
    speculative: bool
    """False for the control arm: the same engine, everything the same, but it drafts nothing."""
    method: str
    """One of the subject's `METHODS`."""
    num_speculative_tokens: int
    settings: dict[str, float]
    """Sampling settings under the names of `CLAIMS`. All of them are to be handed to the engine, neutral ones too:
    engines have defaults of their own."""
    max_tokens: int
    """The longest completion that will be asked for."""
    options: dict[str, Any]
    """What only this subject knows: an address, the name of a function."""


class Request(TypedDict):
    """A completion that is asked for."""

    prompt: list[int]
    text: NotRequired[str]
    """Instead of ids, where nobody here has the engine's tokenizer."""
    seed: int
    """0 .. 2^32 - 1; no two requests of an audit share one."""
    max_tokens: int


class Answer(TypedDict):
    """What came."""

    tokens: list[int]
    """As the engine drew them, the one that ended the text with them."""
    strings: NotRequired[list[str]]
    """Instead of ids, if the engine does not tell them: the exact string of each token."""
    text: NotRequired[str]
    """Instead of both, if the engine tells neither."""
    logprobs: NotRequired[list[float | None]]
    """Of each token, as the engine reports it, after all warping if it says so; absent if it reports none."""
    rounds: NotRequired[list[list[int]]]
    """[drafted, emitted] of each pass of the target in order, the emitted ones adding up to `tokens`; absent if the
    engine does not tell."""


class Counters(TypedDict):
    """How much was drafted since the start."""

    drafted: int
    accepted: int


class Running(Protocol):
    """An engine that was started."""

    versions: Mapping[str, str]
    """Of the engine, and of what its numbers depend on."""

    def sample(self, requests: Sequence[Request]) -> list[Answer]:
        """Return the completions, in order."""
        ...

    def counters(self) -> Counters | None:
        """Return how much was drafted; None if the engine does not say."""
        ...

    def close(self) -> None:
        """Stop what was started."""
        ...


class Subject(Protocol):
    """A member of `subjects/`."""

    LIBRARY: str
    """What has to be importable where it runs; empty if nothing."""
    EXTRA: str
    """The extra of this package that lists what it needs; empty if nothing."""
    FORMAT: str
    """How it reads models: `hf`, `gguf` or `openvino`; empty if it has its own."""
    METHODS: tuple[str, ...]
    """How it can speculate, under the names of its own documentation; the first is what is audited unless told."""
    DRAFTED: tuple[str, ...]
    """Those methods that need a draft model."""
    CLAIMS: tuple[str, ...]
    """The sampling settings that it says it honours, in the order in which it says that it applies them."""

    @staticmethod
    def start(asked: Asked) -> Running:
        """Start the engine; any exception says why it cannot be."""
        ...
