"""The exact witness of one pass: the shipped rule, run in Fractions over every value of its uniforms.

In: a rule and small rational laws. Out: the exact emitted law, compared with == . It must never approximate.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from draftproof.records import Conclusion, Finding
from draftproof.rules.base import Rule, pick
from draftproof.types import Array, Noise, Purpose
from draftproof.witness.forking import exact_law

__all__ = ["check_rule", "first_token_law", "pass_law", "rationals"]


def rationals(rows: Sequence[Sequence[str | int | Fraction]]) -> Array:
    """Return an object array of Fractions from rows such as [["1/2", "1/2"]]."""
    return np.array([[Fraction(entry) for entry in row] for row in rows], dtype=object)


def pass_law(rule: Rule, target: Array, draft: Array) -> dict[tuple[int, ...], Fraction]:
    """Return the exact law of what one pass emits when row i of both laws does not depend on the drafted tokens.

    Args:
        rule: the shipped rule.
        target: (K + 1, V) Fractions.
        draft: (K, V) Fractions.
    """

    def program(noise: Noise) -> tuple[int, ...]:
        uniforms = noise.uniforms(Purpose.DRAFT, 0, len(draft))
        tokens = np.array([pick(row, uniforms[i, ...]) for i, row in enumerate(draft)], dtype=np.int64)
        accept = noise.uniforms(Purpose.ACCEPT, 0, len(draft))
        final = noise.uniforms(Purpose.FINAL, 0, 1)[0, ...]
        verdict = rule.verify(target, draft, tokens, accept, final)
        return (*tokens[: int(verdict.accepted)].tolist(), int(verdict.token))

    return exact_law(program)


def first_token_law(rule: Rule, p: Array, q: Array) -> list[Fraction]:
    """Return the exact law (V,) of the first token that a pass with one drafted token emits, p and q being (V,)."""
    law = pass_law(rule, np.stack([p, p]), q[None])
    return [sum((chance for emitted, chance in law.items() if emitted[0] == x), Fraction(0)) for x in range(len(p))]


def check_rule(rule: Rule, p: Array, q: Array, subject: str) -> Finding:
    """Return the finding on one pair of rational laws (V,)."""
    largest = max(abs(emitted - wanted) for emitted, wanted in zip(first_token_law(rule, p, q), p, strict=True))
    if largest == 0:
        return Finding("exact", subject, Conclusion.LOSSLESS, 0.0, "equal in rational arithmetic")
    return Finding("exact", subject, Conclusion.LOSSY, float(largest), f"differs from p by {largest}")
