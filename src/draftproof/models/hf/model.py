"""A causal language model of transformers as a `Model`. In: a module. Out: a model that has read nothing.

Rows are float32 logits: a NumPy array where the module computes them on the CPU, otherwise a tensor on its device.
It must never change the module, nor trust that a family of modules does what others do: `probe.py` asks.
"""

from transformers import PreTrainedModel

from draftproof.errors import UsageError
from draftproof.models.base import Model
from draftproof.models.hf.facts import facts_of
from draftproof.models.hf.forward import Forward
from draftproof.models.hf.layers import LayeredHfModel, has_layers
from draftproof.models.hf.probe import bytes_per_token, reads_ahead
from draftproof.models.hf.stateful import stateful_of
from draftproof.models.hf.texts import HfModel
from draftproof.models.snapshots import Snapshots

__all__ = ["model_of"]


def model_of(
    module: PreTrainedModel, context_limit: int | None = None, *, host: bool = True, pad_rows: bool | None = None
) -> Model:
    """Return the model that a causal language model of transformers is.

    A few tokens are read to find out how it can be read: any number of texts and trees in one forward, or one text.

    Args:
        module: in eval mode, on its device or devices; it is used as it is, and shared.
        context_limit: fewer tokens than it can hold.
        host: whether logits that are on the CPU come as NumPy arrays.
        pad_rows: whether a single row is read in the company of an idle one; None measures at the first single row of
            16-bit numbers on a CPU. Only modules that can read several texts in one forward do it.

    Raises:
        UsageError: if it cannot be used, with the reason.
    """
    if module.training:
        raise UsageError(f"{type(module).__name__} is in training mode, which draws numbers; call its eval() first")
    if reads_ahead(module):
        raise UsageError(f"{type(module).__name__} sees tokens before it is asked for them: it is no causal model")
    facts, forward = facts_of(module, context_limit, host), Forward(module, pad_rows)
    per_token = bytes_per_token(forward)
    if per_token is None:
        return Snapshots(stateful_of(module, facts))
    kind = LayeredHfModel if has_layers(module) else HfModel
    return kind(forward, facts.with_cache(per_token))
