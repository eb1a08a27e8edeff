"""What a transformers call may ask for that speculation cannot give: one table, and the refusals in its words.

In: the settings of a `generate` call. Out: nothing, or a `UsageError`. Whatever is not refused here is honoured;
tests/integrations/test_refusals.py goes through every setting that transformers knows.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from transformers import GenerationConfig, PreTrainedModel
from transformers.generation.logits_process import (
    SynthIDTextWatermarkLogitsProcessor,
    UnbatchedClassifierFreeGuidanceLogitsProcessor,
)

from draftproof.errors import UsageError

__all__ = ["EXPECTED", "REFUSED", "Refusal", "refuse"]


class Refusal(NamedTuple):
    """A setting that is refused."""

    setting: str
    neutral: tuple[Any, ...]
    """Values that ask for nothing."""
    reason: str
    """Why, and what to do."""


_BEAMS = "beams are no samples of a law; set num_beams=1, or leave custom_generate out"
_LENGTHS = "it drafts by itself; leave it out, and choose here: speculative(drafter=..)"
_INSIDE = "what is inside the model is not kept; leave it out"
REFUSED = (
    Refusal("num_beams", (None, 1), _BEAMS),
    Refusal("num_beam_groups", (None, 1), _BEAMS),
    Refusal("diversity_penalty", (None, 0.0), _BEAMS),
    Refusal("constraints", (None,), _BEAMS),
    Refusal("force_words_ids", (None,), _BEAMS),
    Refusal("penalty_alpha", (None, 0, 0.0), "contrastive search is no sample of a law; leave it out"),
    Refusal("dola_layers", (None,), "layers are not contrasted; leave it out"),
    Refusal("guidance_scale", (None, 1, 1.0), "its processor remembers what it was asked before; leave it out"),
    Refusal("prompt_lookup_num_tokens", (None,), f"{_LENGTHS} with drafter='ngram'"),
    Refusal("assistant_early_exit", (None,), f"{_LENGTHS} with drafter='early_exit:N'"),
    Refusal("use_mtp", (None, False), _LENGTHS),
    Refusal("use_cache", (None, True), "speculation goes on from a cache; leave it out"),
    Refusal("cache_implementation", (None, "dynamic"), "the cache is draftproof's own; leave it out"),
    Refusal("cache_config", (None,), "the cache is draftproof's own; leave it out"),
    Refusal("prefill_chunk_size", (None,), "prompts are read in chunks as it is; leave it out"),
    Refusal("compile_config", (None,), "nothing is compiled; leave it out"),
    Refusal("low_memory", (None, False), "it is for another way of decoding; leave it out"),
    Refusal("output_attentions", (None, False), _INSIDE),
    Refusal("output_hidden_states", (None, False), _INSIDE),
)
"""Settings of a `GenerationConfig`, in the order in which they are looked at."""
EXPECTED = frozenset(
    {"attention_mask", "position_ids", "cache", "logits_to_keep", "use_cache", "output_attentions",
     "output_hidden_states"}
)  # fmt: skip
"""What `generate` hands over beside the ids, and is understood; anything else there would be another input."""
_REMEMBERING = {
    SynthIDTextWatermarkLogitsProcessor: "watermarking_config",
    UnbatchedClassifierFreeGuidanceLogitsProcessor: "guidance_scale",
}


def refuse(
    model: PreTrainedModel, config: GenerationConfig, inputs: Mapping[str, Any], processors: Iterable[object]
) -> None:
    """Refuse what cannot be honoured.

    Args:
        model: what is to generate.
        config: as `generate` prepared it.
        inputs: the further inputs of the model.
        processors: those of the logits.

    Raises:
        UsageError: naming the first setting at fault.
    """
    if model.config.is_encoder_decoder:
        raise UsageError("got an encoder-decoder; allowed are models that go on with their prompt", "model")
    if model.training:
        raise UsageError("got one in training mode, whose rows are random; call model.eval()", "model")
    for setting, neutral, reason in REFUSED:
        if (value := getattr(config, setting, None)) not in neutral:
            raise UsageError(f"got {value!r}; {reason}", setting)
    for processor in processors:
        if (setting := _REMEMBERING.get(type(processor))) is not None:
            raise UsageError(f"{type(processor).__name__} remembers what it was asked before; leave it out", setting)
    for name, value in inputs.items():
        if name not in EXPECTED and value is not None:
            raise UsageError("the model would be given more than token ids; leave it out", name)
    cache = inputs.get("cache")
    if cache is not None and cache.get_seq_length() > 0:
        raise UsageError("got one with tokens in it; the cache is draftproof's own, so give the whole text", "cache")
