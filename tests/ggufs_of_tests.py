"""Small GGUF files with random weights, of several families, written in a moment by the library `gguf`."""

from typing import NamedTuple

import numpy as np

SPECIALS = ("<|end|>", "<|user|>", "<|answer|>")
MERGES = ("h e", "l l", "he ll", "hell o", "Ġ w", "Ġw o", "Ã ©")
TEMPLATE = (
    "{% for m in messages %}<|user|>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|answer|>{% endif %}"
)


class Shape(NamedTuple):
    width: int = 64
    heads: int = 2
    kv_heads: int = 1
    mlp: int = 96
    layers: int = 2
    context: int = 512
    window: int = 8

    @property
    def head(self):
        return self.width // self.heads


def tokens():
    """Return the vocabulary of a byte-level tokenizer as its file writes it: bytes, merged pairs, special tokens."""
    whole = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in whole]
    letters = [*map(chr, whole), *(chr(256 + place) for place in range(len(others)))]
    return [*letters, *(merge.replace(" ", "") for merge in MERGES), *SPECIALS]


def write_gguf(path, arch="llama", seed=0, settings=None, tensors=None, **changes):
    """Write a model with random weights, or with those given, and return the path.

    `settings` are fields of the file that are added, or left out where their value is None.
    """
    import gguf

    shape = Shape(**changes)
    writer = gguf.GGUFWriter(path, arch)
    fields = {**FIELDS[arch](shape, arch), **_vocabulary(), **(settings or {})}
    for key, value in fields.items():
        if value is not None and key != "general.architecture":
            _add(writer, key, value)
    for name, array in (tensors or _tensors(arch, shape, np.random.default_rng(seed))).items():
        writer.add_tensor(name, np.asarray(array, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add(writer, key, value):
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        writer.add_array(key, value)


def _vocabulary():
    names = tokens()
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": names,
        "tokenizer.ggml.token_type": [3 if name in SPECIALS else 1 for name in names],
        "tokenizer.ggml.merges": [*MERGES],
        "tokenizer.ggml.eos_token_id": names.index(SPECIALS[0]),
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": TEMPLATE,
    }


def _llama(shape, arch):
    return {
        f"{arch}.context_length": shape.context,
        f"{arch}.embedding_length": shape.width,
        f"{arch}.block_count": shape.layers,
        f"{arch}.feed_forward_length": shape.mlp,
        f"{arch}.attention.head_count": shape.heads,
        f"{arch}.attention.head_count_kv": shape.kv_heads,
        f"{arch}.attention.layer_norm_rms_epsilon": 1e-6,
        f"{arch}.rope.dimension_count": shape.head,
    }


def _gemma2(shape, arch):
    return _llama(shape, arch) | {
        f"{arch}.attention.key_length": shape.head,
        f"{arch}.attention.value_length": shape.head,
        f"{arch}.attention.sliding_window": shape.window,
        f"{arch}.attn_logit_softcapping": 50.0,
        f"{arch}.final_logit_softcapping": 30.0,
    }


def _mamba(shape, arch):
    return {
        f"{arch}.context_length": shape.context,
        f"{arch}.embedding_length": shape.width,
        f"{arch}.block_count": shape.layers,
        f"{arch}.feed_forward_length": 0,
        f"{arch}.attention.head_count": 0,
        f"{arch}.attention.layer_norm_rms_epsilon": 1e-6,
        f"{arch}.ssm.conv_kernel": 4,
        f"{arch}.ssm.inner_size": 2 * shape.width,
        f"{arch}.ssm.state_size": 16,
        f"{arch}.ssm.time_step_rank": 4,
    }


FIELDS = {"llama": _llama, "qwen2": _llama, "gemma2": _gemma2, "mamba": _mamba}


def _tensors(arch, shape, rng):
    def matrix(rows, columns):
        return rng.normal(0, 0.2, (rows, columns))

    def gain(size):
        return rng.uniform(0.5, 1.5, size)

    found = {"token_embd.weight": matrix(len(tokens()), shape.width) * 5, "output_norm.weight": gain(shape.width)}
    if arch != "gemma2":
        found["output.weight"] = matrix(len(tokens()), shape.width)
    for layer in range(shape.layers):
        part = _mamba_layer(shape, matrix, gain, rng) if arch == "mamba" else _layer(arch, shape, matrix, gain)
        found |= {f"blk.{layer}.{name}": array for name, array in part.items()}
    return found


def _layer(arch, shape, matrix, gain):
    keys = shape.kv_heads * shape.head
    found = {
        "attn_norm.weight": gain(shape.width),
        "attn_q.weight": matrix(shape.width, shape.width),
        "attn_k.weight": matrix(keys, shape.width),
        "attn_v.weight": matrix(keys, shape.width),
        "attn_output.weight": matrix(shape.width, shape.width),
        "ffn_norm.weight": gain(shape.width),
        "ffn_gate.weight": matrix(shape.mlp, shape.width),
        "ffn_up.weight": matrix(shape.mlp, shape.width),
        "ffn_down.weight": matrix(shape.width, shape.mlp),
    }
    if arch == "qwen2":
        found |= {f"attn_{one}.bias": gain(size) for one, size in (("q", shape.width), ("k", keys), ("v", keys))}
    if arch == "gemma2":
        found |= {"post_attention_norm.weight": gain(shape.width), "post_ffw_norm.weight": gain(shape.width)}
    return found


def _mamba_layer(shape, matrix, gain, rng):
    inner, state, rank = 2 * shape.width, 16, 4
    return {
        "attn_norm.weight": gain(shape.width),
        "ssm_in.weight": matrix(2 * inner, shape.width),
        "ssm_conv1d.weight": matrix(inner, 4),
        "ssm_conv1d.bias": gain(inner),
        "ssm_x.weight": matrix(rank + 2 * state, inner),
        "ssm_dt.weight": matrix(inner, rank),
        "ssm_dt.bias": gain(inner),
        "ssm_a": -rng.uniform(0.1, 1, (inner, state)),
        "ssm_d": gain(inner),
        "ssm_out.weight": matrix(shape.width, inner),
    }


def write_llama(path, folder):
    """Write the weights of a Hugging Face folder of a small Llama model of 266 tokens and return the path."""
    import json

    from safetensors.numpy import load_file

    config, theirs = json.loads((folder / "config.json").read_text()), load_file(folder / "model.safetensors")
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    found = {
        "token_embd.weight": theirs["model.embed_tokens.weight"],
        "output_norm.weight": theirs["model.norm.weight"],
    }
    for layer in range(config["num_hidden_layers"]):
        for ours, name in LLAMA_NAMES.items():
            array = theirs[f"model.layers.{layer}.{name}.weight"]
            turned = {"attn_q": heads, "attn_k": kv_heads}.get(ours)
            found[f"blk.{layer}.{ours}.weight"] = _permuted(array, turned) if turned else array
    shape = Shape(
        config["hidden_size"],
        heads,
        kv_heads,
        config["intermediate_size"],
        config["num_hidden_layers"],
        config["max_position_embeddings"],
    )
    fields = {"llama.attention.layer_norm_rms_epsilon": config["rms_norm_eps"]}
    return write_gguf(path, "llama", 0, fields, found, **shape._asdict())


LLAMA_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def _permuted(array, heads):
    """Return rows in the order of llama.cpp, which turns neighbours where transformers turns halves."""
    rows, columns = array.shape
    return array.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)
