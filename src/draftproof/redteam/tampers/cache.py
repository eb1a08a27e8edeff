"""The target's cache after a pass: entries that should be gone, are missing, or stand where another belongs.

In: an honest engine. Out: the same, whose target remembers another text than it counts. It must never touch a law.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from draftproof.engine.loop import Engine
from draftproof.engine.proposal import Proposal
from draftproof.models.base import Model
from draftproof.redteam.base import Tamper
from draftproof.redteam.forgetful import Cut, Forgetful, forgetting, half_forgetting, keeping
from draftproof.redteam.handed import rebuilt
from draftproof.rules.catalogue import TREE_RULES
from draftproof.types import Array, Probs, Tokens

__all__ = ["TAMPERS"]

FAMILY = "cache"
SEEN = ("sequence", "oracles", "replay", "greedy")
RING = 2
"""So many drafts fit into the ring that is too small."""


def _one_more(cut: Cut) -> Sequence[int]:
    return [*cut.path, len(cut.path)] if cut.rejected else cut.path


def _wrapped(cut: Cut) -> Sequence[int]:
    """Return what lies in the ring where the path was written: the last draft that was written there."""
    return [range(node, len(cut.read), RING)[-1] for node in cut.path]


def _trimmed_once_more(inner: Model, cut: Cut) -> None:
    inner.keep(cut.base, cut.path)
    if cut.rejected:
        inner.rewind(inner.length - 1)


def _reset(inner: Model, cut: Cut) -> None:
    inner.keep(cut.base, cut.path)
    if cut.rejected:
        inner.rewind(0)


def _zeroed(inner: Model, cut: Cut) -> None:
    inner.keep(cut.base, cut.path)
    if cut.rejected:
        inner.extend([0] * cut.rejected)


def _one_later(inner: Model, cut: Cut) -> None:
    inner.keep(cut.base, _one_more(cut))


@dataclass
class _Overwritten(Forgetful):
    """A cache in which the place of a rejected draft counts as filled, so that its replacement is never read."""

    left: tuple[int, ...] = ()

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`."""
        return super().extend([*self.left, *tokens[len(self.left) :]], rows, parents)

    def keep(self, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`."""
        drafted = self.read[len(self.read) - (self.length - length) :]
        self.left = tuple(drafted[len(path) : len(path) + 1])
        super().keep(length, path)


@dataclass
class _StaleSeed(Forgetful):
    """A cache that is fed, after a pass without a draft, the token that it was fed before that pass."""

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`."""
        plain = len(self.read) == 1
        return super().extend([*self.read, *tokens[1:]] if plain else tokens, rows, parents)


@dataclass(frozen=True)
class _Meddling(Engine):
    """Its drafter writes the first draft over the last entry of the target's cache."""

    def score(self, target: Model, tokens: Tokens, proposal: Proposal) -> Probs:
        """See `Engine.score`."""
        if proposal.tree.tokens and target.length:
            target.rewind(target.length - 1)
            target.extend(proposal.tree.tokens[:1])
        return super().score(target, tokens, proposal)


TAMPERS = (
    Tamper(
        "slot-not-overwritten",
        FAMILY,
        "Leaves a rejected draft in its slot, so that the target reads it instead of the token that replaced it.",
        "A61, transformers #30312",
        lambda engine: replace(engine, target=_Overwritten(engine.target)),
        fixture="Q10a",
        caught_by=SEEN,
    ),
    Tamper(
        "rejected-draft-stays",
        FAMILY,
        "Keeps the rejected draft in the cache and reads its replacement after it.",
        "A62, ml-explore/mlx-lm #846",
        keeping(_one_more),
        fixture="Q10b",
        caught_by=SEEN,
    ),
    Tamper(
        "all-drafts-stay",
        FAMILY,
        "Keeps every draft in the cache, kept or rejected: the trim did nothing, and did not say so.",
        "A62, ml-explore/mlx-lm #846",
        keeping(lambda cut: range(len(cut.read))),
        fixture="Q10c",
        caught_by=SEEN,
    ),
    Tamper(
        "one-entry-too-many-trimmed",
        FAMILY,
        "Trims one entry too many after a rejection.",
        "A64, mlx-lm PR #1528",
        forgetting(_trimmed_once_more),
        caught_by=SEEN,
    ),
    Tamper(
        "advanced-by-one",
        FAMILY,
        "Moves the position on by one kept draft, however many were kept.",
        "A60, transformers #30042",
        keeping(lambda cut: cut.path[:1]),
        caught_by=SEEN,
    ),
    Tamper(
        "trimmed-by-the-last-count",
        FAMILY,
        "Trims by the number of drafts that the pass before kept.",
        "A64, mlx-lm PR #1528",
        keeping(lambda cut: range(min(cut.last, len(cut.read)))),
        caught_by=SEEN,
    ),
    Tamper(
        "cache-reset-at-a-rejection",
        FAMILY,
        "Empties the cache at a rejection instead of rolling it back.",
        "A68, paiml/aprender PR #2014",
        forgetting(_reset),
        caught_by=SEEN,
    ),
    Tamper(
        "rejected-entries-zeroed",
        FAMILY,
        "Zeroes the entries of rejected drafts instead of hiding them, so that they are still read.",
        "A89, mlx-vlm #1962",
        forgetting(_zeroed),
        caught_by=SEEN,
    ),
    Tamper(
        "ring-of-two-drafts",
        FAMILY,
        "Writes drafts into a ring that has room for two; a third takes the place of the first.",
        "A72, sglang PR #33872",
        keeping(_wrapped),
        caught_by=SEEN,
    ),
    Tamper(
        "side-copy-cut-later",
        FAMILY,
        "Cuts the cache right, but a copy of shared keys was taken before and still holds the rejected draft.",
        "A69, mlx-swift-lm PR #308",
        half_forgetting(_one_later),
        caught_by=SEEN,
    ),
    Tamper(
        "drafter-writes-into-the-target",
        FAMILY,
        "Drafts with buffers that belong to the target: the first draft lands in the target's last entry.",
        "A80, vllm #43820",
        rebuilt(_Meddling),
        caught_by=SEEN,
    ),
    Tamper(
        "seed-token-stale-after-a-plain-pass",
        FAMILY,
        "Updates the token to be read next in speculative passes only.",
        "A73, jjang-ai/vmlx PR #150",
        lambda engine: replace(engine, target=_StaleSeed(engine.target)),
        caught_by=("oracles",),
    ),
    Tamper(
        "tree-slots-not-gathered",
        FAMILY,
        "Keeps the first slots of a drafted tree, as many as the kept branch is long, whichever branch it was.",
        "derived; caches of chains are kept so",
        keeping(lambda cut: range(len(cut.path))),
        rule=TREE_RULES["tree"],
        branching=(2,),
        caught_by=("sequence", "replay"),
    ),
)
