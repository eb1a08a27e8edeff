"""Laws for tests: small rational ones, zeros, one-hot and equal laws among them; what a lossless pass amounts to."""

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from hypothesis import strategies as st


@st.composite
def law(draw, size):
    weights = draw(st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(any))
    total = sum(weights)
    return np.array([Fraction(weight, total) for weight in weights], dtype=object)


@st.composite
def law_pairs(draw, max_size=5):
    size = draw(st.integers(1, max_size))
    p = draw(law(size))
    return p, draw(st.one_of(st.just(p), law(size)))


@st.composite
def blocks(draw, max_depth=3, max_size=3):
    """Target rows (K + 1, V) and draft rows (K, V), 1 <= K <= max_depth; half of the draft rows are the target's."""
    size, depth = draw(st.integers(2, max_size)), draw(st.integers(1, max_depth))
    pairs = []
    for _ in range(depth):
        p = draw(law(size))
        pairs.append((p, draw(st.one_of(st.just(p), law(size)))))
    return np.stack([*(p for p, _ in pairs), draw(law(size))]), np.stack([q for _, q in pairs])


@st.composite
def float_rows(draw, rows, size):
    entries = st.floats(0, 1, width=32)
    matrix = draw(st.lists(st.lists(entries, min_size=size, max_size=size).filter(any), min_size=rows, max_size=rows))
    weights = np.array(matrix, dtype=np.float64)
    return weights / weights.sum(-1, keepdims=True)


def in_floats(exact):
    return np.array([float(entry) for entry in exact.ravel()]).reshape(exact.shape)


def repeated(p, q, depth):
    """The rows of a pass in which every position has the same two laws."""
    return np.stack([p] * (depth + 1)), np.stack([q] * depth)


def product_of(rows):
    """The law of a text whose i-th token has the law rows[i] whatever came before."""
    texts = product(range(rows.shape[-1]), repeat=len(rows))
    law = {text: prod((row[token] for row, token in zip(rows, text, strict=True)), start=Fraction(1)) for text in texts}
    return {text: chance for text, chance in law.items() if chance}


def completed(pass_law, rows):
    """The law of the text of len(rows) tokens that begins with what a pass emits and goes on with the target's rows.

    A rule is lossless if and only if this is `product_of(rows)`.
    """
    law = {}
    for emitted, chance in pass_law.items():
        for rest, share in product_of(rows[len(emitted) :]).items():
            law[emitted + rest] = law.get(emitted + rest, 0) + chance * share
    return {text: chance for text, chance in law.items() if chance}
