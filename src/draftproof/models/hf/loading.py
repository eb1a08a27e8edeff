"""From a model folder to a module of transformers, whole or not at all. In: a folder, how to load. Out: the module.

Weights that are missing or of another shape would be made up at random by transformers: here they are errors.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from draftproof.errors import UsageError
from draftproof.models.hf.folder import first_line
from draftproof.models.hf.quiet import quiet
from draftproof.models.hf.room import free_of, planned
from draftproof.models.hf.spec import HfSpec
from draftproof.models.llama_config import read_json
from draftproof.models.memory import check_room

__all__ = ["load_module"]


def load_module(folder: Path, spec: HfSpec) -> Any:
    """Return the module, ready to be asked.

    Raises:
        UsageError: if it is no causal language model, is not whole, or does not fit.
    """
    with quiet():
        config = _config(folder, spec)
        _check_context(config, spec)
        device = _device(spec)
        check_room(planned(folder, spec, config), *free_of(device))
        return _whole(folder, spec, config, device)


def _config(folder: Path, spec: HfSpec) -> Any:
    from transformers import AutoConfig

    _check_architecture(folder, spec)
    try:
        return AutoConfig.from_pretrained(folder, trust_remote_code=spec.trust_remote_code, local_files_only=True)
    except Exception as error:  # noqa: BLE001 (each kind of models has its own checks)
        raise UsageError(f"{folder / 'config.json'}: {first_line(error)}") from None


def _check_architecture(folder: Path, spec: HfSpec) -> None:
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    path = folder / "config.json"
    config = read_json(path)
    kind, names, code = (config.get(key) for key in ("model_type", "architectures", "auto_map"))
    has_code = isinstance(code, dict) and "AutoModelForCausalLM" in code
    if has_code and spec.trust_remote_code:
        return
    known = kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    causal = not names or not set(names).isdisjoint(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values())
    if known and causal and not config.get("is_encoder_decoder"):
        return
    if has_code and not known:
        raise UsageError(
            f"{path}: this model runs Python code of its own; if you trust it, add trust_remote_code=true behind the ?"
        )
    found = f"architectures is {names}" if names else f"model_type is {kind!r}"
    raise UsageError(f"{path}: {found}; allowed are the causal language models of transformers, as LlamaForCausalLM")


def _check_context(config: Any, spec: HfSpec) -> None:
    limit = getattr(config.get_text_config(), "max_position_embeddings", None)
    if spec.context and limit and spec.context > limit:
        raise UsageError(f"context is {spec.context}; this model reads at most {limit} tokens")


def _device(spec: HfSpec) -> str:
    """Return the device meant; "auto" stays what it is where there are GPUs."""
    if spec.device == "cpu":
        return "cpu"
    import torch

    count = torch.cuda.device_count()
    if spec.device == "auto":
        return "auto" if count else "cpu"
    number = int(spec.device.partition(":")[2] or 0)
    if number >= count:
        raise UsageError(f"device is {spec.device}, but torch finds {count or 'no'} GPU here; device=cpu always works")
    return f"cuda:{number}"


def _whole(folder: Path, spec: HfSpec, config: Any, device: str) -> Any:
    from transformers import AutoModelForCausalLM

    places = {"cpu": None, "auto": "auto"}.get(device, {"": device})
    try:
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            folder,
            config=config,
            dtype=spec.dtype,
            device_map=places,
            trust_remote_code=spec.trust_remote_code,
            local_files_only=True,
            ignore_mismatched_sizes=True,  # they are told below, by name
            output_loading_info=True,
        )
    except Exception as error:  # noqa: BLE001 (each kind of models, and of quantization, has its own)
        raise UsageError(f"{folder}: cannot be loaded: {first_line(error)}") from None
    module, found = loaded
    if missing := found["missing_keys"]:
        raise UsageError(f"{folder}: the weights lack {_some(missing)}, so they do not belong to its config.json")
    if other := found["mismatched_keys"]:
        name, stored, asked = min(other)
        raise UsageError(f"{folder}: {name} has the shape {tuple(stored)}; its config.json asks for {tuple(asked)}")
    if errors := found["error_msgs"]:
        raise UsageError(f"{folder}: cannot be loaded: {first_line(ValueError(errors[0]))}")
    return module.eval()


def _some(names: Iterable[str]) -> str:
    first, *others = sorted(names)
    return f"{first} and {len(others)} more" if others else first
