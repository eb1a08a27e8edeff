"""Frequency penalty: the more often a token came, the less probable it becomes. In: laws and texts. Out: weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from array_api_compat import array_namespace

from draftproof.errors import UsageError
from draftproof.types import Array, Probs, Tokens

__all__ = ["FrequencyPenalty"]


@dataclass(frozen=True)
class FrequencyPenalty:
    """Multiply a token's probability by `factor` for each time it stands in the text.

    A penalty a on the score is the factor exp(-a) on the law; as a factor it runs on Fractions too.

    Args:
        factor: above 0; below 1 repeats less, above 1 more.
        skip: how many tokens at the beginning of the text do not count (a prompt).
    """

    factor: float | Fraction
    skip: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.factor < float("inf"):
            raise UsageError(f"got {self.factor}; allowed are numbers above 0 (1 = no penalty)", "frequency_penalty")

    def reweigh(self, laws: Probs, texts: Sequence[Tokens]) -> Array:
        """See `TextFilter.reweigh`."""
        xp = array_namespace(laws)
        factors = xp.ones_like(laws)
        for row, text in enumerate(texts):
            for token in text[self.skip :]:
                factors[row, token] = factors[row, token] * self.factor
        return laws * factors
