"""The drafter that is a smaller model of the same vocabulary. In: a context. Out: the model's warped law."""

from dataclasses import dataclass
from typing import Self

from draftproof.models.base import Model
from draftproof.types import Probs, Tokens
from draftproof.warpers.pipeline import Pipeline

__all__ = ["ModelDrafter"]


@dataclass(frozen=True)
class ModelDrafter:
    """Propose the law of `model` after the same warpers as the target's, which accepts most.

    Any pipeline would be lossless: the law that is drawn from is the law that is tested.
    """

    model: Model
    pipeline: Pipeline = Pipeline()

    def law(self, context: Tokens) -> Probs | None:
        """Return (V,), or None where the context does not fit the model, or is empty."""
        if not 0 < len(context) <= self.model.context_limit:
            return None
        self.rewind(len(context) - 1)
        rows = self.model.extend(context[self.model.length :], rows=1)
        return self.pipeline.laws(rows, self.model.row_kind, [context])[0]

    def rewind(self, length: int) -> None:
        """See `Drafter.rewind`."""
        self.model.rewind(min(length, self.model.length))

    def fresh(self) -> Self:
        """Return the drafter with an empty cache; the model's weights are shared."""
        return type(self)(self.model.fresh(), self.pipeline)
