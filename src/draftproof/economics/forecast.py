"""From a measurement to the speed-up of every drafter, rule and draft length on every workload, each with an interval.

In: `Samples`. Out: `Forecast`. It adds up what the passes of each text cost, as many of each length as the text takes
on average; it assumes neither that acceptance is independent nor that all passes are full.

The interval is for another run of the same size, on other texts of the same kind: the spread of rounds, texts and
passes counts twice, once for what was measured and once for what is to come.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from draftproof.economics.along import Passes, mean_acceptance, passes_of, survival_along
from draftproof.economics.costs import growth, pass_seconds_by_rule, plain_seconds, usual_context
from draftproof.economics.rehearsal import STAGES
from draftproof.economics.samples import Floats, Samples
from draftproof.economics.survival import iid_survival, tokens_per_pass
from draftproof.types import Array

__all__ = ["COVERAGE", "Forecast", "Forecaster", "Setting"]

COVERAGE = 0.9
"""Of every interval."""
METHOD_ERROR = 0.015
"""Standard deviation of what a rehearsed pass costs beside one in generation: medians for means, a stopwatch, caches
that are not quite settled. Differences of up to 3 % were seen where both ran in turn."""
RESAMPLED = 2000
"""Resamples for an interval: its ends then lie within a twentieth of its width."""


@dataclass(frozen=True, order=True)
class Setting:
    """What generates: a drafter, a rule, a draft length of 1 or more."""

    drafter: str
    rule: str
    length: int


@dataclass(frozen=True)
class Forecast:
    """The speed-up of a setting over plain decoding, reading the prompt included.

    Args:
        setting: what generates.
        workloads: whose texts, together.
        speedup: expected.
        interval: 90 % for a run of the same size.
        tokens_per_pass: expected, short passes at the end of a text included.
        survival: for k = 1..K the share of passes, of those with room for K, that keep k tokens or more.
        acceptance: the mean chance of a drafted token, each tested alone; of places where nothing is proposed none.
        naive: the speed-up by the formula for i.i.d. acceptance, at the same costs.
    """

    setting: Setting
    workloads: tuple[str, ...]
    speedup: float
    interval: tuple[float, float]
    tokens_per_pass: float
    survival: tuple[float, ...]
    acceptance: float
    naive: float


class Forecaster:
    """Computes forecasts from the samples of one measurement."""

    def __init__(self, samples: Samples) -> None:
        self.samples = samples
        self._kept: dict[tuple[Setting, str], tuple[Passes, Array]] = {}

    def forecast(self, setting: Setting, workloads: Sequence[str] = ()) -> Forecast:
        """Return the forecast of a setting on some workloads taken together; on all of them if none is named."""
        names = tuple(workloads) or tuple(self.samples.texts)
        kept = [self._passes(setting, name) for name in names]
        run = _Run(self.samples, setting, names, [passes for passes, _ in kept])
        acceptance = float(np.mean([self._acceptance(setting, name) for name in names]))
        naive = tokens_per_pass(iid_survival(min(1.0, acceptance), setting.length)) * run.plain.mean()
        return Forecast(
            setting,
            names,
            run.expected,
            run.interval(),
            self.samples.tokens * len(run.counts) / float(run.counts.sum()),
            _mean_survival(kept, self.samples.tokens - setting.length),
            acceptance,
            float(naive / run.costs[:, setting.length].mean()),
        )

    def _passes(self, setting: Setting, workload: str) -> tuple[Passes, Array]:
        if (setting, workload) not in self._kept:
            along = self.samples.texts[workload].along[setting.drafter]
            survival = survival_along(setting.rule, along, setting.length)
            self._kept[setting, workload] = passes_of(survival, along, setting.length), survival
        return self._kept[setting, workload]

    def _acceptance(self, setting: Setting, workload: str) -> float:
        rule = "token" if setting.rule == "block" else setting.rule
        return mean_acceptance(rule, self.samples.texts[workload].along[setting.drafter])


class _Run:
    """Texts of a measurement as a setting would generate them: passes and seconds."""

    def __init__(self, samples: Samples, setting: Setting, workloads: Sequence[str], passes: Sequence[Passes]) -> None:
        texts = [samples.texts[name] for name in workloads]
        self.counts: Floats = np.concatenate([some.by_length for some in passes])
        self.variance: Floats = np.concatenate([some.variance for some in passes])
        contexts = np.concatenate([text.prompts for text in texts]) + samples.tokens / 2
        self.tokens, usual = samples.tokens, usual_context(samples, workloads)
        self.plain = plain_seconds(samples, usual)
        seconds = pass_seconds_by_rule(samples, setting.drafter, setting.rule, usual)[..., : setting.length + 1]
        self.costs: Floats = seconds.mean(axis=0)
        self.single: Floats = seconds.reshape(-1, setting.length + 1)
        passes_measured = samples.passes[setting.drafter][setting.rule]
        step, row = (passes_measured.seconds[:, k, STAGES.index(of)].mean() for k, of in ((1, "draft"), (0, "target")))
        first = np.concatenate([text.first for text in texts])
        reading = np.concatenate([text.draft_first[setting.drafter] for text in texts]) - step
        steady = np.concatenate([text.steady_first for text in texts]) - row
        target = steady if setting.rule == "coupled" else first - self.plain.mean()
        self.prefill: Floats = np.maximum(target, 0) + np.maximum(reading, 0)
        self.prefill += (contexts - usual) * (self.counts @ growth(passes_measured)[: setting.length + 1])
        self.first: Floats = first + (contexts - usual) * (samples.tokens - 1) * samples.plain.slope[0]

    def speedup(self, texts: Floats, plain: Floats, costs: Floats, longer: Floats | float = 0.0) -> Floats:
        """Return (B,) plain / speculative seconds.

        Args:
            texts: (B, N) how often each text.
            plain: (B,) seconds for a token of plain decoding.
            costs: (B, K + 1) seconds of a pass by draft length.
            longer: (B, N) by which share there are more passes than expected.
        """
        decoding = texts @ self.first + texts.sum(axis=1) * (self.tokens - 1) * plain
        passes = ((texts * (1 + longer)) @ self.counts * costs).sum(axis=1)
        return decoding / (passes + texts @ self.prefill)

    @property
    def expected(self) -> float:
        """The speed-up with all rounds and texts alike."""
        every = np.ones((1, len(self.counts)))
        return float(self.speedup(every, self.plain.mean(keepdims=True), self.costs.mean(axis=0, keepdims=True))[0])

    def interval(self) -> tuple[float, float]:
        """Return the ends of the 90 % interval for another run.

        What was measured is the mean over rules that share stages; the run to come has one rule, so that each of its
        rounds is like one round of one rule.
        """
        random = np.random.default_rng(0)
        rounds, single = _drawn(random, len(self.plain)), _drawn(random, len(self.single), len(self.plain))
        measured = self.speedup(_drawn(random, len(self.counts)), rounds @ self.plain, rounds @ self.costs)
        noise = random.standard_normal((RESAMPLED, len(self.counts))) * self.variance**0.5 / self.counts.sum(axis=1)
        plain = np.tile(self.plain, len(self.single) // len(self.plain))
        again = self.speedup(_drawn(random, len(self.counts)), single @ plain, single @ self.single, noise)
        again *= np.exp(METHOD_ERROR * random.standard_normal(RESAMPLED))
        low, high = np.quantile(again / measured, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
        return self.expected * float(low), self.expected * float(high)


def _drawn(random: np.random.Generator, kinds: int, drawn: int | None = None) -> Floats:
    """Return (RESAMPLED, kinds) shares of kinds in a draw with one fewer than there are, which keeps the variance."""
    count = (drawn or kinds) - 1
    return random.multinomial(count, np.ones(kinds) / kinds, RESAMPLED) / count


def _mean_survival(kept: Sequence[tuple[Passes, Array]], room: int) -> tuple[float, ...]:
    """Return the survival at the starts of passes with room for all, weighted with how likely one starts there."""
    weighted = sum((rows[:, :room] * passes.starts[:, :room, None]).sum(axis=(0, 1)) for passes, rows in kept)
    total = sum(float(passes.starts[:, :room].sum()) for passes, _ in kept)
    return tuple(float(share) for share in np.asarray(weighted)[1:] / total)
