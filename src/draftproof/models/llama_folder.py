"""Reads an ordinary Hugging Face folder of a Llama model: config.json, *.safetensors, tokenizer.json.

In: a path. Out: `Weights` for `tiny.py` in float32, with norm gains, attention scale and block layout folded in.
It must never guess: a config it cannot honour is refused by name.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from draftproof.errors import UsageError
from draftproof.models.columns import BLOCK, Columns
from draftproof.models.tiny import Layer, Shape, TinyModel, Weights

__all__ = ["load", "read_json"]

Floats = NDArray[np.float32]
Read = Callable[[str], Floats]
FIXED = {"hidden_act": "silu", "attention_bias": False, "mlp_bias": False, "rope_scaling": None}
"""Settings of the Llama family that `tiny.py` computes in one way only."""


def load(folder: Path) -> TinyModel:
    """Return the model in `folder`.

    Raises:
        UsageError: if a file is missing or damaged, or the model is no Llama that `tiny.py` can compute.
    """
    config = read_json(folder / "config.json")
    shape = _shape(config, folder)
    arrays = _arrays(folder)

    def read(name: str) -> Floats:
        if name not in arrays:
            raise UsageError(f"{folder}: the weights lack {name!r}, so they do not belong to this config.json")
        return arrays.pop(name)

    embedding = read("model.embed_tokens.weight")
    layers = tuple(_layer(read, f"model.layers.{i}.", shape) for i in range(config["num_hidden_layers"]))
    head = embedding if config.get("tie_word_embeddings", False) else read("lm_head.weight")
    gain = read("model.norm.weight")
    if embedding.shape != (shape.vocab_size, config["hidden_size"]):
        raise UsageError(f"{folder}: the embedding is {embedding.shape}, which config.json contradicts")
    cos, sin = _rotation(shape)
    return TinyModel(Weights(shape, embedding, layers, Columns(gain[:, None] * head.T), cos, sin))


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in `path`, or raise a `UsageError` that names the file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(
            f"{path}: no such file; a model folder holds config.json, *.safetensors, tokenizer.json"
        ) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read as JSON ({error})") from None


def _shape(config: dict[str, Any], folder: Path) -> Shape:
    if "LlamaForCausalLM" not in config.get("architectures", []):
        raise UsageError(f"{folder}: architectures is {config.get('architectures')}; allowed is ['LlamaForCausalLM']")
    for name, value in FIXED.items():
        if config.get(name, value) != value:
            raise UsageError(f"{folder}: {name} is {config[name]!r}; allowed is {value!r}")
    heads = config["num_attention_heads"]
    rope = config.get("rope_parameters") or {}
    if rope.get("rope_type", "default") != "default":
        raise UsageError(f"{folder}: rope_type is {rope['rope_type']!r}; allowed is 'default'")
    return Shape(
        vocab_size=config["vocab_size"],
        context_limit=config["max_position_embeddings"],
        heads=heads,
        kv_heads=config.get("num_key_value_heads") or heads,
        head_size=config.get("head_dim") or config["hidden_size"] // heads,
        norm_epsilon=config["rms_norm_eps"],
        rope_theta=rope.get("rope_theta") or config.get("rope_theta", 10000.0),
    )


def _arrays(folder: Path) -> dict[str, Floats]:
    paths = sorted(folder.glob("*.safetensors"))
    if not paths:
        raise UsageError(f"{folder}: no *.safetensors file in it")
    arrays: dict[str, Floats] = {}
    for path in paths:
        try:
            with safe_open(path, framework="numpy") as opened:
                arrays |= {name: opened.get_tensor(name).astype(np.float32) for name in opened.keys()}  # noqa: SIM118
        except (SafetensorError, OSError, TypeError) as error:
            raise UsageError(f"{path}: cannot be read as float safetensors ({error})") from None
    return arrays


def _layer(read: Read, prefix: str, shape: Shape) -> Layer:
    attention, mlp = prefix + "self_attn.", prefix + "mlp."
    gain = read(prefix + "input_layernorm.weight")
    scale = np.float32(shape.head_size**-0.5)
    q, k, v = (read(attention + name).T for name in ("q_proj.weight", "k_proj.weight", "v_proj.weight"))
    qkv = gain[:, None] * np.concatenate([q * scale, k, v], axis=1)
    gain = read(prefix + "post_attention_layernorm.weight")
    gate, up = (gain[:, None] * read(mlp + name).T for name in ("gate_proj.weight", "up_proj.weight"))
    missing = -gate.shape[1] % BLOCK  # so that gate and up fill whole blocks each
    gate, up = (np.pad(part, ((0, 0), (0, missing))) for part in (gate, up))
    down = np.pad(read(mlp + "down_proj.weight").T, ((0, missing), (0, 0)))
    out = read(attention + "o_proj.weight").T
    return Layer(
        Columns(qkv, shape.head_size), Columns(out), Columns(np.concatenate([gate, up], axis=1)), Columns(down)
    )


def _rotation(shape: Shape) -> tuple[Floats, Floats]:
    half = np.arange(0, shape.head_size, 2) / shape.head_size
    room = shape.context_limit + 1  # one more: a lone token is scored together with a copy of itself
    angles = np.outer(np.arange(room), shape.rope_theta**-half)
    cos, sin = np.cos(angles), np.sin(angles)
    return (
        np.concatenate([cos, cos], axis=1).astype(np.float32),
        np.concatenate([-sin, sin], axis=1).astype(np.float32),
    )
