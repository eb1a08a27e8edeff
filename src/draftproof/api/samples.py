"""What a generation returns: texts with their tokens, log-probabilities, counts and the reason of their end.

In: the passes of one text. Out: a `Sample`; the samples of a prompt together, `Generated`. All parts of a sample end at
the same token.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from draftproof.engine.logprobs import Scored, scored
from draftproof.engine.passes import Pass
from draftproof.engine.setup import Run
from draftproof.records import PassRecord, Trace

__all__ = ["Collector", "Generated", "Sample", "sample_json", "usage"]


@dataclass(frozen=True)
class Sample:
    """One text that goes on from a prompt."""

    text: str
    """The text of `token_ids`, special tokens left out; a stop string that ended it is its end."""
    token_ids: tuple[int, ...]
    finish_reason: str
    """`stop`, `length`, `interrupted`, or `error`."""
    stop_reason: str | int | None
    """The stop string or token that ended it."""
    logprobs: tuple[Scored, ...] | None
    """One for each token, if they were asked for."""
    trace: Trace
    error: str | None = None
    """What ended it, if nothing of the above."""


@dataclass(frozen=True)
class Generated:
    """All samples of one prompt; the properties are those of the first."""

    prompt: str
    prompt_token_ids: tuple[int, ...]
    samples: tuple[Sample, ...]

    @property
    def text(self) -> str:
        """See `Sample.text`."""
        return self.samples[0].text

    @property
    def token_ids(self) -> tuple[int, ...]:
        """See `Sample.token_ids`."""
        return self.samples[0].token_ids

    @property
    def trace(self) -> Trace:
        """See `Sample.trace`."""
        return self.samples[0].trace


@dataclass
class Collector:
    """Takes in the passes of one text.

    Args:
        run: what they belong to.
        logprobs: how many alternatives to keep beside each token's log-probability; None keeps nothing.
    """

    run: Run
    logprobs: int | None = None
    records: list[PassRecord] = field(default_factory=list)
    scores: list[Scored] = field(default_factory=list)
    reason: str = "length"
    stopped_by: str | int | None = None
    error: str | None = None

    def add(self, done: Pass) -> None:
        """Take in the next pass."""
        self.records.append(done.record())
        self.reason, self.stopped_by = done.finish_reason or self.reason, done.stopped_by
        if self.logprobs is not None:
            self.scores += scored(done, self.run.engine.target.row_kind, self.logprobs)

    def fail(self, error: Exception) -> None:
        """End the text because of an error."""
        self.reason, self.error = "error", str(error)

    def sample(self, seconds: float) -> Sample:
        """Return the text as far as it came, and what it took."""
        trace = Trace(tuple(self.run.prompt), tuple(self.records), self.reason, seconds)
        text, kept = self.run.tokenizer.decode(trace.token_ids), None if self.logprobs is None else tuple(self.scores)
        return Sample(text, trace.token_ids, self.reason, self.stopped_by, kept, trace, self.error)


def usage(prompt_tokens: int, samples: Sequence[Sample]) -> dict[str, int]:
    """Return the counts of tokens as servers report them: the prompt once, all samples together."""
    completion = sum(len(sample.token_ids) for sample in samples)
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion,
        "total_tokens": prompt_tokens + completion,
    }


def sample_json(sample: Sample) -> dict[str, Any]:
    """Return a sample as a JSON object, without its trace."""
    found: dict[str, Any] = {
        "text": sample.text,
        "token_ids": list(sample.token_ids),
        "finish_reason": sample.finish_reason,
        "stop_reason": sample.stop_reason,
    }
    if sample.logprobs is not None:
        found["logprobs"] = _logprobs(sample.logprobs)
    return found if sample.error is None else found | {"error": sample.error}


def _logprobs(scores: Sequence[Scored]) -> list[dict[str, Any]]:
    """Return log-probabilities as JSON objects; null stands for minus infinity, which JSON lacks."""
    numbers = ("logprob", "raw_logprob")
    return [each._asdict() | {name: _finite(getattr(each, name)) for name in numbers} for each in scores]


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
