"""What drafts were drawn from, and which tokens matter in a pass: of 150,000, truncating warpers leave some hundreds.

In: laws, one after another while drafting, then those of the target. Out: the same over the tokens that one of them
gives mass, and random numbers for these; or the laws as one array.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import array_namespace, beside, is_numpy_array
from draftproof.rules.base import Place, Rule
from draftproof.types import Array, Draws, Probs, Purpose, Tree, Uniform

__all__ = ["DraftLaws", "Few", "Small", "SomeDraws"]

LEAST = 2**13
"""A smaller vocabulary is quicker taken as it is."""
SPARSE = 8
"""So many times smaller the laws must become."""


class Few(NamedTuple):
    """The tokens of a law that have mass, rising, and their entries there."""

    ids: NDArray[np.int64]
    entries: Array

    @classmethod
    def of(cls, law: Probs) -> Self | None:
        """Return those of a law (V,); None where it is no gain.

        What is no law (a negative entry, NaN) is among them, to be found by whoever looks.
        """
        if len(law) < LEAST or not is_numpy_array(law):
            return None
        ids = np.flatnonzero(law != 0)
        return cls(ids, law[ids]) if SPARSE * len(ids) <= len(law) else None

    def spread(self, vocab_size: int) -> Probs:
        """Return the law (V,)."""
        law = np.zeros(vocab_size, dtype=self.entries.dtype)
        law[self.ids] = self.entries
        return law


class Small(NamedTuple):
    """The laws of a pass over the tokens that have mass in one of them."""

    ids: NDArray[np.int64]
    """(n,) these tokens, rising."""
    target: Probs
    """(N + 1, n)."""
    draft: Probs
    """(rows, n)."""

    def places(self, drafted: Array | Tree) -> Array | Tree | None:
        """Return drafted tokens by their place among `ids`; None if one is none of them: it cannot have been drawn."""
        tokens = np.asarray(drafted.tokens if isinstance(drafted, Tree) else drafted, dtype=np.int64)
        places = np.searchsorted(self.ids, tokens)
        if len(tokens) and not np.array_equal(self.ids.take(places, mode="clip"), tokens):
            return None
        return Tree(tuple(places.tolist()), drafted.parents) if isinstance(drafted, Tree) else places


class DraftLaws:
    """The laws that drafts were drawn from, rows as in `Tree`: each is noted when it is drawn from.

    They become one array when somebody asks for it. A pass over few tokens does not.
    """

    def __init__(self) -> None:
        self._whole = dict[int, Probs]()
        self._few = dict[int, Few]()
        self._vocab_size = 0
        self._stacked: Probs | None = None
        self._last: tuple[Probs, Small | None] | None = None

    @classmethod
    def of(cls, laws: Probs) -> Self:
        """Return the rows of laws (rows, V)."""
        found = cls()
        found._stacked = laws if len(laws) else None
        for row, law in enumerate(laws):
            found._add(row, law)
        return found

    def children(self, rule: Rule, law: Probs, place: Place) -> list[int]:
        """Return what `Rule.children` draws from a law (V,) at `place`, and note the law."""
        few = self._add(place.row, law)
        if few is None or not len(few.ids):
            return rule.children(law, place)
        drafted = rule.children(few.entries, place._replace(draws=SomeDraws(place.draws, few.ids, len(law))))
        return few.ids[drafted].tolist()

    @property
    def in_numpy(self) -> bool:
        """Whether all of them are arrays of NumPy."""
        return all(map(is_numpy_array, self._whole.values()))

    @property
    def stacked(self) -> Probs | None:
        """The laws (rows, V), zeros where nothing was drafted; None if nothing was at all."""
        if self._stacked is None and (self._whole or self._few):
            self._stacked = self._stack()
        return self._stacked

    def settled(self) -> Self:
        """Return itself, no longer changed by those who write to the arrays that were noted."""
        if self._whole:
            self._stacked = self._stack()
        return self

    def small(self, target: Probs) -> Small | None:
        """Return them and the target's laws (N + 1, V) over the tokens that matter; None where that is no gain.

        Found once for as long as it is asked about the same array.
        """
        if self._last is None or self._last[0] is not target:
            self._last = target, self._found(target)
        return self._last[1]

    def _stack(self) -> Probs:
        laws = self._whole | {row: few.spread(self._vocab_size) for row, few in self._few.items()}
        home = next((law for law in laws.values() if not is_numpy_array(law)), laws[0])
        rows = range(max(laws) + 1)
        nothing = home * 0 if len(laws) < len(rows) else home
        return array_namespace(home).stack([beside(laws.get(row, nothing), home) for row in rows])

    def _add(self, row: int, law: Probs) -> Few | None:
        few = None if self._whole else Few.of(law)  # after the first whole law none is looked at
        self._vocab_size = len(law)
        if few is None:
            self._whole[row] = law
        else:
            self._few[row] = few
        return few

    def _found(self, target: Probs) -> Small | None:
        if self._whole or not self._few or target.shape[-1] != self._vocab_size or not is_numpy_array(target):
            return None
        rows = dict[int, Few]()
        for row, law in enumerate(target):
            few = Few.of(law)
            if few is None:
                return None
            rows[row] = few
        ids = np.unique(np.concatenate([few.ids for few in (*rows.values(), *self._few.values())]))
        if not 0 < SPARSE * len(ids) <= self._vocab_size:
            return None
        return Small(ids, _over(ids, rows), _over(ids, self._few))


def _over(ids: NDArray[np.int64], rows: dict[int, Few]) -> Probs:
    """Return laws over these tokens, zeros in the rows that are missing."""
    laws = np.zeros((max(rows) + 1, len(ids)), dtype=np.result_type(*(few.entries for few in rows.values())))
    for row, few in rows.items():
        laws[row, np.searchsorted(ids, few.ids)] = few.entries
    return laws


@dataclass(frozen=True)
class SomeDraws:
    """See `Draws`: of what belongs to tokens, what belongs to these."""

    inner: Draws
    ids: NDArray[np.int64]
    vocab_size: int

    def uniforms(self, purpose: Purpose, count: int, first: int = 0) -> Uniform:
        """See `Draws.uniforms`."""
        return self.inner.uniforms(purpose, count, first)

    def exponentials(self, depth: int, vocab_size: int) -> Array:
        """See `Draws.exponentials`."""
        return self.inner.exponentials(depth, self.vocab_size)[self.ids]
