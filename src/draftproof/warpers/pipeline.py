"""The order of the warpers, as data: temperature, then top-k, then top-p (the order of transformers).

In: rows of a model, logits or laws. Out: laws, float64 or Fractions, each row normalised.
"""

from dataclasses import dataclass

from draftproof.types import Array, Probs
from draftproof.warpers.base import LawFilter, RowKind, normalise
from draftproof.warpers.temperature import Temperature
from draftproof.warpers.top_k import TopK
from draftproof.warpers.top_p import TopP

__all__ = ["Pipeline", "sampling"]


@dataclass(frozen=True)
class Pipeline:
    """Rows to laws: the temperature, then each filter in turn, each seeing a normalised law."""

    temperature: Temperature = Temperature()
    filters: tuple[LawFilter, ...] = ()

    def laws(self, rows: Array, kind: RowKind) -> Probs:
        """Return laws (..., V) of rows (..., V).

        Raises:
            ContractError: if a row has no law (NaN, infinite or negative entries, nothing left).
        """
        law = self.temperature.laws(rows, kind)
        for keep in self.filters:
            law = normalise(keep(law))
        return law


def sampling(temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Pipeline:
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
