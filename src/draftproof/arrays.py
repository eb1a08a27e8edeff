"""Which library an array is of, and where it lies. In: arrays of NumPy (floats, or `Fraction`s), torch, or another.

Out: the functions of the array standard for them; the same numbers elsewhere. array-api-compat decides; of NumPy's
arrays, which most are, it has decided before, because a pass asks a hundred times and would wait for the answer longer
than for some products.
"""

from typing import Any

import array_api_compat
import numpy as np

from draftproof.types import Array

__all__ = ["array_namespace", "beside", "is_numpy_array"]

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


def beside(array: Array, other: Array) -> Array:
    """Return the numbers of `array` where `other` is: in its library and on its device; itself if it is there.

    Laws that leave NumPy are in float64 afterwards. Rows of whole numbers are one-hot laws, or nothing: of those only
    the places are moved.

    Args:
        array: (..., V), or of any shape if not of whole numbers.
        other: what it is to be used with.
    """
    if is_numpy_array(other):
        return array if is_numpy_array(array) else np.asarray(array_api_compat.to_device(array, "cpu"))
    if not is_numpy_array(array):
        return array if array.device == other.device else array_api_compat.to_device(array, other.device)
    xp = array_namespace(other)
    if array.dtype.kind not in "iu":
        return xp.asarray(array.astype(np.float64), device=other.device)
    found = xp.zeros(array.shape, dtype=xp.float64, device=other.device)
    places = np.nonzero(array)
    found[tuple(xp.asarray(place, device=other.device) for place in places)] = 1
    return found
