"""A device apart, for tests on machines that have none: tensors that meet only their like, and whose way home is seen.

`Far` tensors say that they are on a GPU and behave like it: an operation with a tensor that is elsewhere fails (but for
indices, as in torch), NumPy cannot read them, and what fetches entries of them is noted.
"""

from dataclasses import dataclass, field

import numpy as np

from conftest import needs
from draftproof.models.table import TableModel

torch = needs("torch")
PLACE, HOME = torch.device("cuda:0"), torch.device("cpu")
T = torch.Tensor
INDEXING = (T.__getitem__, T.__setitem__)
FETCHES = (T.tolist, T.item, T.__float__, T.__int__, T.__bool__, T.__index__)
REFUSED = (T.numpy, T.__array__)


class Far(torch.Tensor):
    """A tensor on a device of its own."""


@dataclass
class Device(torch.overrides.TorchFunctionMode):
    """The device, while it is entered: `with Device() as device`."""

    fetched: list[int] = field(default_factory=list)
    """How many entries each fetch took."""

    def __post_init__(self):
        super().__init__()

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        tensors, named = list(tensors_in((args, kwargs))), places_in((*args, kwargs.get("device")))
        far = any(isinstance(tensor, Far) for tensor in tensors)
        if function == T.device.__get__:
            return PLACE if far else HOME
        home = HOME in named or function is T.cpu
        if far:
            self._look(function, args, tensors, home)
        if PLACE in named:
            kwargs.pop("device", None)
            args = [arg for arg in args if places_in([arg]) != [PLACE]]
        with torch._C.DisableTorchFunctionSubclass():
            found = function(*args, **kwargs)
        if home or not (far or PLACE in named):
            return found.as_subclass(T) if isinstance(found, T) else found
        return iter([there(one) for one in found]) if function is T.__iter__ else there(found)

    def _look(self, function, args, tensors, home):
        if function in REFUSED or function in FETCHES or home:
            self.fetched.append(args[0].numel())
        if function in REFUSED:
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        if function in INDEXING:
            tensors = [args[0], *tensors_in(args[2:])]
        if not all(isinstance(tensor, Far) for tensor in tensors):
            raise RuntimeError(f"{function.__name__}: expected all tensors to be on one device, but found two")


def places_in(arguments):
    """The devices among the arguments of a function."""
    return [
        torch.device(one)
        for one in arguments
        if isinstance(one, torch.device) or (isinstance(one, str) and one == "cpu")
    ]


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from tensors_in(one)


def there(value):
    if isinstance(value, torch.Tensor):
        return value.as_subclass(Far)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(there, value))
    return type(value)(map(there, value)) if isinstance(value, list | tuple) else value


@dataclass
class OnDevice(TableModel):
    """The same table; rows are float32 tensors of torch, on the device or (`apart` is false) in main memory."""

    apart: bool = True

    def extend(self, tokens, rows=None, parents=None):
        with torch.inference_mode():
            found = torch.from_numpy(np.array(super().extend(tokens, rows, parents)))
        return found.as_subclass(Far) if self.apart else found

    def fresh(self):
        return type(self)(self.law_of, self.vocab_size, self.context_limit, row_kind=self.row_kind, apart=self.apart)
