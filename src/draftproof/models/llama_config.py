"""Reads config.json of a Hugging Face Llama: the numbers `tiny.py` needs, or a refusal by name.

In: a folder. Out: `Shape`. It must never guess a number that the file does not give.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from draftproof.errors import UsageError

__all__ = ["Shape", "missing", "read_json", "read_shape"]

FIXED = {"hidden_act": "silu", "attention_bias": False, "mlp_bias": False, "rope_scaling": None}
"""Settings of the Llama family that `tiny.py` computes in one way only."""


@dataclass(frozen=True)
class Shape:
    """The numbers of a Llama model."""

    vocab_size: int
    context_limit: int
    hidden: int
    mlp: int
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    tied: bool
    norm_epsilon: float
    rope_theta: float


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in `path`, or raise a `UsageError` that names the file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise missing(path) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read as JSON ({error})") from None
    if not isinstance(found, dict):
        raise UsageError(f"{path}: holds a {type(found).__name__}; allowed is a JSON object")
    return found


def missing(path: Path) -> UsageError:
    """Return the error for a file that a model folder must hold and does not."""
    return UsageError(f"{path}: no such file; a model folder holds config.json, *.safetensors, tokenizer.json")


def read_shape(folder: Path) -> Shape:
    """Return the shape of the model in `folder`.

    Raises:
        UsageError: if it is no Llama, or is one with settings that `tiny.py` does not compute.
    """
    path = folder / "config.json"
    config = read_json(path)
    _refuse_others(config, path)
    heads = _whole(config, "num_attention_heads", path)
    kv_heads = heads if config.get("num_key_value_heads") is None else _whole(config, "num_key_value_heads", path)
    hidden = _whole(config, "hidden_size", path)
    head_size = hidden // heads if config.get("head_dim") is None else _whole(config, "head_dim", path)
    if heads % kv_heads or head_size % 2:
        raise UsageError(
            f"{path}: num_attention_heads {heads}, num_key_value_heads {kv_heads}, head size {head_size}; "
            "allowed are whole groups of heads, of even size"
        )
    return Shape(
        vocab_size=_whole(config, "vocab_size", path),
        context_limit=_whole(config, "max_position_embeddings", path),
        hidden=hidden,
        mlp=_whole(config, "intermediate_size", path),
        layers=_whole(config, "num_hidden_layers", path),
        heads=heads,
        kv_heads=kv_heads,
        head_size=head_size,
        tied=bool(config.get("tie_word_embeddings", False)),
        norm_epsilon=_positive(config, "rms_norm_eps", path),
        rope_theta=_positive(
            {"rope_theta": 10000.0} | config | (config.get("rope_parameters") or {}), "rope_theta", path
        ),
    )


def _refuse_others(config: dict[str, Any], path: Path) -> None:
    if "LlamaForCausalLM" not in (config.get("architectures") or []):
        raise UsageError(f"{path}: architectures is {config.get('architectures')}; allowed is ['LlamaForCausalLM']")
    for name, value in FIXED.items():
        if config.get(name, value) != value:
            raise UsageError(f"{path}: {name} is {config[name]!r}; allowed is {value!r}")
    kind = (config.get("rope_parameters") or {}).get("rope_type", "default")
    if kind != "default":
        raise UsageError(f"{path}: rope_type is {kind!r}; allowed is 'default'")


def _whole(config: dict[str, Any], name: str, path: Path) -> int:
    value = config.get(name)
    if not isinstance(value, int) or value < 1:
        raise UsageError(f"{path}: {name} is {value!r}; allowed are whole numbers from 1 up")
    return value


def _positive(config: dict[str, Any], name: str, path: Path) -> float:
    value = config.get(name)
    if not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        raise UsageError(f"{path}: {name} is {value!r}; allowed are positive numbers")
    return float(value)
