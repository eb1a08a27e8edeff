"""Reads an ordinary Hugging Face folder of a Llama model: config.json and *.safetensors.

In: a path. Out: `Weights` for `tiny.py` in float32, with norm gains, attention scale and block layout folded in.
It must never compute with weights that do not have the shapes config.json promises.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize

from draftproof.errors import UsageError
from draftproof.models.columns import BLOCK, Columns
from draftproof.models.llama_config import Shape, read_shape
from draftproof.models.tiny import Layer, TinyModel, Weights

__all__ = ["load"]

Floats = NDArray[np.float32]
FLOATS = {"F16": "<f2", "BF16": "<u2", "F32": "<f4", "F64": "<f8"}
"""Number formats that are read, as safetensors names them, and as NumPy reads their bytes."""
Read = Callable[..., Floats]
"""name, rows, columns -> the tensor of that name, checked to have that shape."""


def load(folder: Path) -> TinyModel:
    """Return the model in `folder`.

    Raises:
        UsageError: if a file is missing or damaged, or the model is no Llama that `tiny.py` can compute.
    """
    shape = read_shape(folder)
    arrays = _arrays(folder)

    def read(name: str, *size: int) -> Floats:
        if name not in arrays:
            raise UsageError(f"{folder}: the weights lack {name}, so they do not belong to its config.json")
        array = arrays.pop(name)
        if array.shape != size:
            raise UsageError(f"{folder}: {name} has the shape {array.shape}; its config.json asks for {size}")
        return array

    table = (shape.vocab_size, shape.hidden)
    embedding = read("model.embed_tokens.weight", *table)
    layers = tuple(_layer(read, f"model.layers.{i}.", shape) for i in range(shape.layers))
    head = embedding if shape.tied else read("lm_head.weight", *table)
    gain = _gain(read("model.norm.weight", shape.hidden))
    return TinyModel(Weights(shape, embedding, layers, Columns(gain * head.T), *_rotation(shape)))


def _arrays(folder: Path) -> dict[str, Floats]:
    paths = sorted(folder.glob("*.safetensors"))
    if not paths:
        raise UsageError(f"{folder}: no *.safetensors file in it")
    arrays: dict[str, Floats] = {}
    for path in paths:
        try:
            arrays |= {name: _floats(**tensor) for name, tensor in deserialize(path.read_bytes())}
        except (SafetensorError, OSError, KeyError) as error:
            raise UsageError(f"{path}: cannot be read as safetensors of {', '.join(FLOATS)} ({error})") from None
    return arrays


def _floats(dtype: str, shape: list[int], data: bytearray) -> Floats:
    """Return a stored tensor as float32."""
    numbers = np.frombuffer(data, FLOATS[dtype])
    if dtype == "BF16":  # the upper half of a float32
        numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
    return numbers.reshape(shape).astype(np.float32)


def _layer(read: Read, prefix: str, shape: Shape) -> Layer:
    hidden, mlp, queries, keys = (
        shape.hidden,
        shape.mlp,
        shape.heads * shape.head_size,
        shape.kv_heads * shape.head_size,
    )
    attention = prefix + "self_attn."
    q = read(attention + "q_proj.weight", queries, hidden).T * np.float32(shape.head_size**-0.5)
    k = read(attention + "k_proj.weight", keys, hidden).T
    v = read(attention + "v_proj.weight", keys, hidden).T
    out = read(attention + "o_proj.weight", hidden, queries).T
    before_attention = _gain(read(prefix + "input_layernorm.weight", hidden))
    before_mlp = _gain(read(prefix + "post_attention_layernorm.weight", hidden))
    missing = -mlp % BLOCK  # so that gate and up fill whole blocks each
    gate, up = (
        np.pad(before_mlp * read(f"{prefix}mlp.{name}.weight", mlp, hidden).T, ((0, 0), (0, missing)))
        for name in ("gate_proj", "up_proj")
    )
    down = np.pad(read(prefix + "mlp.down_proj.weight", hidden, mlp).T, ((0, missing), (0, 0)))
    return Layer(
        qkv=Columns(before_attention * np.concatenate([q, k, v], axis=1), shape.head_size),
        out=Columns(out),
        gate_up=Columns(np.concatenate([gate, up], axis=1)),
        down=Columns(down),
    )


def _gain(norm: Floats) -> Floats:
    """Return the gain (hidden, 1) of a norm as `TinyModel` folds it: with the square root of hidden."""
    return norm[:, None] * np.float32(len(norm) ** 0.5)


def _rotation(shape: Shape) -> tuple[Floats, Floats]:
    half = np.arange(0, shape.head_size, 2) / shape.head_size
    room = shape.context_limit + 1  # one more: a lone token is scored together with a copy of itself
    angles = np.outer(np.arange(room), shape.rope_theta**-half)
    cos, sin = np.cos(angles), np.sin(angles)
    return (
        np.concatenate([cos, cos], axis=1).astype(np.float32),
        np.concatenate([-sin, sin], axis=1).astype(np.float32),
    )
