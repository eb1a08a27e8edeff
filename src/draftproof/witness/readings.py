"""The same tokens read in pieces of other sizes, and as a wrong cache would have them: what rounding is measured by.

In: a model, a text. Out: rows. It must never rewind a model: nothing here depends on a cache that goes back.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle

from draftproof.models.base import Model
from draftproof.types import Array
from draftproof.witness.rescoring import chains, joined

__all__ = ["Readings", "faulty_rows", "read_alone", "read_beside", "read_in_pieces", "readings"]

ALONE = 32
"""So many tokens of a prompt are read one by one too: the more is read, the surer it is that rounding shows."""
BESIDE = 1, 4, 2
"""So many tokens of another text are read between two pieces."""


@dataclass(frozen=True)
class Readings:
    """The rows (n, V) that the n last tokens of a text are drawn from, read in pieces of several sizes."""

    plain: Array
    """As plain decoding reads: the prompt at once, then token by token."""
    blocks: Array
    """The prompt at once, then as many tokens at a time as the passes read."""
    once: Array

    def pairs(self) -> tuple[tuple[Array, Array], ...]:
        """Return all pairs of readings."""
        return (self.plain, self.once), (self.blocks, self.once), (self.plain, self.blocks)


def readings(target: Model, prompt: Sequence[int], emitted: Sequence[int], widths: Sequence[int]) -> Readings:
    """Read the text that `emitted` was drawn after in three ways.

    Args:
        target: an honest model.
        prompt: one token or more.
        emitted: n >= 1 tokens after it.
        widths: how many tokens passes read, one after another; from the last on it begins again.
    """
    text, n = [*prompt, *emitted[:-1]], len(emitted)
    once = target.fresh().extend(text, n)
    plain, blocks = (_pieces(target, prompt, text[len(prompt) :], some) for some in ((1,), widths))
    return Readings(plain, blocks, once)


def read_alone(target: Model, prompt: Sequence[int], emitted: Sequence[int]) -> tuple[Array, Array]:
    """Return the rows of a text, from within its prompt on, if its tokens are read one by one, and at once."""
    text = [*prompt, *emitted[:-1]]
    first = max(1, len(prompt) - ALONE)
    alone = _pieces(target, text[:first], text[first:], (1,))
    return alone, target.fresh().extend(text, len(alone))


def read_beside(target: Model, prompt: Sequence[int], emitted: Sequence[int], widths: Sequence[int]) -> Array:
    """Return the rows that `emitted` was drawn from, if another text is read between its pieces.

    Where texts share a cache, as in llama.cpp, theirs lies between the entries of this one, and holes round too.
    """
    text, other = [*prompt, *emitted[:-1]], target.fresh()
    model, rows, beside = target.fresh(), list[Array](), cycle(BESIDE)
    for first, last in _pieces_of(len(prompt), len(text), widths):
        rows.append(model.extend(text[first:last], None if first else 1))
        if other.length + max(BESIDE) <= other.context_limit:
            other.extend(text[:1] * next(beside))
    return joined(rows)


def read_in_pieces(target: Model, prefixes: Sequence[Sequence[int]]) -> Array:
    """Return the rows after each of the texts, read in three pieces with another text between them.

    The last piece is the tokens of the last rows.
    """

    def rows_of() -> Iterator[Array]:
        for text, rows in chains(prefixes):
            model, other, before = target.fresh(), target.fresh(), text[:-rows]
            for piece in (before[: len(before) // 2], before[len(before) // 2 :]):
                if piece:
                    model.extend(piece, 1)
                    other.extend(text[:1])
            yield model.extend(text[-rows:])

    return joined(list(rows_of()))


def faulty_rows(
    target: Model, prompt: Sequence[int], emitted: Sequence[int], right: Array
) -> dict[str, tuple[Array, Array]]:
    """Return by fault the rows that it would make, and the right ones of the same tokens.

    Args:
        target: an honest model, which reads from the start what a wrong cache would hold.
        prompt: one token or more.
        emitted: the text after it.
        right: (n, V) the rows that its tokens were drawn from. There is nothing to compare if n is 1.
    """
    n = len(emitted)
    if n < 2:
        return {}
    before, after = [*prompt], [*emitted[:-1]]
    stray = next((token for token in reversed(emitted) if token != emitted[0]), emitted[0])
    found = {"an entry too many": target.fresh().extend([*before, stray, *after], n - 1)}
    if len(before) > 1:
        found["an entry too few"] = target.fresh().extend([*before[:-1], *after], n - 1)
    found["a row of the token before"] = right[:-1]
    return {name: (rows, right[1:]) for name, rows in found.items()}


def _pieces(target: Model, prompt: Sequence[int], rest: Sequence[int], widths: Sequence[int]) -> Array:
    model, text = target.fresh(), [*prompt, *rest]
    pieces = _pieces_of(len(prompt), len(text), widths)
    return joined([model.extend(text[first:last], None if first else 1) for first, last in pieces])


def _pieces_of(prompt_length: int, length: int, widths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield where the pieces of a text begin and end: its prompt, and what follows in pieces of these widths."""
    yield 0, prompt_length
    first, wide = prompt_length, cycle(widths)
    while first < length:
        last = min(first + next(wide), length)
        yield first, last
        first = last
