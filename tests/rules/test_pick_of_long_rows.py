"""From a long row the same token is drawn as the definition draws: zeros are left out, and no sum changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.rules import base
from draftproof.rules.base import LONG, pick

UNIFORMS = st.one_of(st.floats(0, 1, exclude_max=True), st.sampled_from([0.0, 1 - 2.0**-53]))


@pytest.mark.parametrize("filled", [0.001, 0.5, 1])
@given(seed=st.integers(0, 2**32 - 1), uniform=UNIFORMS, exactly=st.booleans())
def test_leaving_out_zeros_changes_no_draw(filled, seed, uniform, exactly):
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random(LONG + 1) < filled, rng.exponential(size=LONG + 1), 0)
    weights[rng.integers(LONG)] = 1
    reached = np.cumsum(weights)
    u = np.array(reached[int(uniform * LONG)] / reached[-1] if exactly else uniform)
    token = pick(weights, u)
    assert token == base._first_above(weights, u)
    assert weights[token] > 0
