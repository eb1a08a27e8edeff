"""State that cannot be taken back as entries can: recurrent layers, sliding windows, states handed to other requests.

In: an honest engine. Out: the same, whose target goes on from a wrong state. It must never touch a law.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from draftproof.engine.loop import Engine
from draftproof.models.base import Model
from draftproof.redteam.base import Tamper
from draftproof.redteam.forgetful import Cut, Forgetful, forgetting, half_forgetting, keeping
from draftproof.types import Array, Tokens

__all__ = ["TAMPERS"]

FAMILY = "recurrent"
SEEN = ("sequence", "oracles", "replay", "greedy")
WINDOW = 4
"""Entries of the sliding window."""


def _not_cut(inner: Model, cut: Cut) -> None:
    inner.keep(cut.base, range(len(cut.read)))


def _replayed_on_top(inner: Model, cut: Cut) -> None:
    if not cut.rejected:
        inner.keep(cut.base, cut.path)
    elif cut.path:
        inner.extend([cut.read[node] for node in cut.path])


def _untrimmable_once_full(inner: Model, cut: Cut) -> None:
    inner.keep(cut.base, cut.path if inner.length < WINDOW else range(len(cut.read)))


def _evicted_for_all(inner: Model, cut: Cut) -> None:
    inner.keep(cut.base, cut.path)
    inner.keep(0, range(min(cut.rejected, max(inner.length - 1, 0)), inner.length))


@dataclass
class _SlotZero(Forgetful):
    """A state with a slot for each row of a pass; a pass without a draft goes on from slot 0."""

    owed: Cut | None = None

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`."""
        if self.owed is not None:
            self.inner.keep(self.owed.base, self.owed.path if len(tokens) > 1 else ())
        return super().extend(tokens, rows, parents)

    def keep(self, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`; it is done when it is known how many tokens come next."""
        drafted = self.length - length
        self.owed = Cut(self.inner.length - drafted, tuple(path), (), 0)
        self.length = length + len(path)


@dataclass
class _SingleStep(Forgetful):
    """A state that is advanced by one token only, from the same place for every token that is read together."""

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`."""
        state = self.inner.length
        if not state or len(tokens) == 1:
            return super().extend(tokens, rows, parents)
        found: list[Array] = []
        for token in tokens:
            found.append(self.inner.extend([token]))
            self.inner.rewind(state)
        super().extend(tokens, rows, parents)
        return np.concatenate(found)[-(rows or len(tokens)) :]


@dataclass
class _Inherited(Forgetful):
    """A state that the next request takes over, with the rejected drafts of the last pass in it."""

    left: list[int] = field(default_factory=list)

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`."""
        if not self.length and self.left:
            self.inner.extend(self.left)
        return super().extend(tokens, rows, parents)

    def keep(self, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`."""
        drafted = self.read[len(self.read) - (self.length - length) :]
        self.left[:] = drafted[len(path) :] or self.left
        super().keep(length, path)

    def fresh(self) -> "_Inherited":
        """See `Model.fresh`, which this is not."""
        return _Inherited(self.inner.fresh(), left=self.left)


def _inheriting(engine: Engine) -> Engine:
    return replace(engine, target=_Inherited(engine.target))


def _of(kind: Callable[[Model], Model]) -> Callable[[Engine], Engine]:
    return lambda engine: replace(engine, target=kind(engine.target))


TAMPERS = (
    Tamper(
        "plain-pass-reads-slot-zero",
        FAMILY,
        "Goes on from the first slot of the last pass if nothing was drafted, and from the right one otherwise.",
        "A81, vllm #39273",
        _of(_SlotZero),
        caught_by=("sequence", "oracles", "replay"),
    ),
    Tamper(
        "many-tokens-one-step",
        FAMILY,
        "Reads several tokens in the branch that was written for one: each follows the state, none the one before it.",
        "A84, transformers PR #46741",
        _of(_SingleStep),
        caught_by=SEEN,
    ),
    Tamper(
        "recurrent-half-not-cut",
        FAMILY,
        "Trims the attention layers of a hybrid model; the recurrent ones keep the rejected drafts.",
        "A85, vllm-project/tpu-inference PR #3178",
        half_forgetting(_not_cut),
        caught_by=SEEN,
    ),
    Tamper(
        "ring-untrimmable-once-full",
        FAMILY,
        "Rolls back until the window has wrapped, and from then on keeps everything in silence.",
        "A65, ml-explore/mlx-swift-lm #424",
        forgetting(_untrimmable_once_full),
        caught_by=SEEN,
    ),
    Tamper(
        "evicted-for-rejected-drafts",
        FAMILY,
        "Lets the window slide by all tokens that were read, although some of them are taken back.",
        "A66, mlx-lm #1914",
        forgetting(_evicted_for_all),
        caught_by=SEEN,
    ),
    Tamper(
        "snapshot-without-replay",
        FAMILY,
        "Goes back to the snapshot before the block after a rejection, and does not read the kept drafts again.",
        "A85, vllm-project/tpu-inference PR #3178",
        keeping(lambda cut: () if cut.rejected else cut.path),
        caught_by=SEEN,
    ),
    Tamper(
        "replay-without-snapshot",
        FAMILY,
        "Reads the kept drafts again after a rejection, on top of a state that has read the whole block.",
        "derived",
        forgetting(_replayed_on_top),
        caught_by=SEEN,
    ),
    Tamper(
        "checkpoint-one-row-early",
        FAMILY,
        "Takes the checkpoint of the row before the last kept draft.",
        "A85, vllm-project/tpu-inference PR #3178",
        keeping(lambda cut: cut.path[:-1]),
        caught_by=SEEN,
    ),
    Tamper(
        "state-inherited-by-the-next-request",
        FAMILY,
        "Caches the state of a prefix for the next request, with the rejected drafts in it.",
        "A82, vllm #43559",
        _inheriting,
        caught_by=("sequence", "seeds"),
    ),
)
