"""A `generate` call of transformers, taken apart. In: what a `custom_generate` is given. Out: prompts and their parts.

It must never know who drafts.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from transformers import (
    GenerationConfig,
    GenerationMixin,
    LogitsProcessorList,
    MaxLengthCriteria,
    PreTrainedModel,
    StoppingCriteriaList,
)
from transformers.generation.streamers import BaseStreamer

from draftproof.errors import UsageError
from draftproof.integrations.processors import Processed
from draftproof.integrations.prompts import Prompt, prompts_of
from draftproof.integrations.refusals import refuse
from draftproof.integrations.writing import Written, padding_token
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.temperature import Temperature

__all__ = ["Call", "beside"]

_GENERATE = inspect.unwrap(vars(GenerationMixin)["generate"]).__code__


@dataclass(frozen=True)
class Call:
    """What `generate` asks for.

    Args:
        model: what is to generate.
        input_ids: (B, T).
        processors: of the logits.
        criteria: when a text ends.
        config: as `generate` prepared it.
        inputs: further inputs of the model.
        streamer: who gets tokens as they come.

    Raises:
        UsageError: naming the first setting that cannot be honoured.
    """

    model: PreTrainedModel
    input_ids: Tensor
    processors: LogitsProcessorList
    criteria: StoppingCriteriaList
    config: GenerationConfig
    inputs: Mapping[str, Any]
    streamer: BaseStreamer | None

    def __post_init__(self) -> None:
        refuse(self.model, self.config, self.inputs, self.processors)
        if self.streamer is not None and self.rows > 1:
            raise UsageError(f"got {self.rows} texts, which would mix; a streamer takes one", "streamer")
        ragged = any(type(criterion) is not MaxLengthCriteria for criterion in self.criteria)
        if self.rows > 1 and ragged and padding_token(self.config) is None:
            raise UsageError(
                "texts may end one before the other, and nothing can fill the rest; set it", "pad_token_id"
            )

    @property
    def rows(self) -> int:
        """B, all samples of all prompts."""
        return self.input_ids.shape[0]

    @property
    def copies(self) -> int:
        """How many samples of each prompt are wanted."""
        return self.config.num_return_sequences or 1

    @property
    def greedy(self) -> bool:
        """Whether the best token is taken, instead of a sample."""
        return not self.config.do_sample

    def prompts(self) -> list[Prompt]:
        """Return the texts that are gone on with."""
        return prompts_of(
            self.input_ids, self.inputs.get("attention_mask"), self.inputs.get("position_ids"), self.copies
        )

    def pipeline(self, prompt: Prompt) -> Pipeline:
        """Return how scores of a prompt become laws."""
        steps = [Processed(self.processors, prompt, self.rows)] if self.processors else []
        return Pipeline((*steps, Temperature(0)) if self.greedy else tuple(steps))

    def written(self, prompt: Prompt) -> Written:
        """Return an empty row of a prompt, which keeps what is asked for."""
        kept = bool(self.config.return_dict_in_generate)
        process = Processed(self.processors, prompt, self.rows) if kept and self.config.output_scores else None
        return Written(prompt.ids, process, kept and bool(self.config.output_logits), self.streamer)


def beside() -> dict[str, Any]:
    """Return those arguments of the `generate` that calls our caller which it does not hand on.

    transformers 5.24 gives a function that is a `custom_generate` neither the streamer nor the assistant that it was
    called with. A streamer that hears nothing waits for ever, so both are looked up where they stand.
    """
    frame = inspect.currentframe()
    for _ in range(2):
        frame = None if frame is None else frame.f_back
    if frame is None or frame.f_code is not _GENERATE:
        return {}
    return {name: frame.f_locals.get(name) for name in ("streamer", "assistant_model")}
