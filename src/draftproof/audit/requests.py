"""What an engine is asked for: prompts and seeds by number, so that an audit can go on where it was interrupted.

In: options, the reference's tokenizer. Out: the n-th request of an arm, the same on every machine.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from draftproof.api.prompt_lines import read_lines
from draftproof.audit.base import Request
from draftproof.audit.options import Options
from draftproof.audit.probe import BOS, SPECIAL
from draftproof.engine.options import Options as Settings
from draftproof.errors import UsageError
from draftproof.models.tokenizer import Tokenizer

__all__ = ["ARMS", "ASIDE", "Numbered", "Requests", "Texts"]

ARMS = ("control", "speculative")
ASIDE = 2**29
"""The number of the first request with which seeds are tried out, far from all others."""
LETTERS = 12
"""Of a prompt for a probe pair, which end in a repeated pair, so that lookups find something."""
SPREAD = 2654435769
"""Odd, so that different numbers become different seeds, far apart."""
SEEDS = 2**32


class Numbered(Protocol):
    """Requests by arm and number."""

    ends: frozenset[int]
    """Tokens that end a text; empty where nobody knows them."""

    def numbered(self, arm: str, number: int) -> Request:
        """Return request `number` of an arm, from 0."""
        ...


class Requests:
    """Every request of an audit."""

    def __init__(self, options: Options, tokenizer: Tokenizer, vocab_size: int, context_limit: int) -> None:
        self._options, self._vocab_size, self.ends = options, vocab_size, tokenizer.eos
        self._prompts = _prompts(options, tokenizer)
        longest = max(map(len, self._prompts), default=1 + LETTERS) + options.max_tokens
        if longest > context_limit:
            raise UsageError(
                f"a prompt and its completion take {longest} tokens; the reference's context holds {context_limit}",
                "max_tokens",
            )

    def numbered(self, arm: str, number: int) -> Request:
        """See `Numbered.numbered`."""
        seed = _seed(self._options, arm, number)
        return {"prompt": self.prompt(number), "seed": seed, "max_tokens": self._options.max_tokens}

    def prompt(self, number: int) -> list[int]:
        """Return the prompt of a request; of a replay there are few, in turn."""
        if self._options.replay:
            number %= self._options.replay[0]
        if self._prompts:
            return list(self._prompts[number % len(self._prompts)])
        random = np.random.default_rng([self._options.seed, number])
        letters: list[int] = random.integers(len(SPECIAL), self._vocab_size, LETTERS).tolist()
        return [BOS, *letters[:-2], *letters[:2]]


class Texts:
    """The same where nobody here has the tokenizer: prompts are sent as they are written."""

    ends: frozenset[int] = frozenset()

    def __init__(self, options: Options) -> None:
        if options.prompts is None:
            raise UsageError("a model that is not known here needs prompts: name a file, a prompt a line", "prompts")
        if options.chat:
            raise UsageError("a chat template takes the model's tokenizer: name the model by --target", "chat")
        self._options, self._texts = options, _read(options.prompts)

    def numbered(self, arm: str, number: int) -> Request:
        """See `Numbered.numbered`."""
        text, seed = self._texts[number % len(self._texts)], _seed(self._options, arm, number)
        return {"prompt": [], "text": text, "seed": seed, "max_tokens": self._options.max_tokens}


def _seed(options: Options, arm: str, number: int) -> int:
    base = int.from_bytes(hashlib.sha256(str(options.seed).encode()).digest()[:4], "big")
    return (base + len(ARMS) * number + ARMS.index(arm)) * SPREAD % SEEDS


def _prompts(options: Options, tokenizer: Tokenizer) -> Sequence[Sequence[int]]:
    """Return the prompts of a file, a line each (of a .jsonl an object); none if there is no file."""
    if options.prompts is None:
        if options.target:
            raise UsageError("models of your own need prompts of your own: name a file, a prompt a line", "prompts")
        return ()
    return [tokenizer.chat(text) if options.chat else tokenizer.encode(text) for text in _read(options.prompts)]


def _read(file: Path) -> list[str]:
    try:
        if file.suffix == ".jsonl":
            texts = [line.prompt for line in read_lines(file, Settings())]
        else:
            texts = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"got {str(file)!r}: {reason}", "prompts") from None
    if not texts:
        raise UsageError(f"got {str(file)!r}, in which there is no prompt", "prompts")
    return texts
