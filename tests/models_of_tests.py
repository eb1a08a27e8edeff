"""What tests of models share: whether BLAS keeps rows apart, and texts to read."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from draftproof.models.blocks import Columns


def kernels():
    return ", ".join(f"{info['internal_api']} {info.get('architecture', '?')}" for info in threadpool_info())


def blas_keeps_rows_apart():
    """Whether a row of a small product has the same bits among 2, 3 .. 8 rows."""
    rng = np.random.default_rng(0)
    columns = Columns(rng.standard_normal((384, 128), dtype=np.float32))
    rows = rng.standard_normal((8, 384), dtype=np.float32)
    whole = columns(rows)
    return all(np.array_equal(columns(rows[:n]), whole[:, :n]) for n in range(2, 8))


needs_rows_apart = pytest.mark.skipif(
    not blas_keeps_rows_apart(), reason=f"these BLAS kernels round by the number of rows: {kernels()}"
)


def a_text(model, length, seed):
    return np.random.default_rng(seed).integers(0, model.vocab_size, length).tolist()
