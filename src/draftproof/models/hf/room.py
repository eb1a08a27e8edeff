"""What a model will take in memory, foretold from config.json and the headers of its weights; and what is free.

In: a folder, its configuration. Out: bytes, by what they are for. It reads no weight and reserves nothing.
"""

from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from draftproof.errors import UsageError
from draftproof.models.hf.folder import first_line, weight_files
from draftproof.models.hf.spec import DTYPES, HfSpec
from draftproof.models.memory import free_memory

__all__ = ["PLANNED", "free_of", "planned"]

PLANNED = 4096
"""Tokens of cache that there must be room for, unless `context` says otherwise: caches grow as texts do."""
_BYTES = {"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2, "I16": 2, "U16": 2}
"""Of the number formats of safetensors; others have one."""


def planned(folder: Path, spec: HfSpec, config: Any) -> dict[str, int]:
    """Return planned bytes, by what they are for.

    Args:
        folder: with weights and config.json.
        spec: how it is to be loaded.
        config: the configuration, as transformers reads it.

    Raises:
        UsageError: if weights are missing or damaged.
    """
    said = str(spec.dtype if spec.dtype != "auto" else config.dtype or "").removeprefix("torch.")
    width = None if getattr(config, "quantization_config", None) else DTYPES.get(said)
    weights = sum(_weights(path, width) for path in weight_files(folder))
    text = config.get_text_config()
    limit = getattr(text, "max_position_embeddings", None) or PLANNED
    tokens = spec.context or min(limit, PLANNED)
    return {"weights": weights, f"a cache of {tokens} tokens": tokens * _cache(text) * (width or DTYPES["bfloat16"])}


def free_of(device: str) -> tuple[int | None, str]:
    """Return how many bytes are free on a device, and what they are called."""
    if device == "cpu":
        return free_memory(), "memory"
    import torch

    if device != "auto":
        return torch.cuda.mem_get_info(device)[0], f"the memory of {device}"
    of_devices = sum(torch.cuda.mem_get_info(number)[0] for number in range(torch.cuda.device_count()))
    return of_devices + (free_memory() or 0), "the memory of all devices"


def _weights(path: Path, width: int | None) -> int:
    """Return the bytes of a file's weights, at `width` bytes a number, or as they are stored."""
    if path.suffix != ".safetensors":
        return path.stat().st_size
    total = 0
    try:
        with safe_open(path, framework="np") as file:
            for name in file.keys():  # noqa: SIM118 (it is no dict)
                part = file.get_slice(name)
                count = 1
                for length in part.get_shape():
                    count *= length
                total += count * (width or _BYTES.get(part.get_dtype(), 1))
    except (SafetensorError, OSError) as error:
        raise UsageError(
            f"{path}: cannot be read as safetensors ({first_line(error)}); if it was cut off, fetch it again"
        ) from None
    return total


def _cache(text: Any) -> int:
    """Return how many numbers the cache of a token has: keys and values of all layers that attend."""
    heads = getattr(text, "num_attention_heads", None) or 0
    kv_heads = getattr(text, "num_key_value_heads", None) or heads
    if not heads or not isinstance(kv_heads, int):
        return 0
    size = getattr(text, "head_dim", None) or text.hidden_size // heads
    kinds = getattr(text, "layer_types", None)
    layers = (
        text.num_hidden_layers if kinds is None else sum("linear" not in kind and "mamba" not in kind for kind in kinds)
    )
    return 2 * layers * kv_heads * size
