"""Predicted against measured: generates with every setting and compares its speed-up with the forecast.

In: a pair, draft lengths. Out: a `Cell` for each setting and workload. Every text is decoded with every setting in
shuffled order and plainly after every few, so that both sides of a ratio see one machine; and a few texts after every
round of the measurement, so that prediction and check do too: on a shared machine what a pass over four rows costs,
next to a pass over one, was seen to change by a tenth within minutes.
"""

import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from draftproof.economics.forecast import Forecaster, Setting
from draftproof.economics.pair import Pair
from draftproof.economics.samples import Samples
from draftproof.engine import plain
from draftproof.engine.stop import Stop
from draftproof.noise import PhiloxNoise
from draftproof.types import Tokens

__all__ = ["Cell", "Generation", "Verdict", "verdict"]

BETWEEN = 4
"""Texts with a draft between two of plain decoding."""
MOST_ERROR, LEAST_COVERED = 0.10, 0.85
"""The median absolute error and the share of cells in their 90 % intervals that make predictions good."""


@dataclass(frozen=True)
class Cell:
    """What was predicted for a setting on a workload, and what was measured."""

    setting: Setting
    workload: str
    predicted: float
    interval: tuple[float, float]
    naive: float
    measured: float

    @property
    def error(self) -> float:
        """The relative error of the prediction."""
        return self.predicted / self.measured - 1

    @property
    def naive_error(self) -> float:
        """The relative error of the formula for i.i.d. acceptance."""
        return self.naive / self.measured - 1

    @property
    def covered(self) -> bool:
        """Whether the measured speed-up lies in the interval."""
        return self.interval[0] <= self.measured <= self.interval[1]


@dataclass(frozen=True)
class Verdict:
    """What all cells amount to: median absolute errors, the share in their intervals, and whether that is good."""

    median_error: float
    median_naive_error: float
    covered: float

    @property
    def good(self) -> bool:
        """Whether errors are small and intervals hold."""
        return self.median_error <= MOST_ERROR and self.covered >= LEAST_COVERED


def verdict(cells: Sequence[Cell]) -> Verdict:
    """Return what cells amount to; 90 % intervals are held to 85 %, as cells share costs and rise together."""
    errors, naive = (
        [abs(value) for value in some] for some in zip(*((c.error, c.naive_error) for c in cells), strict=True)
    )
    return Verdict(float(np.median(errors)), float(np.median(naive)), float(np.mean([cell.covered for cell in cells])))


class Generation:
    """Texts generated with every drafter, rule and length, a few after each round of a measurement.

    Args:
        pair: what is measured.
        lengths: draft lengths, 1 to 16.
        rounds: of the measurement.
        seed: of other texts than those measured.
        advance: told of every one of `steps`.
    """

    def __init__(
        self, pair: Pair, lengths: Sequence[int], rounds: int, seed: int, advance: Callable[[str], None]
    ) -> None:
        self._pair, self._rounds, self._seed, self._advance = pair, rounds, seed, advance
        self._settings = [Setting(*parts) for parts in product(pair.drafters, pair.rules, lengths)]
        self._order = random.Random(seed)  # noqa: S311 - the order of a measurement is no secret
        self._spent: dict[tuple[str, Setting], list[tuple[float, float]]] = {}

    @property
    def steps(self) -> int:
        """How often `advance` is told."""
        return sum(map(len, self._pair.prompts.values()))

    def round(self, number: int) -> None:
        """Generate with every setting from the prompts that belong to this round."""
        for workload, prompts in self._pair.prompts.items():
            for i in range(number, len(prompts), self._rounds):
                settings = self._order.sample(self._settings, len(self._settings))
                for setting, seconds in _text(self._pair, prompts[i], settings, self._seed + i):
                    self._spent.setdefault((workload, setting), []).append(seconds)
                self._advance(f"generating: {workload}")

    def cells(self, samples: Samples) -> list[Cell]:
        """Return what was predicted and measured."""
        cells, forecaster = list[Cell](), Forecaster(samples)
        for (workload, setting), pairs in self._spent.items():
            said = forecaster.forecast(setting, [workload])
            plainly, drafted = np.sum(pairs, axis=0)
            cells.append(Cell(setting, workload, said.speedup, said.interval, said.naive, float(plainly / drafted)))
        return sorted(cells, key=lambda cell: (cell.workload, cell.setting))


def _text(
    pair: Pair, prompt: Tokens, settings: Sequence[Setting], seed: int
) -> Iterable[tuple[Setting, tuple[float, float]]]:
    """Yield for each setting the seconds of one text decoded plainly, by the nearest two, and with the setting."""
    stop = Stop(pair.tokens, pair.target.context_limit)

    def plainly(salt: int) -> float:
        noise = PhiloxNoise(seed + 7919 * salt)
        return _seconds(plain.decode(pair.target, pair.pipeline, prompt, stop, noise))

    before = plainly(0)
    for first in range(0, len(settings), BETWEEN):
        some = settings[first : first + BETWEEN]
        times = [_seconds(pair.engine(*_parts(one)).decode(prompt, stop, PhiloxNoise(seed))) for one in some]
        after = plainly(first + 1)
        for setting, seconds in zip(some, times, strict=True):
            yield setting, ((before + after) / 2, seconds)
        before = after


def _parts(setting: Setting) -> tuple[str, str, int]:
    return setting.drafter, setting.rule, setting.length


def _seconds(stream: Iterable[Any]) -> float:
    began = time.perf_counter()
    for _ in stream:
        pass
    return time.perf_counter() - began
