"""The order of the warpers, as data: temperature, then top-k, then top-p (the order of transformers).

In: rows of a model, logits or laws. Out: laws, float64 or Fractions, each row normalised.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from array_api_compat import is_numpy_array

from draftproof.errors import ContractError
from draftproof.types import Array, Probs, Tokens
from draftproof.warpers.base import LawFilter, RowKind, TextFilter, normalise
from draftproof.warpers.temperature import Temperature
from draftproof.warpers.top_k import TopK
from draftproof.warpers.top_p import TopP

__all__ = ["Pipeline", "sampling"]

CACHED = 2**17
"""So many entries are warped at a time, whole rows: what is written is still in the cache when it is read again."""


@dataclass(frozen=True)
class Pipeline:
    """Rows to laws: the temperature, then each filter in turn, each seeing a normalised law."""

    temperature: Temperature = Temperature()
    filters: tuple[LawFilter, ...] = ()
    penalties: tuple[TextFilter, ...] = ()
    """Come first: a penalty on a score is a factor of the law, whatever the temperature after it."""

    @property
    def reads_text(self) -> bool:
        """Whether `laws` needs the text before each row."""
        return bool(self.penalties)

    def laws(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None = None) -> Probs:
        """Return laws (..., V) of rows (..., V).

        Args:
            rows: what a model returned.
            kind: what that is.
            texts: for each of n rows the whole text before it; needed if `reads_text`.

        Raises:
            ContractError: if a row has no law (NaN, infinite or negative entries, nothing left); the message has its
                number. Also if texts are missing.
        """
        if self.penalties:
            rows, kind = self._penalised(rows, kind, texts), "laws"
        floats = kind == "logits" or rows.dtype == np.float64
        if floats and is_numpy_array(rows) and rows.ndim == 2 and len(rows) > 1 and rows.size > CACHED:
            return self._a_few_at_a_time(rows, kind)
        return self._warped(rows, kind)

    def _a_few_at_a_time(self, rows: Array, kind: RowKind) -> Probs:
        laws, step = np.empty(rows.shape), max(1, CACHED // rows.shape[-1])
        try:
            for first in range(0, len(rows), step):
                self._warped(rows[first : first + step], kind, laws[first : first + step])
        except ContractError:
            return self._warped(rows, kind)  # raises it again, now with the number of the row among all
        return laws

    def _warped(self, rows: Array, kind: RowKind, out: Array | None = None) -> Probs:
        law = self.temperature.laws(rows, kind)
        for keep in self.filters[:-1]:
            law = normalise(keep(law, law))
        for keep in self.filters[-1:]:
            return normalise(keep(law, law), out)
        if out is not None:
            out[...] = law
        return law

    def _penalised(self, rows: Array, kind: RowKind, texts: Sequence[Tokens] | None) -> Probs:
        if texts is None or len(texts) != len(rows):
            raise ContractError(f"penalties need the text before each of the {len(rows)} rows")
        law = Temperature().laws(rows, kind)
        for penalty in self.penalties:
            law = normalise(penalty.reweigh(law, texts))
        return law


def sampling(temperature: float | Fraction = 1.0, top_k: int = 0, top_p: float | Fraction = 1.0) -> Pipeline:
    """Return the pipeline of the usual three settings; `top_k` 0 and `top_p` 1 mean no limit.

    Raises:
        UsageError: if a setting is outside its range.
    """
    filters: list[LawFilter] = []
    if top_k != 0:
        filters.append(TopK(top_k))
    if top_p != 1:
        filters.append(TopP(top_p))
    return Pipeline(Temperature(temperature), tuple(filters))
