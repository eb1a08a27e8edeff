"""The first layers of a module of transformers as a model of their own. In: a module. Out: a shallow copy with fewer.

Whatever owns the list of layers is copied, and whatever owns that; weights, norm and head are shared. It must never
change the module that it was given.
"""

import copy
from collections.abc import Sequence
from typing import Any, cast

from torch.nn import Module, ModuleList
from transformers import PreTrainedModel

from draftproof.errors import UsageError
from draftproof.models.hf.facts import facts_of
from draftproof.models.hf.forward import Forward
from draftproof.models.hf.probe import bytes_per_token
from draftproof.models.hf.texts import HfModel

__all__ = ["LayeredHfModel", "has_layers"]

HOOKS = ("_hf_hook", "_old_forward", "forward")
"""How accelerate moves inputs between devices; those of the layers themselves are enough."""


class LayeredHfModel(HfModel):
    """See `LayeredModel`. Make one with `model_of`."""

    @property
    def layers(self) -> int:
        """See `LayeredModel.layers`."""
        return len(self.family.windows or ())

    def early_exit(self, layers: int) -> HfModel:
        """See `LayeredModel.early_exit`."""
        if not 1 <= layers < self.layers:
            raise UsageError(f"got {layers}; allowed are 1 to {self.layers - 1}, fewer layers than the model has")
        whole = self.family
        if layers not in whole.exits:
            whole.exits[layers] = Forward(_first(whole.module, layers), whole.pad_rows)
        forward = whole.exits[layers]
        per_token = bytes_per_token(forward)
        if per_token is None:
            raise UsageError(f"the first {layers} layers of {type(whole.module).__name__} cannot be read alone")
        facts = facts_of(forward.module, self.context_limit, self._facts.host)
        return type(self)(forward, facts.with_cache(per_token))


def has_layers(module: PreTrainedModel) -> bool:
    """Whether a module has one list of all its layers."""
    return len(_lists(module)) == 1


def _lists(module: PreTrainedModel) -> list[str]:
    """Return the names of the lists that may be that of the layers."""
    count = module.config.get_text_config(decoder=True).num_hidden_layers
    named = module.named_modules()
    return [name for name, part in named if isinstance(part, ModuleList) and len(part) == count]


def _first(module: PreTrainedModel, layers: int) -> PreTrainedModel:
    """Return a copy with the first layers that shares everything else."""
    return cast("PreTrainedModel", _copy(module, _lists(module)[0].split("."), layers, {}))


def _copy(module: Module, path: Sequence[str], layers: int, configs: dict[int, Any]) -> Module:
    if isinstance(module, ModuleList):
        return module[:layers]
    fewer = copy.copy(module)
    for name in HOOKS:
        vars(fewer).pop(name, None)
    child = _copy(module.get_submodule(path[0]), path[1:], layers, configs)
    fewer._modules = {**module._modules, path[0]: child}  # noqa: SLF001 (to set an attribute would change the original)
    if (config := vars(module).get("config")) is not None:
        vars(fewer)["config"] = configs.setdefault(id(config), _config(config, layers))
    return fewer


def _config(config: Any, layers: int) -> Any:
    fewer = copy.deepcopy(config)
    text = fewer.get_text_config(decoder=True)
    if getattr(text, "layer_types", None) is not None:
        text.layer_types = text.layer_types[:layers]
    text.num_hidden_layers = layers
    return fewer
