"""Idle rows: passes that are filled up to a size that runs faster, and what of them is read, answers or stays.

In: an honest engine. Out: the same, whose target is filled up wrongly. It must never touch a law.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from draftproof.engine.loop import Engine
from draftproof.models.base import Model
from draftproof.redteam.base import Tamper
from draftproof.redteam.forgetful import Forgetful
from draftproof.types import Array, Tokens

__all__ = ["TAMPERS"]

FAMILY = "padding"
IDLE = 0
"""The token of idle rows."""
ROWS = 4
"""Passes of the model with whole blocks have a multiple of so many rows."""


@dataclass
class _Stays(Forgetful):
    """A model that reads a single token in the company of an idle one, which stays."""

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`."""
        found = super().extend(tokens, rows, parents)
        if len(tokens) == 1 and self.inner.length < self.inner.context_limit:
            self.inner.extend([IDLE])
        return found


@dataclass
class _Answers(Forgetful):
    """A model that reads a single token before an idle one, and returns the last row, as of any pass."""

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`."""
        found = super().extend(tokens, rows, parents)
        if len(tokens) == 1 and self.inner.length < self.inner.context_limit:
            found = self.inner.extend([IDLE], 1)
            self.inner.rewind(self.inner.length - 1)
        return found


@dataclass
class _Before(Forgetful):
    """A model that puts an idle row before a single token, which reads it, and takes it out again afterwards."""

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`."""
        base = self.inner.length
        if len(tokens) > 1 or base + 1 >= self.inner.context_limit:
            return super().extend(tokens, rows, parents)
        self.inner.extend([IDLE])
        found = super().extend(tokens, rows, parents)
        self.inner.rewind(base)
        self.inner.extend(tokens)
        return found


@dataclass
class _Counted(Forgetful):
    """A model whose idle row counts as the next token, so that this is never read."""

    filled: bool = False

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`."""
        read = [IDLE, *tokens[1:]] if self.filled else tokens
        self.filled = len(tokens) == 1
        return super().extend(read, rows, parents)


@dataclass
class _CutFromTheEnd(Forgetful):
    """A model that fills passes up to whole blocks, and takes rejected drafts off the end, idle rows among them."""

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`."""
        found = super().extend(tokens, rows, parents)
        room = self.inner.context_limit - self.inner.length
        if idle := min(-len(tokens) % ROWS, room):
            self.inner.extend([IDLE] * idle)
        return found

    def keep(self, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`."""
        rejected = self.length - length - len(path)
        self.length = length + len(path)
        self.inner.rewind(self.inner.length - rejected)


def _of(kind: Callable[[Model], Model]) -> Callable[[Engine], Engine]:
    return lambda engine: replace(engine, target=kind(engine.target))


def _tamper(name: str, story: str, kind: Callable[[Model], Model], *caught_by: str) -> Tamper:
    seen = "derived; A96, 1CatAI/1Cat-vLLM #656, and A88, Blaizzy/mlx-vlm #1144, pad alike"
    return Tamper(name, FAMILY, story, seen, _of(kind), caught_by=caught_by)


TAMPERS = (
    _tamper(
        "idle-row-stays",
        "Reads a single token in the company of an idle one, since two rows run faster, and leaves that in the cache.",
        _Stays,
        "oracles",
    ),
    _tamper(
        "idle-row-answers",
        "Takes the last row of every pass, which is the idle one where a single token was filled up.",
        _Answers,
        "sequence", "oracles", "replay", "greedy",
    ),
    _tamper(
        "idle-row-before-the-token",
        "Fills a single token up from the left, so that it reads the idle row.",
        _Before,
        "sequence", "oracles", "replay", "greedy",
    ),
    _tamper(
        "idle-row-counts-as-the-next-token",
        "Counts the idle row of a single token as read, so that the token that comes in its place is not.",
        _Counted,
        "oracles",
    ),
    _tamper(
        "idle-rows-cut-for-drafts",
        "Fills passes up to whole blocks and takes as many entries off the end as drafts were rejected.",
        _CutFromTheEnd,
        "sequence", "oracles", "replay", "greedy",
    ),
)  # fmt: skip
