"""Which library an array is of. In: arrays of NumPy (floats, or objects such as `Fraction`), torch, or another.

Out: the functions of the array standard for them. array-api-compat decides; of NumPy's arrays, which most are, it has
decided before, because a pass asks a hundred times and would wait for the answer longer than for some products.
"""

from typing import Any

import array_api_compat
import numpy as np

from draftproof.types import Array

__all__ = ["array_namespace", "is_numpy_array"]

_NUMPY = array_api_compat.array_namespace(np.empty(0))


def array_namespace(*arrays: Array) -> Any:
    """Return the namespace that the arrays share.

    Raises:
        TypeError: if they are of different libraries, or of none.
    """
    if all(type(array) is np.ndarray for array in arrays):
        return _NUMPY
    return array_api_compat.array_namespace(*arrays)


def is_numpy_array(array: Array) -> bool:
    """Return whether it is an array of NumPy."""
    return isinstance(array, np.ndarray)
