"""Random numbers of too few bits, and seeds that are not heard.

In: an honest engine. Out: the same, handed coarse numbers, or numbers of another request.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np

from draftproof.engine.loop import Engine
from draftproof.noise import PhiloxNoise
from draftproof.redteam.base import Tamper
from draftproof.redteam.handed import FAR, Readdressed, noisy
from draftproof.types import Array, Noise, Purpose, Uniform
from draftproof.witness.base import Decoder

__all__ = ["TAMPERS"]

FAMILY = "seeds"
LEVELS = 2**8
"""As many numbers in [0, 1) has a generator of bfloat16."""


@dataclass(frozen=True)
class _Coarse:
    """scale * floor(uniform * LEVELS) / LEVELS, for a uniform that answers comparisons only."""

    uniform: Any
    scale: Any = 1

    def __mul__(self, factor: Any) -> "_Coarse":
        return _Coarse(self.uniform, self.scale * factor)

    def __lt__(self, bound: Any) -> bool:
        if self.scale == 0:
            return bound > 0
        return self.uniform < Fraction(int(-(-LEVELS * bound // self.scale)), LEVELS)


def _coarse(uniforms: Uniform) -> Uniform:
    if uniforms.dtype != object:
        return np.floor(uniforms * LEVELS) / LEVELS
    return np.array([_Coarse(uniform) for uniform in uniforms], dtype=object)


@dataclass(frozen=True)
class _CoarseNoise:
    """Noise whose numbers for one purpose have eight bits."""

    noise: Noise
    purpose: Purpose

    def uniforms(self, purpose: Purpose, start: int, count: int, first: int = 0) -> Uniform:
        """See `Noise.uniforms`."""
        found = self.noise.uniforms(purpose, start, count, first)
        return _coarse(found) if count and purpose == self.purpose else found

    def exponentials(self, position: int, vocab_size: int) -> Array:
        """See `Noise.exponentials`."""
        return self.noise.exponentials(position, vocab_size)


def _of_eight_bits(purpose: Purpose) -> Callable[[Engine], Decoder]:
    return noisy(lambda noise: _CoarseNoise(noise, purpose))


def _going_on(engine: Engine) -> Decoder:
    requests = count()

    def change(noise: Noise) -> Noise:
        served = next(requests)
        return Readdressed(noise, lambda purpose, start, n: (purpose, start + FAR * served, n))

    return noisy(change)(engine)


TAMPERS = (
    Tamper(
        "coins-of-eight-bits",
        FAMILY,
        "Draws the coins of the test in bfloat16, like everything else of the model: they are multiples of 1/256.",
        "A16, deepseek-ai/DeepSpec #31",
        _of_eight_bits(Purpose.ACCEPT),
        caught_by=("exact", "sequence"),
    ),
    Tamper(
        "drafts-of-eight-bits",
        FAMILY,
        "Draws drafts with numbers that are multiples of 1/256, so that they are not drawn from the recorded law.",
        "A16, deepseek-ai/DeepSpec #31",
        _of_eight_bits(Purpose.DRAFT),
        caught_by=("exact", "sequence"),
    ),
    Tamper(
        "final-tokens-of-eight-bits",
        FAMILY,
        "Draws residual and bonus tokens with numbers that are multiples of 1/256.",
        "derived",
        _of_eight_bits(Purpose.FINAL),
        caught_by=("exact", "sequence"),
    ),
    Tamper(
        "seed-ignored",
        FAMILY,
        "Draws from a generator of its own with a fixed seed, whatever seed the request brings.",
        "A52, vllm #6038",
        noisy(lambda noise: PhiloxNoise(0)),
        caught_by=("exact", "sequence", "seeds"),
    ),
    Tamper(
        "stream-goes-on-between-requests",
        FAMILY,
        "Goes on with the stream where the request before stopped, so that one seed gives another text every time.",
        "A56, TensorRT-LLM PR #17599",
        _going_on,
        caught_by=("seeds",),
    ),
)
