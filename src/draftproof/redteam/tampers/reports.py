"""What is told of a pass: log-probabilities and counts that do not belong to the text, which itself is right.

In: passes. Out: the same passes, told otherwise. It must never change a token.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.redteam.base import Tamper
from draftproof.redteam.handed import retold
from draftproof.types import Tokens
from draftproof.warpers.pipeline import Pipeline
from draftproof.witness.base import Decoder

__all__ = ["TAMPERS"]

FAMILY = "reports"
SEEN = ("report",)


def _said(logprobs_of: Callable[[Pass], Sequence[float]]) -> Callable[[Engine], Decoder]:
    return retold(lambda engine, text, done: replace(done, logprobs=tuple(logprobs_of(done))))


def _log(chance: float) -> float:
    return math.log(chance) if chance > 0 else -math.inf


def _of_the_draft(done: Pass) -> Sequence[float]:
    own = [_log(law[token]) for law, token in zip(done.draft, done.emitted, strict=False)]
    return [*own, *done.logprobs[len(own) :]]


def _of_rows(rows_of: Callable[[int, int], int]) -> Callable[[Engine], Decoder]:
    """Return what reports of each token the probability in another row: rows_of(its row, the last row)."""

    def said(done: Pass) -> Sequence[float]:
        rows = (0, *(node + 1 for node in done.path))[: len(done.emitted)]
        return [
            _log(done.target[rows_of(row, len(done.target) - 1), token])
            for row, token in zip(rows, done.emitted, strict=True)
        ]

    return _said(said)


def _of_the_raw_law(engine: Engine, text: Tokens, done: Pass) -> Pass:
    rows = engine.target.fresh().extend([*text, *done.emitted[:-1]], len(done.emitted))
    laws = Pipeline().laws(rows, engine.target.row_kind)
    return replace(done, logprobs=tuple(_log(law[token]) for law, token in zip(laws, done.emitted, strict=True)))


def _damaged(done: Pass) -> Pass:
    damaged = np.array(done.target)
    for row, token in enumerate(done.drafted):
        damaged[row, token] = 0
    rows = (0, *(node + 1 for node in done.path))
    said = [_log(damaged[row, token]) for row, token in zip(rows, done.emitted, strict=False)]
    return replace(done, target=damaged, logprobs=tuple(said))


TAMPERS = (
    Tamper(
        "logprobs-zero",
        FAMILY,
        "Reports 0.0 for every token.",
        "A109, ggml-org/llama.cpp #27972",
        _said(lambda done: [0.0] * len(done.logprobs)),
        caught_by=SEEN,
    ),
    Tamper(
        "logprob-of-the-last-token-only",
        FAMILY,
        "Reports 0.0 for kept drafts and a log-probability for the token that was drawn.",
        "A109, vllm #17876",
        _said(lambda done: [*([0.0] * (len(done.logprobs) - 1)), *done.logprobs[-1:]]),
        caught_by=SEEN,
    ),
    Tamper(
        "logprobs-of-the-draft",
        FAMILY,
        "Reports for drafted positions what the draft gave the token.",
        "derived",
        _said(_of_the_draft),
        caught_by=SEEN,
    ),
    Tamper(
        "logprobs-a-row-late",
        FAMILY,
        "Reports for each token its probability in the next row.",
        "A110, vllm #34497",
        _of_rows(lambda row, last: min(row + 1, last)),
        caught_by=SEEN,
    ),
    Tamper(
        "logprobs-a-row-early",
        FAMILY,
        "Reports for each token its probability in the row before.",
        "A110, vllm #34497",
        _of_rows(lambda row, last: max(row - 1, 0)),
        caught_by=SEEN,
    ),
    Tamper(
        "logprobs-before-the-settings",
        FAMILY,
        "Reports the probability under the raw law, not under the one that was sampled from.",
        "derived",
        retold(_of_the_raw_law),
        caught_by=SEEN,
    ),
    Tamper(
        "logprobs-in-bits",
        FAMILY,
        "Reports logarithms to base 2.",
        "derived",
        _said(lambda done: [value / math.log(2) for value in done.logprobs]),
        caught_by=SEEN,
    ),
    Tamper(
        "probabilities-as-logprobs",
        FAMILY,
        "Reports probabilities where logarithms are promised.",
        "derived",
        _said(lambda done: [math.exp(value) for value in done.logprobs]),
        caught_by=SEEN,
    ),
    Tamper(
        "logprob-missing",
        FAMILY,
        "Reports no log-probability for the token after the kept drafts.",
        "A110, sglang #10660",
        _said(lambda done: done.logprobs[:-1]),
        caught_by=SEEN,
    ),
    Tamper(
        "logprob-of-a-token-not-emitted",
        FAMILY,
        "Reports one log-probability more than there are tokens.",
        "A105, vllm PR #47616",
        _said(lambda done: [*done.logprobs, *done.logprobs[-1:]]),
        caught_by=SEEN,
    ),
    Tamper(
        "reported-from-a-damaged-law",
        FAMILY,
        "Takes the drafted tokens out of the target's law in place after the test, and reports from what is left.",
        "A12, vllm-ascend PR #2881",
        retold(lambda engine, text, done: _damaged(done)),
        caught_by=("replay", "report"),
    ),
    Tamper(
        "counts-more-than-drafted",
        FAMILY,
        "Counts the last token of each pass among the kept drafts.",
        "A106, sglang #39826",
        retold(lambda engine, text, done: replace(done, path=(*done.path, len(done.path)))),
        caught_by=SEEN,
    ),
)
