"""Laws in too few bits, temperatures that become something else, ties that are broken otherwise.

In: an honest engine. Out: the same whose target laws carry a rounding that fractions show.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from draftproof.engine.loop import Engine
from draftproof.redteam.base import Tamper
from draftproof.redteam.rewritten import Block, Written, written
from draftproof.rules.base import surplus
from draftproof.types import Array, Probs, Tokens
from draftproof.warpers.base import RowKind, Step, normalise
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.temperature import Temperature

__all__ = ["TAMPERS"]

FAMILY = "floats"
SEEN = ("exact", "sequence")
BFLOAT16, FLOAT16 = 8, 11
"""Significant bits."""
HEAVY = 10**7
"""A row that is too heavy weighs 1 + 1 / HEAVY: what float32 rows do at worst, and what passes for a law."""
COLD = Fraction(1, 8)
"""The temperature that stands for 0 where 0 cannot be divided by."""


def _rounded(numbers: Array, bits: int) -> Array:
    """Return the numbers with so many significant bits, floats or Fractions as they were."""
    mantissas, exponents = np.frexp(numbers.astype(np.float64))
    coarse = np.ldexp(np.round(mantissas * 2**bits), exponents - bits)
    if numbers.dtype != object:
        return coarse
    return np.array([Fraction(number) for number in coarse.reshape(-1)], dtype=object).reshape(coarse.shape)


def _of_bits(bits: int) -> Callable[[Probs], Probs]:
    return lambda laws: normalise(_rounded(laws, bits))


@dataclass(frozen=True)
class _Altered:
    """See `Pipeline`: the honest laws, changed."""

    honest: Pipeline
    change: Callable[[Probs], Probs]
    reads_text: bool = True

    def laws(self, rows: Array, kind: RowKind, texts: list[Tokens]) -> Probs:
        """See `Pipeline.laws`."""
        return self.change(self.honest.laws(rows, kind, texts))


def _altered(change: Callable[[Probs], Probs]) -> Callable[[Engine], Engine]:
    return lambda engine: replace(engine, pipeline=_Altered(engine.pipeline, change))


def _too_heavy(laws: Probs) -> Probs:
    return laws + laws / HEAVY


def _tested_in_bfloat16(block: Block) -> Written:
    accepted = block.tested_against(_rounded(block.laws, BFLOAT16)).accepted()
    return accepted, [block.final(accepted)]


def _summed_in_bfloat16(block: Block) -> Written:
    accepted, q = block.accepted(), block.proposal.laws
    p = block.laws[accepted]
    weights = p if q is None or accepted == len(q) else surplus(p, q[accepted])
    sums = np.array([_rounded(np.cumsum(weights)[i : i + 1], BFLOAT16)[0] for i in range(len(weights))])
    return accepted, [block.drawn(np.diff(sums, prepend=sums[:1] * 0))]


def _where_cold(instead: Temperature) -> Callable[[Engine], Engine]:
    """Return what gives an engine another temperature where it has 0."""
    return lambda engine: replace(
        engine,
        pipeline=Pipeline(tuple(instead if _is_cold(step) else step for step in engine.pipeline.steps)),
    )


def _is_cold(step: Step) -> bool:
    return isinstance(step, Temperature) and step.value == 0


@dataclass(frozen=True)
class _LastOfEquals:
    """See `Pipeline`: the honest laws, but at temperature 0 the last of equally good tokens."""

    honest: Pipeline
    reads_text: bool = True

    def laws(self, rows: Array, kind: RowKind, texts: list[Tokens]) -> Probs:
        """See `Pipeline.laws`."""
        cold = next((i for i, step in enumerate(self.honest.steps) if _is_cold(step)), None)
        if cold is None:
            return self.honest.laws(rows, kind, texts)
        laws = Pipeline(self.honest.steps[:cold]).laws(rows, kind, texts)
        return Temperature(0).laws(laws[..., ::-1], "laws")[..., ::-1]


TAMPERS = (
    Tamper(
        "target-in-bfloat16",
        FAMILY,
        "Rounds the target's laws to bfloat16 before they are compared.",
        "A16, deepseek-ai/DeepSpec #31",
        _altered(_of_bits(BFLOAT16)),
        caught_by=SEEN,
    ),
    Tamper(
        "target-in-float16",
        FAMILY,
        "Rounds the target's laws to float16 before they are compared.",
        "A16, deepseek-ai/DeepSpec #31",
        _altered(_of_bits(FLOAT16)),
        caught_by=SEEN,
    ),
    Tamper(
        "test-in-bfloat16",
        FAMILY,
        "Tests with the target's laws in bfloat16 and draws from them in full.",
        "A16, deepseek-ai/DeepSpec #31; A26, duoan/TorchCode #16",
        written(_tested_in_bfloat16),
        caught_by=SEEN,
    ),
    Tamper(
        "sums-in-bfloat16",
        FAMILY,
        "Draws residual and bonus from cumulative sums in bfloat16.",
        "derived",
        written(_summed_in_bfloat16),
        caught_by=SEEN,
    ),
    Tamper(
        "rows-a-little-too-heavy",
        FAMILY,
        "Leaves the target's rows as float32 sums them, one part in ten million too heavy; the draft's sum to one.",
        "derived; A28, vllm PR #2336, guards against it",
        _altered(_too_heavy),
        caught_by=SEEN,
    ),
    Tamper(
        "cold-treated-as-one",
        FAMILY,
        "Replaces a temperature that cannot be divided by with 1.",
        "A120, vllm #22180",
        _where_cold(Temperature()),
        caught_by=("sequence", "greedy"),
    ),
    Tamper(
        "cold-clamped",
        FAMILY,
        "Replaces a temperature that cannot be divided by with a small one.",
        "A120, vllm #22180",
        _where_cold(Temperature(COLD)),
        caught_by=("sequence",),
    ),
    Tamper(
        "last-of-equals",
        FAMILY,
        "Takes the last of equally good tokens at temperature 0, where plain decoding takes the first.",
        "A113, vllm #7627",
        lambda engine: replace(engine, pipeline=_LastOfEquals(engine.pipeline)),
        caught_by=("sequence",),
    ),
)
