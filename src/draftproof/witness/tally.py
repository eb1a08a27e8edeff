"""What an engine emits, counted: the first token of many passes, and how far its frequencies may stray by chance.

In: a subject and the two laws of every position. Out: tokens, frequencies, bands. It must never decide: see `emission`
and `eprocess` for that. Checked in tests/witness/test_tally.py.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from draftproof.engine.stop import Stop
from draftproof.errors import ContractError, UsageError
from draftproof.noise import PhiloxNoise
from draftproof.rules.contract import check_laws
from draftproof.types import Probs
from draftproof.witness.base import Decoder, Subject
from draftproof.witness.flat import PROMPT, flat

__all__ = ["MOST_DRAWS", "band", "first_tokens", "frequencies"]

MOST_DRAWS = 100_000
"""Up to here log n! is below 1.1e6, where floats are 2.4e-10 apart: a chance is computed to some 1e-9 of itself."""
ROUNDING = 1e-8
"""By how much of itself a sum of such chances may be too small; it is added, so that no band is too narrow."""

Floats = NDArray[np.float64]


def first_tokens(
    subject: Subject, p: Probs, q: Probs, length: int, seed: int, first: int, count: int
) -> NDArray[np.int64]:
    """Return (count,) the first token that the engine emits in each of the passes first .. first + count - 1.

    Pass i has the random numbers of (seed, sequence i), so that a tally goes on where it ended and never changes. The
    whole shipped loop runs for each: 10,000 passes take 2 to 3 seconds with one drafted token, 4 to 7 with four.

    Args:
        subject: the engine.
        p: (V,) the target's law, at every position.
        q: (V,) the draft's law, at every position.
        length: how many tokens are drafted in a pass, 1 or more; of a tree its depth.
        seed: 0 .. 2**64 - 1.
        first: the number of the first pass.
        count: how many passes.

    Raises:
        UsageError: if `length` is below 1.
        ContractError: if a pass emits nothing. Whatever else a tampered engine raises is raised.
    """
    if length < 1:
        raise UsageError(f"got {length}; allowed are whole numbers from 1 up", "length")
    engine = subject.assemble(flat(subject.rule, p, q, length, subject.branching))
    stop = Stop(length + 1)
    tokens = (_first_token(engine, stop, PhiloxNoise(seed, i)) for i in range(first, first + count))
    return np.fromiter(tokens, dtype=np.int64, count=count)


def frequencies(tokens: NDArray[np.int64], vocab_size: int, at: Sequence[int]) -> Floats:
    """Return (len(at), V): for each n of `at` how often each token is among the first n, divided by n.

    Raises:
        UsageError: if there are not so many tokens, or n is below 1.
        ContractError: if a token is none of the vocabulary.
    """
    if len(at) and not 1 <= min(at) <= max(at) <= len(tokens):
        raise UsageError(f"got {list(at)}; allowed are whole numbers from 1 to the {len(tokens)} that were drawn", "at")
    strange = tokens[(tokens < 0) | (tokens >= vocab_size)]
    if len(strange):
        raise ContractError(f"token {strange[0]} was emitted; the vocabulary has 0 to {vocab_size - 1}")
    counts = [np.bincount(tokens[:n], minlength=vocab_size) / n for n in at]
    return np.array(counts).reshape(len(at), vocab_size)


def band(law: Probs, draws: int, false_alarm: float = 0.01) -> tuple[Floats, Floats]:
    """Return (V,) lowest and (V,) highest frequencies: with chance 1 - false_alarm or more, all tokens stay within.

    That is for one number of draws, fixed beforehand, each draw having `law`; who looks on while they come sees a band
    left more often. Each token that has mass, but not all of it, is given the same part of `false_alarm`, half of it
    for each side (Bonferroni), and the exact quantiles of its binomial law. Tokens of mass 0 and 1 have no choice.

    Args:
        law: (V,) what each draw has.
        draws: how many, 1 to `MOST_DRAWS`.
        false_alarm: between 0 and 1.

    Raises:
        UsageError: if a number is outside its range.
        ContractError: if `law` is none.
    """
    if not 1 <= draws <= MOST_DRAWS:
        raise UsageError(f"got {draws}; allowed are whole numbers from 1 to {MOST_DRAWS}", "draws")
    if not 0 < false_alarm < 1:
        raise UsageError(f"got {false_alarm}; allowed is what lies between 0 and 1", "false_alarm")
    masses = np.asarray(law, dtype=np.float64)
    check_laws(masses[None], "expected")
    low, high = (masses >= 1).astype(np.float64), (masses > 0).astype(np.float64)
    uncertain = np.flatnonzero((masses > 0) & (masses < 1))
    log_ways = _log_ways(draws)
    for token in uncertain:
        low[token], high[token] = _stray(log_ways, masses[token], false_alarm / (2 * len(uncertain)))
    return low, high


def _first_token(engine: Decoder, stop: Stop, noise: PhiloxNoise) -> int:
    emitted = next(iter(engine.decode(PROMPT, stop, noise))).emitted
    if not emitted:
        raise ContractError(f"the pass of sequence {noise.sequence} emitted nothing")
    return emitted[0]


def _log_ways(draws: int) -> Floats:
    """Return (draws + 1,) the logarithm of how many ways there are to choose k of the draws."""
    factorials = np.array([math.lgamma(k + 1) for k in range(draws + 1)])
    return factorials[-1] - factorials - factorials[::-1]


def _stray(log_ways: Floats, mass: float, each: float) -> tuple[float, float]:
    """Return the frequencies below and above which a token of `mass` strays with chance at most `each`."""
    draws = len(log_ways) - 1
    counts = np.arange(draws + 1)
    chances = np.exp(log_ways + counts * math.log(mass) + counts[::-1] * math.log1p(-mass)) * (1 + ROUNDING)
    below, above = np.cumsum(chances), np.cumsum(chances[::-1])
    fewest = np.searchsorted(below, each, side="right")  # P(X < fewest) is at most `each`, P(X <= fewest) above it
    most = draws - np.searchsorted(above, each, side="right")
    return fewest / draws, most / draws
