"""The exact witness of one pass: the shipped rule in the shipped loop, in Fractions, over all its random numbers.

In: a rule or an assembled engine, and small rational laws. Out: the exact emitted law, compared with == . It must never
approximate.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.records import Conclusion, Finding
from draftproof.rules.base import Rule
from draftproof.types import Array, Noise
from draftproof.witness.base import Decoder, Subject, as_shipped
from draftproof.witness.flat import PROMPT, by_depth
from draftproof.witness.forking import exact_law

__all__ = [
    "PAIRS",
    "Exact",
    "check",
    "check_rule",
    "expected_tokens",
    "first_token_law",
    "pass_law",
    "rationals",
    "total_variation",
]

TextLaw = dict[tuple[int, ...], Fraction]

PAIRS: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "overlapping laws": (["1/2", "3/10", "1/5"], ["1/5", "3/10", "1/2"]),
    "another overlap": (["1/10", "3/5", "3/10"], ["1/2", "3/10", "1/5"]),
    "an unlike draft": (["1/2", "1/8", "3/8"], ["1/9", "2/3", "2/9"]),
    "laws with zeros": (["1/3", "0", "1/2", "1/6", "0"], ["0", "1/6", "1/3", "0", "1/2"]),
    "disjoint laws": (["1/4", "3/4", "0", "0"], ["0", "0", "2/3", "1/3"]),
    "equal laws": (["1/2", "1/3", "1/6"], ["1/2", "1/3", "1/6"]),
    "greedy target": (["0", "1", "0"], ["1/4", "1/4", "1/2"]),
    "greedy draft": (["1/2", "1/4", "1/4"], ["0", "1", "0"]),
    "four tokens": (["1/10", "1/5", "3/10", "2/5"], ["2/5", "3/10", "1/5", "1/10"]),
}
"""Pairs (p, q) that between them show every fault of a single position that is known."""


def rationals(rows: Sequence[Sequence[str | int | Fraction]]) -> Array:
    """Return an object array of Fractions from rows such as [["1/2", "1/2"]]."""
    return np.array([[Fraction(entry) for entry in row] for row in rows], dtype=object)


def pass_law(
    rule: Rule,
    target: Array,
    draft: Array,
    branching: tuple[int, ...] = (),
    assemble: Callable[[Engine], Decoder] = as_shipped,
    most_paths: int | None = None,
) -> TextLaw:
    """Return the exact law of what one pass emits when a row depends on nothing but its depth.

    Args:
        rule: the shipped rule.
        target: (K + 1, V) Fractions, row i for the position after i drafted tokens.
        draft: (K, V) Fractions.
        branching: for a tree rule, how many tokens are drafted at each depth.
        assemble: see `Subject`.
        most_paths: see `exact_law`.
    """
    engine, stop = assemble(by_depth(rule, target, draft, branching)), Stop(len(target))

    def program(noise: Noise) -> tuple[int, ...]:
        return next(engine.decode(PROMPT, stop, noise)).emitted

    return exact_law(program, most_paths, Fraction(1) if target.dtype == object else 1.0)


def first_token_law(
    rule: Rule,
    p: Array,
    q: Array,
    branching: tuple[int, ...] = (),
    assemble: Callable[[Engine], Decoder] = as_shipped,
    most_paths: int | None = None,
) -> list[Fraction]:
    """Return the exact law (V,) of the first token of a pass that drafts one token deep, p and q being (V,).

    Laws of floats are integrated in floats.
    """
    law = pass_law(rule, np.stack([p, p]), q[None], branching, assemble, most_paths)
    return [sum((chance for emitted, chance in law.items() if emitted[0] == x), Fraction(0)) for x in range(len(p))]


def expected_tokens(law: TextLaw) -> Fraction:
    """Return the exact mean number of tokens of a law over texts."""
    return sum((len(text) * chance for text, chance in law.items()), Fraction(0))


def total_variation(one: TextLaw, other: TextLaw) -> Fraction:
    """Return half the summed distance of two laws over texts."""
    nothing = Fraction(0)
    return sum((abs(one.get(text, nothing) - other.get(text, nothing)) for text in {*one, *other}), nothing) / 2


class Exact:
    """See `Witness`: the law of the first token of a pass, one finding for each pair of laws."""

    name = "exact"

    def __init__(self, pairs: Mapping[str, tuple[Sequence[str], Sequence[str]]] = PAIRS) -> None:
        self.pairs = dict(pairs)

    def examine(self, subject: Subject) -> Iterator[Finding]:
        """See `Witness.examine`."""
        for name, pair in self.pairs.items():
            p, q = rationals(pair)
            yield check(subject, p, q, name)[1]


def check_rule(rule: Rule, p: Array, q: Array, subject: str) -> Finding:
    """Return the finding on one pair of rational laws (V,)."""
    return _finding(subject, first_token_law(rule, p, q), p)


def check(
    subject: Subject, p: Array, q: Array, about: str, most_paths: int | None = None
) -> tuple[list[Fraction], Finding]:
    """Return the law that `subject` emits first for one pair of rational laws (V,), and the finding on it.

    Raises:
        TooManyPathsError: see `exact_law`.
    """
    law = first_token_law(subject.rule, p, q, subject.branching, subject.assemble, most_paths)
    return law, _finding(f"{subject.name}, {about}", law, p)


def _finding(subject: str, emitted: list[Fraction], p: Array) -> Finding:
    gaps = [abs(chance - wanted) for chance, wanted in zip(emitted, p, strict=True)]
    if not any(gaps):
        return Finding(Exact.name, subject, Conclusion.LOSSLESS, 0.0, "equal in rational arithmetic", 0.0)
    distance, where = sum(gaps) / 2, f"id {gaps.index(max(gaps))}"
    reason = f"the law of the first token differs from p by {max(gaps)} at {where}, total variation {distance}"
    return Finding(Exact.name, subject, Conclusion.LOSSY, float(max(gaps)), reason, float(distance), where)
