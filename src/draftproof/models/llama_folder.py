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
from draftproof.models.blocks import BLOCK, Columns, Floats, Rows, house_together
from draftproof.models.llama_config import Shape, read_shape
from draftproof.models.llama_weights import Layer, Weights
from draftproof.models.tiny import TinyModel
from draftproof.models.transformer import Transformer
from draftproof.models.view import MOST_ROWS

__all__ = ["load"]

FLOATS = {"F16": "<f2", "BF16": "<u2", "F32": "<f4", "F64": "<f8"}
"""Number formats that are read, as safetensors names them, and as NumPy reads their bytes."""
Take = Callable[..., Floats]
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
    last = Columns(gain * head.T)
    house_together([*(matrix for layer in layers for matrix in layer.matrices), last])
    return TinyModel(Transformer(Weights(shape, embedding, layers, last, _turns(shape))))


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


def _layer(read: Take, prefix: str, shape: Shape) -> Layer:
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
    qkv = np.concatenate([_side_by_side(q, shape), _side_by_side(k, shape), v], axis=1)
    out = read(attention + "o_proj.weight", hidden, queries).T
    before_attention = _gain(read(prefix + "input_layernorm.weight", hidden))
    before_mlp = _gain(read(prefix + "post_attention_layernorm.weight", hidden))
    gate, up = (-before_mlp * read(f"{prefix}mlp.{name}.weight", mlp, hidden).T for name in ("gate_proj", "up_proj"))
    missing = ((0, 0), (0, -mlp % BLOCK))  # so that gate and up fill whole blocks each
    return Layer(
        qkv=Columns(before_attention * qkv, shape.head_size),
        out=Rows(out, shape.head_size),
        gate_up=Columns(np.concatenate([np.pad(gate, missing), np.pad(up, missing)], axis=1)),
        down=Rows(read(prefix + "mlp.down_proj.weight", hidden, mlp).T),
    )


def _side_by_side(columns: Floats, shape: Shape) -> Floats:
    """Put column j and j + half of each head next to each other: the real and imaginary part of what rotates."""
    halves = columns.reshape(len(columns), -1, 2, shape.head_size // 2)
    return halves.swapaxes(2, 3).reshape(columns.shape)


def _gain(norm: Floats) -> Floats:
    """Return the gain (hidden, 1) of a norm as `TinyModel` folds it: with the square root of hidden."""
    return norm[:, None] * np.float32(len(norm) ** 0.5)


def _turns(shape: Shape) -> NDArray[np.complex64]:
    frequencies = shape.rope_theta ** -(np.arange(0, shape.head_size, 2) / shape.head_size)
    room = shape.context_limit + MOST_ROWS  # more, for the idle rows in whose company a token may be scored
    return np.exp(1j * np.outer(np.arange(room), frequencies)).astype(np.complex64)
