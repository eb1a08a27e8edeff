"""Probes: models whose rows depend, in whole numbers, on everything their cache holds, so that a wrong cache shows.

In: token ids below 11. Out: laws in Fractions. What lies in the cache is all a probe knows: a rejected draft that
stays, an entry that is missing or a state that is not taken back change its next row. There is one for each kind of
cache: all entries, a ring of the last ones, a state. The last two cannot go back by themselves: see `snapshots.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Self

import numpy as np

from draftproof.errors import ContractError, UsageError
from draftproof.models.base import Size
from draftproof.models.table import TableModel
from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind

__all__ = [
    "VOCABULARY",
    "RecurrentProbe",
    "WindowProbe",
    "one_hot",
    "recurrence",
    "spread",
    "sum_probe",
    "weighted_sum",
    "window",
]

VOCABULARY = 11
MOST_TOKENS = 1_000_000
WINDOW = 4

LawOf = Callable[[int], Sequence[Fraction]]
"""From what a cache amounts to, 0 to 10, to a law."""


def one_hot(residue: int) -> Sequence[Fraction]:
    """Return all mass on one token: a greedy probe."""
    return [Fraction(int(token == residue)) for token in range(VOCABULARY)]


def spread(residue: int) -> Sequence[Fraction]:
    """Return a law with mass on every token, another for each residue: a sampled probe."""
    whole = VOCABULARY * (VOCABULARY + 1) // 2
    return [Fraction(1 + (token - residue) % VOCABULARY, whole) for token in range(VOCABULARY)]


def weighted_sum(context: Tokens) -> int:
    """Return what a full cache amounts to: each entry counts with its place."""
    return sum((place + 1) * token for place, token in enumerate(context)) % VOCABULARY


def window(context: Tokens) -> int:
    """Return what a sliding window amounts to: a weighted sum over the last four entries."""
    return weighted_sum(context[-WINDOW:])


def recurrence(context: Tokens) -> int:
    """Return what the state of a recurrence amounts to that has read every entry in turn."""
    state = 0
    for token in context:
        state = _step(state, token)
    return state % VOCABULARY


def sum_probe(law_of: LawOf = one_hot) -> TableModel:
    """Return the probe with a full cache, which forgets and takes trees by itself."""
    return TableModel(lambda context: law_of(weighted_sum(context)), VOCABULARY, MOST_TOKENS)


def _step(state: int, token: int) -> int:
    return (5 * state + token + 1) % 101


@dataclass
class RecurrentProbe:
    """See `StatefulModel`: a state that every token changes for good.

    Args:
        law_of: what it says.
    """

    law_of: LawOf = one_hot
    state: int = 0
    length: int = 0
    row_kind: RowKind = "laws"
    vocab_size: int = VOCABULARY
    context_limit: int = MOST_TOKENS
    size: Size = Size(0)

    def extend(self, tokens: Tokens, rows: int | None = None) -> Array:
        """See `StatefulModel.extend`."""
        found: list[Sequence[Fraction]] = []
        silent = len(tokens) - (rows or len(tokens))
        for number, token in enumerate(tokens):
            self.state, self.length = _step(self.state, token), self.length + 1
            if number >= silent:
                found.append(self.law_of(self.state % VOCABULARY))
        return np.array(found, dtype=object)

    def try_rewind(self, length: int) -> bool:
        """See `StatefulModel.try_rewind`: there is no way back."""
        return length == self.length

    def snapshot(self) -> tuple[int, int]:
        """See `StatefulModel.snapshot`."""
        return self.state, self.length

    def restore(self, snapshot: tuple[int, int]) -> None:
        """See `StatefulModel.restore`."""
        self.state, self.length = snapshot

    def fresh(self) -> Self:
        """See `StatefulModel.fresh`."""
        return replace(self, state=0, length=0)

    def steady(self) -> Self:
        """See `StatefulModel.steady`: whole numbers are."""
        return self.fresh()


@dataclass
class WindowProbe:
    """See `StatefulModel`: looks at the last four tokens, which lie in a ring; what is overwritten is gone.

    Args:
        law_of: what it says.
        room: slots of the ring, 4 or more; those above 3 are how far it can go back by itself.
    """

    law_of: LawOf = one_hot
    room: int = WINDOW
    length: int = 0
    ring: list[tuple[int, int]] = field(default_factory=list)
    """The place and the token in each slot."""
    row_kind: RowKind = "laws"
    vocab_size: int = VOCABULARY
    context_limit: int = MOST_TOKENS
    size: Size = Size(0)

    def __post_init__(self) -> None:
        if self.room < WINDOW:
            raise UsageError(f"got {self.room}; allowed are {WINDOW} slots or more", "room")
        self.ring = self.ring or [(-1, 0)] * self.room

    def extend(self, tokens: Tokens, rows: int | None = None) -> Array:
        """See `StatefulModel.extend`.

        Raises:
            ContractError: if a token that must be looked at is no longer there.
        """
        found: list[Sequence[Fraction]] = []
        silent = len(tokens) - (rows or len(tokens))
        for number, token in enumerate(tokens):
            self.ring[self.length % self.room] = self.length, token
            self.length += 1
            if number >= silent:
                found.append(self.law_of(weighted_sum(self._seen())))
        return np.array(found, dtype=object)

    def try_rewind(self, length: int) -> bool:
        """See `StatefulModel.try_rewind`: every time anew it is looked whether the ring still holds what is needed."""
        *needed, _ = _places(length + 1)
        if not all(self._holds(place) for place in needed):
            return False
        self.length = length
        return True

    def snapshot(self) -> tuple[int, tuple[tuple[int, int], ...]]:
        """See `StatefulModel.snapshot`."""
        return self.length, tuple(self.ring)

    def restore(self, snapshot: tuple[int, tuple[tuple[int, int], ...]]) -> None:
        """See `StatefulModel.restore`."""
        self.length, self.ring[:] = snapshot

    def fresh(self) -> Self:
        """See `StatefulModel.fresh`."""
        return replace(self, length=0, ring=[])

    def steady(self) -> Self:
        """See `StatefulModel.steady`: whole numbers are."""
        return self.fresh()

    def _holds(self, place: int) -> bool:
        return self.ring[place % self.room][0] == place

    def _seen(self) -> list[int]:
        places = _places(self.length)
        if not all(self._holds(place) for place in places):
            raise ContractError(f"a ring of {self.room} slots no longer holds what place {self.length - 1} looks at")
        return [self.ring[place % self.room][1] for place in places]


def _places(length: int) -> range:
    return range(max(0, length - WINDOW), length)
