"""Writes a Hugging Face folder of a Llama as a model of OpenVINO, in float32, made of what GenAI's pipelines look for.

In: that folder and the one to write, as arguments. Out: what a pipeline reads. It runs in the environment that has
OpenVINO, which need not have this package: it imports the standard library, NumPy and OpenVINO only. An audit passes
token ids on, not texts, so the tokenizer is a stub: GenAI asks for one, to compare target and draft. Run it with -P:
beside it, Python would take this file for the library of that name.
"""

import json
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["main"]

FLOATS = {"F16": "<f2", "F32": "<f4"}
"""Number formats that are read, as safetensors names them, and as NumPy reads their bytes."""
Weights = Mapping[str, NDArray[np.float32]]


def main(source: Path, made: Path) -> None:
    """Write the model in `source` to the folder `made`.

    Raises:
        ValueError: if it is no Llama that can be written.
        OSError: if a file is missing.
    """
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    if "LlamaForCausalLM" not in (config.get("architectures") or []):
        raise ValueError(f"{source}: architectures is {config.get('architectures')}; allowed is ['LlamaForCausalLM']")
    import openvino  # type: ignore[import-not-found]

    models = {"tokenizer": _stub(), "model": _Graph(config, _weights(source / "model.safetensors")).model()}
    made.mkdir(parents=True, exist_ok=True)
    ends = {name: config[name] for name in ("bos_token_id", "eos_token_id") if name in config}
    (made / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (made / "generation_config.json").write_text(json.dumps(ends), encoding="utf-8")
    for name, model in models.items():
        openvino.save_model(model, made / f"openvino_{name}.xml", compress_to_fp16=False)


def _weights(path: Path) -> Weights:
    """Return the tensors of a file of safetensors: the length of a JSON header, the header, the numbers."""
    content = path.read_bytes()
    start = 8 + struct.unpack("<Q", content[:8])[0]
    found = dict[str, NDArray[np.float32]]()
    for name, tensor in json.loads(content[8:start]).items():
        if name != "__metadata__":
            if tensor["dtype"] not in FLOATS:
                raise ValueError(f"{path}: {name} is of {tensor['dtype']}; allowed are {', '.join(FLOATS)}")
            begin, end = tensor["data_offsets"]
            numbers = np.frombuffer(content[start + begin : start + end], FLOATS[tensor["dtype"]])
            found[name] = numbers.reshape(tensor["shape"]).astype(np.float32)
    return found


def _stub() -> Any:
    """Return a tokenizer to which every text is token 0."""
    import openvino  # type: ignore[import-not-found]
    import openvino.opset13 as op  # type: ignore[import-not-found]

    text = op.parameter([-1], openvino.Type.string, name="string_input")
    shape = op.concat([op.shape_of(text), np.array([1])], 0)
    results = []
    for name, value in (("input_ids", 0), ("attention_mask", 1)):
        filled = op.broadcast(value, shape)
        filled.output(0).set_names({name})
        results.append(op.result(filled))
    return openvino.Model(results, [text], "tokenizer")


class _Graph:
    """A decoder that keeps its keys and values as variables, which GenAI turns into pages.

    Args:
        config: config.json.
        weights: by the names of transformers.
    """

    def __init__(self, config: Mapping[str, Any], weights: Weights) -> None:
        import openvino.opset13  # type: ignore[import-not-found]

        self._op: Any = openvino.opset13
        self._weights, self._layers = weights, config["num_hidden_layers"]
        self._heads = config["num_attention_heads"]
        self._kv_heads = config.get("num_key_value_heads") or self._heads
        self._size = config.get("head_dim") or config["hidden_size"] // self._heads
        self._epsilon, self._limit = config["rms_norm_eps"], config["max_position_embeddings"]
        self._theta = ({"rope_theta": 10000.0} | dict(config) | (config.get("rope_parameters") or {}))["rope_theta"]
        self._head = "model.embed_tokens" if config.get("tie_word_embeddings") else "lm_head"
        self._sinks: list[Any] = []

    def model(self) -> Any:
        """Return the whole graph, with the inputs and the output that the pipelines know by name."""
        import openvino  # type: ignore[import-not-found]

        op = self._op
        self._ids, self._mask, self._positions = (
            self._input(name, [-1, -1], np.int64) for name in ("input_ids", "attention_mask", "position_ids")
        )
        self._beams = self._input("beam_idx", [-1], np.int32)
        self._allowed, (self._cos, self._sin) = self._causal(), self._turns()
        hidden = op.gather(self._weights["model.embed_tokens.weight"], self._ids, 0)
        for layer in range(self._layers):
            prefix = f"model.layers.{layer}."
            normed = self._norm(hidden, prefix + "input_layernorm")
            hidden = op.add(hidden, self._attention(normed, prefix + "self_attn.", layer))
            hidden = op.add(hidden, self._mlp(self._norm(hidden, prefix + "post_attention_layernorm"), prefix + "mlp."))
        logits = self._linear(self._norm(hidden, "model.norm"), self._head)
        logits.output(0).set_names({"logits"})
        inputs = [self._ids, self._mask, self._positions, self._beams]
        return openvino.Model([op.result(logits)], self._sinks, inputs, "model")

    def _attention(self, hidden: Any, prefix: str, layer: int) -> Any:
        op, swapped = self._op, _list(0, 2, 1, 3)
        queries, keys, values = (
            op.transpose(op.reshape(self._linear(hidden, prefix + name), _list(0, 0, count, self._size), True), swapped)
            for name, count in (("q_proj", self._heads), ("k_proj", self._kv_heads), ("v_proj", self._kv_heads))
        )
        cached = self._cached(self._turned(keys), f"{layer}.key"), self._cached(values, f"{layer}.value")
        mixed = op.scaled_dot_product_attention(self._turned(queries), *map(self._shared, cached), self._allowed)
        joined = op.reshape(op.transpose(mixed, swapped), _list(0, 0, self._heads * self._size), True)
        return self._linear(joined, prefix + "o_proj")

    def _cached(self, new: Any, name: str) -> Any:
        """Return all keys, or values: those of a variable, in the order of the beams, and behind them the new ones."""
        import openvino  # type: ignore[import-not-found]

        op = self._op
        batch = op.gather(op.shape_of(self._ids), _list(0), 0)
        none = op.concat([batch, _list(self._kv_heads, 0, self._size)], 0)
        shape = openvino.PartialShape([-1, self._kv_heads, -1, self._size])
        variable = f"past_key_values.{name}present.{name}"
        past = op.read_value(op.broadcast(np.float32(0), none), variable, openvino.Type.f32, shape)
        both = op.concat([op.gather(past, self._beams, 0), new], -2)
        self._sinks.append(op.assign(both, variable))
        return both

    def _shared(self, cached: Any) -> Any:
        """Return keys or values once for each head of queries."""
        if self._kv_heads == self._heads:
            return cached
        op, times = self._op, self._heads // self._kv_heads
        copies = op.broadcast(op.unsqueeze(cached, 2), _list(1, 1, times, 1, 1), None, "BIDIRECTIONAL")
        return op.reshape(copies, _list(0, self._heads, -1, self._size), True)

    def _causal(self) -> Any:
        """Return (B, 1, new, all) what each new token may see."""
        op = self._op
        new, whole = (op.gather(op.shape_of(ids), 1, 0) for ids in (self._ids, self._mask))
        places = op.unsqueeze(op.range(op.subtract(whole, new), whole, 1, "i64"), 1)
        before = op.less_equal(op.range(0, whole, 1, "i64"), places)
        return op.logical_and(op.unsqueeze(op.convert(self._mask, "boolean"), _list(1, 2)), before)

    def _turns(self) -> tuple[Any, Any]:
        """Return (B, 1, new, size) cosines and sines of every position."""
        op = self._op
        frequencies = self._theta ** -(np.arange(0, self._size, 2) / self._size)
        angles = np.tile(np.outer(np.arange(self._limit), frequencies), 2)
        tables = (turn(angles).astype(np.float32) for turn in (np.cos, np.sin))
        cos, sin = (op.unsqueeze(op.gather(table, self._positions, 0), 1) for table in tables)
        return cos, sin

    def _turned(self, heads: Any) -> Any:
        op = self._op
        left, right = op.split(heads, -1, 2).outputs()
        across = op.concat([op.negative(right), left], -1)
        return op.add(op.multiply(heads, self._cos), op.multiply(across, self._sin))

    def _norm(self, hidden: Any, name: str) -> Any:
        op = self._op
        squares = op.reduce_mean(op.power(hidden, np.float32(2)), _list(-1), True)
        root = op.sqrt(op.add(squares, np.float32(self._epsilon)))
        return op.multiply(op.divide(hidden, root), self._weights[f"{name}.weight"])

    def _mlp(self, hidden: Any, prefix: str) -> Any:
        gate, up = (self._linear(hidden, prefix + name) for name in ("gate_proj", "up_proj"))
        return self._linear(self._op.multiply(self._op.swish(gate), up), prefix + "down_proj")

    def _linear(self, hidden: Any, name: str) -> Any:
        return self._op.matmul(hidden, self._weights[f"{name}.weight"], False, True)

    def _input(self, name: str, shape: list[int], kind: type) -> Any:
        parameter = self._op.parameter(shape, kind, name=name)
        parameter.output(0).set_names({name})
        return parameter


def _list(*numbers: int) -> NDArray[np.int64]:
    return np.array(numbers, dtype=np.int64)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
