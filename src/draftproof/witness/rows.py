"""The batch witness: a rule that decides many rows at once must decide each as if it were alone.

In: an assembled engine. Out: a finding. Rows that leak into each other are invisible to all who look at single texts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from draftproof.noise import PassNoise, PhiloxNoise
from draftproof.records import Conclusion, Finding
from draftproof.rules.base import Place, Rule, Verdict
from draftproof.types import Array, Draws, Probs, Purpose, Uniform
from draftproof.witness.base import Subject
from draftproof.witness.tables import rule_of

__all__ = ["BatchDraws", "Rows"]

BATCHES, BATCH, BLOCK, VOCABULARY = 40, 3, 3, 5


@dataclass(frozen=True)
class BatchDraws:
    """The random numbers of several passes, stacked: see `Draws`."""

    rows: tuple[Draws, ...]

    def uniforms(self, purpose: Purpose, count: int, first: int = 0) -> Uniform:
        """See `Draws.uniforms`: (B, count)."""
        return np.stack([row.uniforms(purpose, count, first) for row in self.rows])

    def exponentials(self, depth: int, vocab_size: int) -> Array:
        """See `Draws.exponentials`: (B, V)."""
        return np.stack([row.exponentials(depth, vocab_size) for row in self.rows])


class Rows:
    """See `Witness`: one finding, over random batches of laws and blocks; only for rules of chains."""

    name = "rows"

    def examine(self, subject: Subject) -> Iterator[Finding]:
        """See `Witness.examine`."""
        rule = rule_of(subject)
        if rule is None or rule.branches:
            return
        for seed in range(BATCHES):
            batch = _batch(rule, seed)
            try:
                together = rule.verify(batch.target, batch.draft, batch.tokens, BatchDraws(batch.draws))
            except Exception as error:  # noqa: BLE001  to refuse a batch, however rudely, is not to lose anything
                reason = f"takes no batches: {type(error).__name__}: {error}"
                yield Finding(self.name, subject.name, Conclusion.UNDECIDED, None, reason)
                return
            if (row := _differing_row(rule, batch, together)) is not None:
                reason = f"in batch {seed} row {row} is decided otherwise than alone"
                yield Finding(self.name, subject.name, Conclusion.LOSSY, None, reason, None, f"row {row}")
                return
        reason = f"{BATCHES} batches of {BATCH}: every row is decided as if it were alone"
        yield Finding(self.name, subject.name, Conclusion.LOSSLESS, 0.0, reason)


class _Batch(NamedTuple):
    """B blocks of K tokens: target (B, K + 1, V), draft (B, K, V), tokens (B, K), and the random numbers of each."""

    target: Probs
    draft: Probs
    tokens: Array
    draws: tuple[Draws, ...]


def _batch(rule: Rule, seed: int) -> _Batch:
    noise = np.random.default_rng(seed)
    target = noise.dirichlet(np.ones(VOCABULARY), (BATCH, BLOCK + 1))
    draft = 0.7 * target[:, :-1] + 0.3 * noise.dirichlet(np.ones(VOCABULARY), (BATCH, BLOCK))
    draws = tuple(PassNoise(PhiloxNoise(seed, row), 0) for row in range(BATCH))
    tokens = [
        [rule.children(law, Place(own, i, i, (i,)))[0] for i, law in enumerate(laws)]
        for own, laws in zip(draws, draft, strict=True)
    ]
    return _Batch(target, draft, np.array(tokens), draws)


def _differing_row(rule: Rule, batch: _Batch, together: Verdict) -> int | None:
    """Verify the rows of a batch one by one; return the first that is decided otherwise than `together`."""
    for row, own in enumerate(batch.draws):
        alone = rule.verify(batch.target[row], batch.draft[row], batch.tokens[row], own)
        shapes = np.shape(together.accepted), np.shape(together.token)
        if shapes != ((BATCH,), (BATCH,)):
            return row
        if (int(together.accepted[row]), int(together.token[row])) != (int(alone.accepted), int(alone.token)):
            return row
    return None
