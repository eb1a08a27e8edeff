"""Who drafts for a module of transformers. In: a SPEC, another module, or a `Drafter`. Out: a `Drafter`.

Modules are wrapped once and remembered with the memory that belongs to one `speculative(..)`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from draftproof.drafters.base import Drafter
from draftproof.drafters.catalogue import load_drafter
from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.vocabulary import TranslatedDrafter
from draftproof.engine.gathered import gathered
from draftproof.engine.setup import Models
from draftproof.errors import UsageError
from draftproof.models.backend import LoadedModel
from draftproof.models.base import Model
from draftproof.models.hf.model import model_of
from draftproof.models.tokenizer import Tokenizer
from draftproof.models.words import Words, first_difference, translation
from draftproof.warpers.pipeline import Pipeline

__all__ = ["Modules", "Spelled"]

_LOOKUPS = {"none", "ngram", "suffix"}


class Spelled:
    """A tokenizer of transformers as those who translate and read files ask for one.

    Args:
        tokenizer: None if there is none; whoever asks is told so.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase | None) -> None:
        self._tokenizer = tokenizer

    @property
    def vocabulary(self) -> Mapping[str, int]:
        """See `Tokenizer.vocabulary`."""
        return self._there().get_vocab()

    @property
    def bos(self) -> int | None:
        """See `Tokenizer.bos`."""
        return cast("int | None", self._there().bos_token_id)

    def encode(self, text: str) -> list[int]:
        """See `Tokenizer.encode`."""
        return list(cast("Any", self._there())(text).input_ids)

    def decode(self, ids: Iterable[int]) -> str:
        """See `Tokenizer.decode`."""
        return cast("str", self._there().decode(list(ids), skip_special_tokens=True))

    def _there(self) -> PreTrainedTokenizerBase:
        if self._tokenizer is None:
            raise UsageError(
                "this drafter needs to know how tokens are written; give speculative(.., tokenizer=tokenizer)",
                "tokenizer",
            )
        return self._tokenizer


class Modules:
    """What was made of modules and SPECs.

    Args:
        tokenizer: of the target.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase | None) -> None:
        self._spelled = cast("Tokenizer", Spelled(tokenizer))
        self._made: dict[tuple[int, bool], tuple[PreTrainedModel, LoadedModel]] = {}
        self._loaded = Models()

    def target(self, module: PreTrainedModel) -> LoadedModel:
        """Return the module as a target; it is wrapped once."""
        return self._model(module, patient=True)

    def drafter(self, wanted: str | PreTrainedModel | Drafter, target: LoadedModel, pipeline: Pipeline) -> Drafter:
        """Return what `wanted` stands for.

        Args:
            wanted: a SPEC, an assistant, or a drafter that is used as it is.
            target: what is drafted for.
            pipeline: the warpers of drafting models.

        Raises:
            UsageError: if there is no such drafter, or its tokens are others.
        """
        if isinstance(wanted, PreTrainedModel):
            return self._assistant(self._model(wanted, patient=False).model, target, pipeline)
        if not isinstance(wanted, str):
            return wanted
        if {word.partition(":")[0] for word in wanted.removeprefix("chain:").split(",")} <= _LOOKUPS:
            return self._loaded.drafter(wanted, target, Pipeline())  # what it read of a file is kept
        return load_drafter(wanted, target, pipeline, self._loaded.load)

    def _model(self, module: PreTrainedModel, *, patient: bool) -> LoadedModel:
        key = id(module), patient
        if key not in self._made:
            self._made[key] = module, LoadedModel(gathered(model_of(module), patient=patient), self._spelled)
        return self._made[key][1]

    def _assistant(self, draft: Model, target: LoadedModel, pipeline: Pipeline) -> Drafter:
        if draft.vocab_size == target.model.vocab_size:
            return ModelDrafter(draft, pipeline)
        words = [Words(self._spelled, model.vocab_size) for model in (draft, target.model)]
        if difference := first_difference(*words):
            raise UsageError(f"got a model whose tokens are not the target's: {difference}", "drafter")
        translated = translation(*words)
        if translated is None:
            return ModelDrafter(draft, pipeline)
        return TranslatedDrafter(ModelDrafter(draft), translated, pipeline)
