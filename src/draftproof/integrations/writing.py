"""What was generated, in the form of a transformers call. In: passes. Out: rows of ids, scores, traces.

Nothing is decided here.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from transformers import GenerationConfig
from transformers.generation.streamers import BaseStreamer
from transformers.generation.utils import GenerateDecoderOnlyOutput

from draftproof.engine.passes import Pass
from draftproof.integrations.processors import Processed
from draftproof.records import PassRecord, Trace

__all__ = ["Written", "handed_back", "padding_token"]


@dataclass
class Written:
    """One row as it grows.

    Args:
        prompt: the text before it, without padding.
        process: how scores are processed, if scores are asked for.
        keeps_logits: whether logits are asked for.
        streamer: who gets each token.
    """

    prompt: tuple[int, ...]
    process: Processed | None = None
    keeps_logits: bool = False
    streamer: BaseStreamer | None = None
    tokens: list[int] = field(default_factory=list[int])
    scores: list[Tensor] = field(default_factory=list[Tensor])
    logits: list[Tensor] = field(default_factory=list[Tensor])
    records: list[PassRecord] = field(default_factory=list[PassRecord])
    reason: str = "length"
    began: float = field(default_factory=time.perf_counter)
    seconds: float = 0.0

    def add(self, done: Pass) -> None:
        """Take in what a pass emitted."""
        self.records.append(done.record())
        self.reason = done.finish_reason or self.reason
        for row, token in zip(done.emitted_rows, done.emitted, strict=True):
            self._keep(done, row)
            self.tokens.append(token)
            if self.streamer is not None:
                self.streamer.put(torch.tensor([token]))

    def end(self) -> None:
        """Note that the text is over."""
        self.seconds = time.perf_counter() - self.began

    def trace(self) -> Trace:
        """Return the row in numbers."""
        return Trace(self.prompt, tuple(self.records), self.reason, self.seconds)

    def _keep(self, done: Pass, row: int) -> None:
        if self.process is None and not self.keeps_logits:
            return
        logits = torch.as_tensor(done.rows[row]).to(torch.float32, copy=True)[None]
        if self.keeps_logits:
            self.logits.append(logits)
        if self.process is not None:
            scores, _ = self.process.warp(logits, "logits", [[*self.prompt, *self.tokens]])
            self.scores.append(scores)


def padding_token(config: GenerationConfig) -> int | None:
    """Return what fills rows that ended before others: without padding end-of-sequence, as in transformers."""
    ends = config.eos_token_id
    return config.pad_token_id if config.pad_token_id is not None else ends[0] if isinstance(ends, list) else ends


def handed_back(
    input_ids: Tensor, rows: Sequence[Written], config: GenerationConfig
) -> Tensor | GenerateDecoderOnlyOutput:
    """Return what `generate` returns.

    Args:
        input_ids: (B, T).
        rows: B of them.
        config: says what is asked for.
    """
    longest, padding = max(len(row.tokens) for row in rows), padding_token(config)
    filled = [row.tokens + [padding or 0] * (longest - len(row.tokens)) for row in rows]
    sequences = torch.cat([input_ids, input_ids.new_tensor(filled)], dim=-1)
    if not config.return_dict_in_generate:
        return sequences
    scores = _stepwise([row.scores for row in rows]) if config.output_scores else None
    logits = _stepwise([row.logits for row in rows]) if config.output_logits else None
    return GenerateDecoderOnlyOutput(sequences=sequences, scores=scores, logits=logits)  # pyright: ignore[reportArgumentType]


def _stepwise(rows: Sequence[Sequence[Tensor]]) -> tuple[Tensor, ...]:
    """Return (B, V) for each step; a row that has ended has no scores there, NaN."""
    longest = max(len(row) for row in rows)
    nothing = torch.full_like(rows[0][0], torch.nan)
    return tuple(torch.cat([row[step] if step < len(row) else nothing for row in rows]) for step in range(longest))
