"""Buffers that are too small, shared, or not brought up to date, beside a cache that is cut right.

In: an honest engine. Out: the same, whose target reads from such a buffer. It must never touch a law.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from draftproof.engine.loop import Engine
from draftproof.engine.proposal import Proposal
from draftproof.models.base import Model
from draftproof.redteam.base import Tamper
from draftproof.redteam.forgetful import Cut, Forgetful, half_forgetting, keeping
from draftproof.redteam.handed import rebuilt
from draftproof.rules.catalogue import TREE_RULES
from draftproof.types import Array, Tokens

__all__ = ["TAMPERS"]

FAMILY = "buffers"
SEEN = ("sequence", "oracles", "replay", "greedy")
RING = 2
"""So many drafts fit into the ring that is too small."""


def _wrapped(cut: Cut) -> Sequence[int]:
    """Return what lies in the ring where the path was written: the last draft that was written there."""
    return [range(node, len(cut.read), RING)[-1] for node in cut.path]


def _one_later(inner: Model, cut: Cut) -> None:
    inner.keep(cut.base, range(len(cut.path) + min(1, cut.rejected)))


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

    def read(self, target: Model, tokens: Tokens, proposal: Proposal) -> Array:
        """See `Engine.read`."""
        if proposal.tree.tokens and target.length:
            target.rewind(target.length - 1)
            target.extend(proposal.tree.tokens[:1])
        return super().read(target, tokens, proposal)


TAMPERS = (
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
