"""What an engine is asked for: prompts and seeds by number, so that an audit can go on where it was interrupted.

In: options, the reference's tokenizer. Out: the n-th request of an arm, the same on every machine.
"""

import hashlib
from collections.abc import Sequence

import numpy as np

from draftproof.api.prompt_lines import read_lines
from draftproof.audit.base import Request
from draftproof.audit.options import Options
from draftproof.audit.probe import BOS, SPECIAL
from draftproof.engine.options import Options as Settings
from draftproof.errors import UsageError
from draftproof.models.tokenizer import Tokenizer

__all__ = ["ARMS", "Requests"]

ARMS = ("control", "speculative")
LETTERS = 12
"""Of a prompt for a probe pair, which end in a repeated pair, so that lookups find something."""
SPREAD = 2654435769
"""Odd, so that different numbers become different seeds, far apart."""
SEEDS = 2**32


class Requests:
    """Every request of an audit."""

    def __init__(self, options: Options, tokenizer: Tokenizer, vocab_size: int, context_limit: int) -> None:
        self._options, self._vocab_size, self.ends = options, vocab_size, tokenizer.eos
        self._base = int.from_bytes(hashlib.sha256(str(options.seed).encode()).digest()[:4], "big")
        self._prompts = _prompts(options, tokenizer)
        longest = max(map(len, self._prompts), default=1 + LETTERS) + options.max_tokens
        if longest > context_limit:
            raise UsageError(
                f"a prompt and its completion take {longest} tokens; the reference's context holds {context_limit}",
                "max_tokens",
            )

    def numbered(self, arm: str, number: int) -> Request:
        """Return request `number` of an arm, from 0."""
        seed = (self._base + len(ARMS) * number + ARMS.index(arm)) * SPREAD % SEEDS
        return {"prompt": self._prompt(number), "seed": seed, "max_tokens": self._options.max_tokens}

    def _prompt(self, number: int) -> list[int]:
        if self._prompts:
            return list(self._prompts[number % len(self._prompts)])
        random = np.random.default_rng([self._options.seed, number])
        letters: list[int] = random.integers(len(SPECIAL), self._vocab_size, LETTERS).tolist()
        return [BOS, *letters[:-2], *letters[:2]]


def _prompts(options: Options, tokenizer: Tokenizer) -> Sequence[Sequence[int]]:
    """Return the prompts of a file, a line each (of a .jsonl an object); none if there is no file."""
    if options.prompts is None:
        if options.target:
            raise UsageError("models of your own need prompts of your own: name a file, a prompt a line", "prompts")
        return ()
    try:
        if options.prompts.suffix == ".jsonl":
            texts = [line.prompt for line in read_lines(options.prompts, Settings())]
        else:
            texts = [line for line in options.prompts.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"got {str(options.prompts)!r}: {reason}", "prompts") from None
    if not texts:
        raise UsageError(f"got {str(options.prompts)!r}, in which there is no prompt", "prompts")
    return [tokenizer.chat(text) if options.chat else tokenizer.encode(text) for text in texts]
