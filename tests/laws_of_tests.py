"""Hypothesis strategies for laws: small rational laws with zeros, one-hot and equal laws among them."""

from fractions import Fraction

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
def float_rows(draw, rows, size):
    entries = st.floats(0, 1, width=32)
    matrix = draw(st.lists(st.lists(entries, min_size=size, max_size=size).filter(any), min_size=rows, max_size=rows))
    weights = np.array(matrix, dtype=np.float64)
    return weights / weights.sum(-1, keepdims=True)
