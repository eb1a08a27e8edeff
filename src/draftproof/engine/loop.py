"""The speculative loop, whole: draft, score in one pass of the target, verify, cut, rewind, repeat.

In: a prompt, stops, noise. Out: one `Pass` after another. It must never look at a target row before drafting is done,
and never hand the rule anything but the laws the tokens were drawn from. Proven in tests/laws/test_loop_law.py.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from draftproof.drafters.base import Drafter
from draftproof.engine.length import DraftLength
from draftproof.engine.proposal import Proposal
from draftproof.engine.stop import FinishReason, Stop
from draftproof.models.base import Model
from draftproof.records import PassRecord
from draftproof.rules.base import Rule, Verdict
from draftproof.rules.token import expected_acceptance
from draftproof.types import Noise, Probs, Purpose
from draftproof.warpers.pipeline import Pipeline

__all__ = ["Engine", "Pass"]


@dataclass(frozen=True)
class Pass:
    """One forward of the target: what was drafted, what both models said, what was decided, what was emitted."""

    start: int
    """Length of prompt and output before this pass."""
    drafted: tuple[int, ...]
    draft: Probs
    """(K, V) laws the drafted tokens were drawn from."""
    target: Probs
    """(K + 1, V) laws of the target."""
    accepted: int
    """0..K, as the rule decided, before the text was cut at a stop."""
    emitted: tuple[int, ...]
    finish_reason: FinishReason | None

    def record(self) -> PassRecord:
        """Return the pass in numbers, without its laws."""
        overlaps = expected_acceptance(self.target[:-1], self.draft)
        return PassRecord(self.start, self.drafted, self.accepted, self.emitted, tuple(map(float, overlaps)))


@dataclass(frozen=True)
class Engine:
    """A target, a drafter, a rule, the target's warpers and a draft length: a value, so a variant is a `replace`."""

    target: Model
    drafter: Drafter
    rule: Rule
    pipeline: Pipeline
    length: DraftLength

    def decode(self, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[Pass]:
        """Yield passes until the text stops; the concatenation of their `emitted` is the output.

        After every pass both caches hold exactly the text without its last token (or less, for the drafter).
        Uniforms consumed: per pass K DRAFT, K ACCEPT and one FINAL, all keyed by the length of the text at its start.
        """
        target, drafter = self.target.fresh(), self.drafter.fresh()
        tokens, accepted, drafted = list(prompt), 0, 0
        while (room := stop.room(len(prompt), len(tokens))) > 0:
            start = len(tokens)
            length = min(self.length(start - len(prompt), accepted, drafted), room - 1)
            proposal = Proposal.draw(drafter, tokens, length, noise)
            rows = target.extend([*tokens[target.length :], *proposal.tokens], rows=len(proposal.tokens) + 1)
            laws = self.pipeline.laws(rows, target.row_kind)
            draft = laws[:0] if proposal.laws is None else proposal.laws
            verdict = self._verify(laws, draft, proposal.tokens, start, noise)
            kept = int(verdict.accepted)
            emitted, reason = stop.cut([*proposal.tokens[:kept], int(verdict.token)], room)
            tokens += emitted
            accepted, drafted = accepted + kept, drafted + len(proposal.tokens)
            target.rewind(min(start + kept, len(tokens) - 1))
            drafter.rewind(min(start + kept, len(tokens) - 1))
            yield Pass(start, proposal.tokens, draft, laws, kept, tuple(emitted), reason)
            if reason:
                return

    def _verify(self, target: Probs, draft: Probs, tokens: tuple[int, ...], start: int, noise: Noise) -> Verdict:
        accept = noise.uniforms(Purpose.ACCEPT, start, len(tokens))
        final = noise.uniforms(Purpose.FINAL, start, 1)[0, ...]
        return self.rule.verify(target, draft, np.asarray(tokens, dtype=np.int64), accept, final)
