"""What may be asked of an audit, as the command line names it. In: words and numbers. Out: the same, in range."""

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from draftproof.errors import UsageError

__all__ = ["NEUTRAL", "Options", "check"]

NEUTRAL: dict[str, float] = {
    "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0,
    "temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0,
}  # fmt: skip
"""The sampling settings that engines share, and the values at which they change nothing."""
MOST_REPLAYED = 64, 10**6
"""Prompts, and how often each is asked for."""
LONGEST, MOST_TOGETHER, MOST_WORKERS, MOST_TOKENS = 4096, 1024, 16, 10**9


@dataclass(frozen=True)
class Options:
    """See the options of `draftproof audit`."""

    subject: str
    probe: str = "64"
    target: str = ""
    drafter: str = ""
    reference: str = ""
    method: str = ""
    num_speculative_tokens: int = 4
    settings: dict[str, float] = field(default_factory=lambda: dict(NEUTRAL))
    prompts: Path | None = None
    chat: bool = False
    max_tokens: int = 32
    max_tokens_total: int = 100_000
    eps: float = 0.02
    eta: float = 1e-5
    seed: int = 0
    batch_size: int = 16
    workers: int = 1
    timeout: float = 60.0
    replay: tuple[int, int] | None = None
    black_box: bool = False
    control: str = ""
    python: str = ""
    option: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def greedy(self) -> bool:
        """Whether every law is a point."""
        return self.settings["temperature"] == 0

    def to_json(self) -> dict[str, Any]:
        """Return what the result depends on, as JSON."""
        told = asdict(self) | {"prompts": None if self.prompts is None else str(self.prompts)}
        return {name: value for name, value in told.items() if name not in {"workers", "timeout", "python"}}


def check(options: Options) -> None:
    """Refuse what is out of range; sampling settings are judged where laws are made.

    Raises:
        UsageError: naming the option.
    """
    _whole("num_speculative_tokens", options.num_speculative_tokens, 1, 64)
    _whole("max_tokens", options.max_tokens, 2, LONGEST)
    _whole("max_tokens_total", options.max_tokens_total, options.max_tokens, MOST_TOKENS)
    _whole("batch_size", options.batch_size, 1, MOST_TOGETHER)
    _whole("workers", options.workers, 1, MOST_WORKERS)
    _whole("seed", options.seed, 0, 2**32 - 1)
    _between("eps", options.eps, 0.001, 0.5)
    _between("eta", options.eta, 0.0, 1.0)
    _between("timeout", options.timeout, 0.1, 86_400.0)
    _check_kind(options)


def _check_kind(options: Options) -> None:
    """Refuse kinds of audits that do not go together."""
    if options.greedy and (options.replay or options.black_box):
        name = "replay" if options.replay else "black_box"
        raise UsageError("at temperature 0 a text is what it is: audit without this option", name)
    if options.replay and options.black_box:
        raise UsageError("a replay compares with the reference's laws, a black box has none: choose one", "black_box")
    for count, most in zip(options.replay or (), MOST_REPLAYED, strict=False):
        _whole("replay", count, 1, most)


def _whole(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise UsageError(f"got {value}; allowed are whole numbers from {least:,} to {most:,}", name)


def _between(name: str, value: float, least: float, most: float) -> None:
    if not (math.isfinite(value) and least <= value <= most):
        raise UsageError(f"got {value}; allowed are numbers from {least:g} to {most:g}", name)
