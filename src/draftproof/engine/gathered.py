"""A model that waits for company: what several texts want to read is read together.

In: a model. Out: the same; in a text that is decoded beside others (`batch.py`), reading hands over to the others
until the batch reads for all of them. Elsewhere it reads at once. Texts are greenlets, because then the loop, the
drafters and the rules that decode one text are, as they stand, those that decode many.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from greenlet import getcurrent, greenlet

from draftproof.models.base import LayeredModel, Model, Read, Size
from draftproof.types import Array, Tokens
from draftproof.warpers.base import RowKind

__all__ = ["Gathered", "GatheredLayers", "TextTask", "Wanted", "gathered"]


class Wanted(NamedTuple):
    """What a text waits for."""

    read: Read
    patient: bool
    """Whether others may read something else first."""


class TextTask(greenlet):
    """The decoding of one text of a batch. It switches to its parent with a `Wanted`, or with what happened."""


@dataclass(frozen=True)
class Gathered:
    """See `Model`: the model itself, but for `extend`.

    Args:
        model: what reads.
        patient: whether it waits until no text of the batch wants to read with an impatient model; a target does, so
            that texts that draft more and less come to it together.
    """

    model: Model
    patient: bool = False

    @property
    def row_kind(self) -> RowKind:
        """See `Model.row_kind`."""
        return self.model.row_kind

    @property
    def vocab_size(self) -> int:
        """See `Model.vocab_size`."""
        return self.model.vocab_size

    @property
    def context_limit(self) -> int:
        """See `Model.context_limit`."""
        return self.model.context_limit

    @property
    def length(self) -> int:
        """See `Model.length`."""
        return self.model.length

    @property
    def size(self) -> Size:
        """See `Model.size`."""
        return self.model.size

    def extend(self, tokens: Tokens, rows: int | None = None, parents: Sequence[int] | None = None) -> Array:
        """See `Model.extend`."""
        task = getcurrent()
        if isinstance(task, TextTask) and task.parent is not None:
            return task.parent.switch(Wanted(Read(self.model, tokens, rows, parents), self.patient))
        return self.model.extend(tokens, rows, parents)

    def rewind(self, length: int) -> None:
        """See `Model.rewind`."""
        self.model.rewind(length)

    def keep(self, length: int, path: Sequence[int]) -> None:
        """See `Model.keep`."""
        self.model.keep(length, path)

    def fresh(self) -> Self:
        """See `Model.fresh`."""
        return type(self)(self.model.fresh(), self.patient)

    def fork(self) -> Self:
        """See `Model.fork`."""
        return type(self)(self.model.fork(), self.patient)

    def steady(self) -> Self:
        """See `Model.steady`."""
        return type(self)(self.model.steady(), self.patient)


@dataclass(frozen=True)
class GatheredLayers(Gathered):
    """See `LayeredModel`."""

    model: LayeredModel

    @property
    def layers(self) -> int:
        """See `LayeredModel.layers`."""
        return self.model.layers

    def early_exit(self, layers: int) -> Gathered:
        """See `LayeredModel.early_exit`; as a draft it waits for nobody."""
        return Gathered(self.model.early_exit(layers))


def gathered(model: Model, *, patient: bool) -> Gathered:
    """Return the model as one that waits for company, with all that it can do."""
    return GatheredLayers(model, patient) if isinstance(model, LayeredModel) else Gathered(model, patient)
