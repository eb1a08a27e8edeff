"""A measurement in named numbers with their units, for people and records. In: `Samples`. Out: name -> value.

Noise is the distance between the quartiles of the rounds, relative to their median.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from draftproof.economics.along import mean_acceptance, passes_of, survival_along
from draftproof.economics.forecast import COVERAGE, RESAMPLED
from draftproof.economics.pair import LONGEST
from draftproof.economics.rehearsal import STAGES
from draftproof.economics.samples import Floats, Samples

__all__ = ["Position", "cliff", "kept_per_position", "noise", "stage_seconds", "summary", "target_curve"]

Position = tuple[float, float, float]
"""A share, and the ends of its 90 % interval."""


def noise(rounds: Floats) -> float:
    """Return (third quartile - first) / median of the rounds (R,)."""
    low, middle, high = np.quantile(rounds, [0.25, 0.5, 0.75])
    return float((high - low) / middle)


def stage_seconds(samples: Samples, stage: str, drafter: str, rule: str) -> Floats:
    """Return (R, LONGEST + 1) seconds of a stage by draft length."""
    found: Floats = samples.passes[drafter][rule].seconds[..., STAGES.index(stage)]
    return found


def target_curve(samples: Samples) -> Floats:
    """Return (R, LONGEST + 1) seconds of a target pass over 1, 2, .. rows, without the fixed rows of the coupled rule.

    If only the coupled rule was measured, it is its curve.
    """
    every = {(d, r): stage_seconds(samples, "target", d, r) for d, rules in samples.passes.items() for r in rules}
    free = [rows for (_, rule), rows in every.items() if rule != "coupled"]
    curve: Floats = np.mean(free or list(every.values()), axis=0)
    return curve


def kept_per_position(samples: Samples, drafter: str, rule: str, workload: str) -> list[Position]:
    """Return for k = 1..16 the share of passes that keep k tokens or more, of those with room for 16.

    The intervals have the spread of the texts.
    """
    along = samples.texts[workload].along[drafter]
    survival = survival_along(rule, along, LONGEST)
    room = samples.tokens - LONGEST
    starts = passes_of(survival, along, LONGEST).starts[:, :room, None]
    kept, total = (survival[:, :room, 1:] * starts).sum(axis=1), starts.sum(axis=1)
    texts = len(kept)
    drawn = np.random.default_rng(0).multinomial(texts, np.ones(texts) / texts, RESAMPLED).astype(float)
    ends = np.quantile((drawn @ kept) / (drawn @ total), [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2], axis=0)
    shares = kept.sum(axis=0) / total.sum()
    return [(float(share), float(low), float(high)) for share, low, high in zip(shares, *ends, strict=True)]


def cliff(shares: Sequence[float]) -> int | None:
    """Return the first position at which nothing is kept although the one before it was kept in a twentieth or more.

    Acceptance decays; it does not end. What does is a drafter that lost its place, as one that reads a sliding window
    in full, or whose cache ends.
    """
    return next((k for k in range(2, len(shares) + 1) if shares[k - 1] == 0 and shares[k - 2] >= 0.05), None)


def summary(samples: Samples) -> dict[str, float]:
    """Return what was measured, by name."""
    return dict(_costs(samples)) | dict(_acceptance(samples))


def _costs(samples: Samples) -> Iterator[tuple[str, float]]:
    yield "plain decoding: ms a token", float(samples.plain.seconds.mean()) * 1e3
    yield "plain decoding: noise", noise(samples.plain.seconds)
    curve = target_curve(samples)
    yield "target: ms for 1 row", float(curve[:, 0].mean()) * 1e3
    for n in range(1, LONGEST + 2):
        yield f"target: {n} rows / 1 row", float(curve[:, n - 1].mean() / curve[:, 0].mean())
        yield f"target: {n} rows, noise", noise(curve[:, n - 1])
    yield "plain decoding: microseconds for 100 tokens of context", samples.plain.slope[0] * 1e8
    for drafter, rules in samples.passes.items():
        step = np.mean([stage_seconds(samples, "draft", drafter, rule)[:, 4] / 4 for rule in rules], axis=0)
        yield f"{drafter}: ms a draft step", float(step.mean()) * 1e3
        yield f"{drafter}: noise of a draft step", noise(step)
        yield f"{drafter}: draft step / plain token", float(step.mean() / samples.plain.seconds.mean())
        for rule in rules:
            for stage in ("warp", "rule", "rest"):
                for length in (1, 4, LONGEST):
                    seconds = stage_seconds(samples, stage, drafter, rule)[:, length]
                    yield f"{drafter}, {rule}: {stage}, ms, K={length}", float(seconds.mean()) * 1e3


def _acceptance(samples: Samples) -> Iterator[tuple[str, float]]:
    for workload, text in samples.texts.items():
        for drafter, along in text.along.items():
            yield f"{drafter}, {workload}: sum min(p, q)", mean_acceptance("token", along)
            for rule in samples.passes[drafter]:
                for k, (share, low, high) in enumerate(kept_per_position(samples, drafter, rule, workload), 1):
                    name = f"{drafter}, {workload}, {rule}: kept at position {k}"
                    yield from ((name, share), (f"{name}, low", low), (f"{name}, high", high))
