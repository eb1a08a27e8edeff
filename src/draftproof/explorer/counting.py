"""Many passes of the engine that is switched on, counted a portion at a time: frequencies, bands, how they narrow.

In: a `State`, how many passes. Out: tokens and what they amount to. The tokens come from the shipped loop.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from draftproof.explorer.results import laws_of, subject_of
from draftproof.explorer.state import State
from draftproof.types import Array, Probs
from draftproof.witness.tally import band, first_tokens, frequencies

__all__ = ["FALSE_ALARM", "PORTION", "Count", "Narrowing", "count_of", "counted", "narrowing"]

FALSE_ALARM = 0.01
"""The chance that a lossless engine leaves the band with a given number of passes."""
PORTION = 1000
"""Passes counted between two looks."""
STOPS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)

Tokens = NDArray[np.int64]


@dataclass(frozen=True)
class Count:
    """What so many passes amount to."""

    draws: int
    frequencies: Array
    """(V,)."""
    low: Array
    """(V,) the lowest frequencies that chance explains if the law is p."""
    high: Array
    """(V,) the highest."""

    @property
    def outside(self) -> list[int]:
        """The tokens that chance does not explain."""
        strays = (self.frequencies < self.low) | (self.frequencies > self.high)
        return np.flatnonzero(strays).tolist()


@dataclass(frozen=True)
class Narrowing:
    """How far frequencies are from p after more and more passes."""

    draws: list[int]
    strays: Array
    """(n, V) frequency minus p."""
    low: list[float]
    """(n,) of the token with the widest band, its low end minus p."""
    high: list[float]


def counted(state: State, first: int, count: int) -> Tokens | str:
    """Return (count,) the first token of each of the passes from number `first` on, or how the engine broke down.

    It is for a process of its own.
    """
    p, q = laws_of(state)
    try:
        return first_tokens(subject_of(state), p, q, state.num_speculative_tokens, state.seed, first, count)
    except Exception as error:  # noqa: BLE001  whatever an examined engine does wrong is its fault
        return f"{type(error).__name__}: {error}"


def count_of(state: State, tokens: Tokens) -> Count:
    """Return what the tokens amount to."""
    p, _ = laws_of(state)
    found = frequencies(tokens, len(p), [len(tokens)])[0]
    return Count(len(tokens), found, *_band(tuple(p.tolist()), len(tokens)))


def narrowing(state: State, tokens: Tokens) -> Narrowing:
    """Return how far the frequencies were from p on the way."""
    p, _ = laws_of(state)
    at = [*(stop for stop in STOPS if stop < len(tokens)), len(tokens)]
    ends = [_band(tuple(p.tolist()), n) for n in at]
    widest = int(np.argmax(ends[-1][1] - ends[-1][0]))
    edges = [[float(end[widest] - p[widest]) for end in (low, high)] for low, high in ends]
    return Narrowing(at, frequencies(tokens, len(p), at) - p, [low for low, _ in edges], [high for _, high in edges])


@lru_cache(maxsize=256)
def _band(p: tuple[float, ...], draws: int) -> tuple[Probs, Probs]:
    return band(np.array(p), draws, FALSE_ALARM)
