"""One set of weights and the contexts of all texts that are read with it. In: reads of several texts. Out: rows.

Short texts share a context, so that they are read together; a text that outgrows it moves to another. What is read is
one batch for each context. One lock guards all: a context of llama.cpp is not for two threads at once.
"""

import weakref
from collections.abc import Sequence
from threading import RLock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from draftproof.models.gguf.context import BATCH, SEQUENCES, Cell, Context, Floats
from draftproof.models.gguf.library import Weights
from draftproof.models.gguf.place import Place
from draftproof.models.gguf.spec import GgufSpec
from draftproof.models.memory import check_room, free_memory

__all__ = ["Family", "Part", "Seat"]


class Seat:
    """What a model holds: the place of its text, once it has read anything. When nobody holds it, the place is free."""

    __slots__ = ("__weakref__", "place")

    def __init__(self) -> None:
        self.place: Place | None = None

    @property
    def length(self) -> int:
        """How many tokens were read."""
        return 0 if self.place is None else self.place.length


class Part(NamedTuple):
    """What one text is to read: tokens, the last of them a tree if there are parents, and the ways to its leaves."""

    seat: Seat
    tokens: Sequence[int]
    asked: int
    parents: Sequence[int]
    paths: list[Sequence[int]]


class Family:
    """Weights, and who reads with them.

    Args:
        weights: of the model.
        spec: how it is run.
        limit: the most tokens of a text.
        per_token: bytes that a token takes in the cache.
        alone: whether every text has a context of its own, so that it always lies in the same cells.
    """

    def __init__(self, weights: Weights, spec: GgufSpec, limit: int, per_token: int, alone: bool = False) -> None:
        self.weights, self.limit, self.per_token = weights, limit, per_token
        self.lock = RLock()
        self._spec, self._sequences = spec, 1 if alone else SEQUENCES
        self._apart = self if alone else None
        self._contexts: list[Context] = []
        self._taken: list[tuple[weakref.ref[Seat], Place]] = []

    def apart(self) -> "Family":
        """Return the same with a context for every text; always the same object."""
        with self.lock:
            if self._apart is None:
                self._apart = Family(self.weights, self._spec, self.limit, self.per_token, alone=True)
            return self._apart

    def read(self, parts: Sequence[Part]) -> list[Floats]:
        """Read what different texts want to read, and return the rows of each."""
        with self.lock:
            self._sweep()
            places = [self._place(part) for part in parts]
            rows: dict[int, Floats] = {}
            for context in {id(place.context): place.context for place in places}.values():
                members = [i for i, place in enumerate(places) if place.context is context]
                found = self._together(context, [(parts[i], places[i]) for i in members])
                for i in members:
                    rows[i], found = found[: parts[i].asked], found[parts[i].asked :]
            return [rows[i] for i in range(len(parts))]

    def keep(self, seat: Seat, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`; the numbers have been checked."""
        with self.lock:
            if seat.place is not None:
                seat.place.mended().keep(length, path)

    def fork(self, seat: Seat) -> Seat:
        """Return a seat with the same text."""
        with self.lock:
            twin = Seat()
            if seat.place is not None and seat.place.mended().length:
                self._sweep()
                seat.place.copy_to(self._take(twin, seat.place.length, 1))
            return twin

    def saved(self, seat: Seat) -> NDArray[np.uint8]:
        """Return the state of a text that is not empty."""
        with self.lock:
            place = seat.place
            assert place is not None  # noqa: S101 (a text that is not empty has a place)
            return place.context.saved(place.sequences[0])

    def restore(self, seat: Seat, length: int, state: NDArray[np.uint8] | None) -> None:
        """Let a text be another, of which the state was saved; None is that of an empty one."""
        with self.lock:
            self._sweep()
            if seat.place is None and state is not None:
                self._take(seat, length, 1)
            if seat.place is not None:
                seat.place.become(length, state)

    def _together(self, context: Context, reads: Sequence[tuple[Part, Place]]) -> Floats:
        cells: list[Cell] = []
        for part, place in reads:
            place.broken = True
            cells += place.cells(part.tokens, part.asked, part.parents, part.paths)
        rows = context.read(cells)
        for part, place in reads:
            place.hold(len(part.tokens), len(part.parents), part.paths)
        return rows

    def _place(self, part: Part) -> Place:
        """Return where a text is read: where it is, if there is room, or another place to which it moves."""
        seat, more = part.seat, max(0, len(part.paths) - 1)
        old, claimed = seat.place, seat.length + len(part.tokens)
        if old is not None:
            old.mended()
        if old is None or not self._fits(old.context, claimed, more, old):
            new = self._take(seat, claimed, 1 + more)
            if old is not None:
                old.copy_to(new)
                old.clear()
        place = seat.place
        assert place is not None  # noqa: S101 (for the type checker)
        place.claimed = claimed
        if more:
            place.grow(self._free(place.context)[:more])
        return place

    def _take(self, seat: Seat, cells: int, sequences: int) -> Place:
        """Give a seat an empty place in a context where nobody claims so many cells and sequences."""
        context = next((one for one in self._contexts if self._fits(one, cells, sequences)), None) or self._open()
        place = Place(context, self._free(context)[0])
        self._taken.append((weakref.ref(seat), place))
        seat.place = place
        return place

    def _open(self) -> Context:
        size = self.limit + BATCH
        check_room({f"a cache of {size} tokens": size * self.per_token}, free_memory())
        self._contexts.append(Context(self.weights, self._spec, size, self._sequences))
        return self._contexts[-1]

    def _fits(self, context: Context, cells: int, sequences: int, but: Place | None = None) -> bool:
        others = (place for _, place in self._taken if place.context is context and place is not but)
        return sum(place.claimed for place in others) + cells <= context.cells and (
            not sequences or len(self._free(context)) >= sequences
        )

    def _free(self, context: Context) -> list[int]:
        taken = {one for _, place in self._taken if place.context is context for one in place.sequences}
        return [sequence for sequence in range(context.sequences) if sequence not in taken]

    def _sweep(self) -> None:
        """Empty the places that nobody holds any more, and close contexts without a text, except the first."""
        left = [(ref, place) for ref, place in self._taken if (seat := ref()) is None or seat.place is not place]
        if not left:
            return
        for _, place in left:
            place.clear()
        gone = {id(place) for _, place in left}
        self._taken = [one for one in self._taken if id(one[1]) not in gone]
        used = {id(place.context) for _, place in self._taken}
        self._contexts = [one for i, one in enumerate(self._contexts) if not i or id(one) in used]
