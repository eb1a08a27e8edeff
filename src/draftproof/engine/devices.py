"""Random numbers where the laws are. In: the random numbers of a pass, a law. Out: the same ones, on its device.

Laws and rules stay on the device that the rows of a model come from; what is sent there are uniforms, one a token. It
must never fetch a law from there.
"""

from dataclasses import dataclass

from draftproof.arrays import beside, is_numpy_array
from draftproof.errors import UsageError
from draftproof.types import Array, Draws, Probs, Purpose, Uniform

__all__ = ["draws_beside", "refuse_without_doubles"]


@dataclass(frozen=True)
class _Beside:
    """See `Draws`: those of `draws`, where `law` is."""

    draws: Draws
    law: Probs

    def uniforms(self, purpose: Purpose, count: int, first: int = 0) -> Uniform:
        """See `Draws.uniforms`."""
        return beside(self.draws.uniforms(purpose, count, first), self.law)

    def exponentials(self, depth: int, vocab_size: int) -> Array:
        """See `Draws.exponentials`."""
        return beside(self.draws.exponentials(depth, vocab_size), self.law)


def draws_beside(draws: Draws, law: Probs) -> Draws:
    """Return the random numbers where `law` is: themselves, if that is NumPy."""
    return draws if is_numpy_array(law) else _Beside(draws, law)


def refuse_without_doubles(rows: Array) -> None:
    """Raise UsageError if the rows are on a device that has no float64, which laws are in."""
    if not is_numpy_array(rows) and getattr(rows.device, "type", None) == "mps":
        raise UsageError("laws are float64, which the device mps does not have; use device=cpu", "target")
