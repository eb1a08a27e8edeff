"""Penalties on tokens that the text has already: once each, or once for each time. In: rows and texts. Out: rows.

Presence and frequency are those of OpenAI and vLLM, over the output; repetition is that of `keskar2019` as transformers
has it, over prompt and output. Source: `keskar2019`.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from draftproof.arrays import array_namespace
from draftproof.errors import UsageError
from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind, copied, output_of, real

__all__ = ["FrequencyPenalty", "PresencePenalty", "RepetitionPenalty"]


@dataclass(frozen=True)
class FrequencyPenalty:
    """Multiply a token's probability by `factor` for each time it stands in the output.

    Args:
        factor: exp(-penalty), above 0; below 1 repeats less, above 1 more.
    """

    factor: float | Fraction
    reads_text = True

    def __post_init__(self) -> None:
        _refuse_no_factor(self.factor, "frequency_penalty")

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """See `Warper.warp`."""
        return _multiplied(rows, kind, self.factor, (Counter(output_of(text)) for text in texts or ()))


@dataclass(frozen=True)
class PresencePenalty:
    """Multiply a token's probability by `factor` if it stands in the output, however often.

    Args:
        factor: exp(-penalty), above 0.
    """

    factor: float | Fraction
    reads_text = True

    def __post_init__(self) -> None:
        _refuse_no_factor(self.factor, "presence_penalty")

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """See `Warper.warp`."""
        return _multiplied(rows, kind, self.factor, (dict.fromkeys(output_of(text), 1) for text in texts or ()))


@dataclass(frozen=True)
class RepetitionPenalty:
    """Divide the score of a token that the text has, prompt included, by `penalty`; multiply it where it is negative.

    This depends on where a model's scores have their zero. The score of a law is its logarithm, never positive: the law
    is raised to the power `penalty`, which is exact on Fractions where the penalty is whole.

    Args:
        penalty: above 0; above 1 repeats less.
    """

    penalty: float | Fraction
    reads_text = True

    def __post_init__(self) -> None:
        if not 0 < real(self.penalty) < math.inf:
            raise UsageError(f"got {self.penalty}; allowed are numbers above 0 (1 = no penalty)", "repetition_penalty")

    def warp(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> tuple[Array, RowKind]:
        """See `Warper.warp`."""
        changed, power = copied(rows), self.penalty
        power = int(power) if power == int(power) else power if rows.dtype == object else float(power)
        xp = array_namespace(changed)
        for row, text in enumerate(texts or ()):
            seen = sorted(token for token in set(text) if token < rows.shape[-1])
            old = changed[row, seen]
            new = old**power if kind == "laws" else xp.where(old < 0, old * power, old / power)
            changed[row, seen] = new
        return changed, kind


def _refuse_no_factor(factor: float | Fraction, setting: str) -> None:
    if not 0 < real(factor) < math.inf:
        raise UsageError(f"got the factor {factor}; allowed are numbers above 0 (1 = no penalty)", setting)


def _multiplied(
    rows: Array, kind: RowKind, factor: float | Fraction, counts: Iterable[Mapping[int, int]]
) -> tuple[Array, RowKind]:
    """Return the rows, token t of row i multiplied by factor ** counts[i][t] as a law."""
    changed, size = copied(rows), rows.shape[-1]
    for row, count in enumerate(counts):
        times = {token: n for token, n in count.items() if token < size}
        tokens = list(times)
        if rows.dtype == object:
            factors = np.array([factor**n for n in times.values()], dtype=object)
            changed[row, tokens] = changed[row, tokens] * factors
            continue
        xp = array_namespace(changed)
        added = xp.asarray([n * math.log(factor) for n in times.values()], dtype=xp.float64, device=rows.device)
        if kind == "logits":
            changed[row, tokens] = changed[row, tokens] + added
        else:  # as a factor what is added could leave the range of float64: the largest factor becomes 1
            shifts = xp.zeros_like(changed[row])
            shifts[tokens] = added
            changed[row] = changed[row] * xp.exp(shifts - xp.max(shifts))
    return changed, kind
