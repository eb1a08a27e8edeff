"""The target's cache after a pass: entries that should be gone, are missing, or stand where another belongs.

In: an honest engine. Out: the same, whose target remembers another text than it counts. It must never touch a law.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from draftproof.models.base import Model
from draftproof.redteam.base import Tamper
from draftproof.redteam.forgetful import Cut, Forgetful, forgetting, keeping
from draftproof.types import Array, Tokens

__all__ = ["TAMPERS"]

FAMILY = "cache"
SEEN = ("sequence", "oracles", "replay", "greedy")


def _one_more(cut: Cut) -> Sequence[int]:
    return [*cut.path, len(cut.path)] if cut.rejected else cut.path


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
class _Unread(Forgetful):
    """A cache that has read the token after a block at once, and loses it with the rejected drafts."""

    again: tuple[int, ...] = ()

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`; the last token that is left is read again, since its row is needed."""
        return super().extend([*self.again, *tokens[len(self.again) :]], rows, parents)

    def keep(self, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`."""
        drafted = self.length - length
        super().keep(length, path)
        self.again = ()
        if len(path) < drafted:
            last = len(self.read) - drafted + len(path)
            self.again = tuple(self.read[last - 1 : last])
            self.inner.rewind(self.inner.length - 1)


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
        "token-after-a-rejection-lost",
        FAMILY,
        "Trims one entry too many of a cache that has read the replacement already, so that it is never read.",
        "A64, mlx-lm PR #1528",
        lambda engine: replace(engine, target=_Unread(engine.target)),
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
)
