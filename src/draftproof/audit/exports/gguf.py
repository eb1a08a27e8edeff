"""Writes a Hugging Face folder of a Llama as a GGUF file, the format of llama.cpp, in float32.

In: a folder. Out: a file, written with the library `gguf` (extra `audit`). An audit passes token ids on, not texts, so
of the tokenizer the file holds the names of the tokens and which of them are special; it knows no merges.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from draftproof.errors import MissingExtraError, UsageError
from draftproof.models.llama_config import Shape, missing, read_json, read_shape

__all__ = ["export"]

LAYER = {
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
"""What a tensor of a layer is called there, and what here."""
ENDS = "bos", "eos"


def export(model_folder: Path, file: Path) -> None:
    """Write the model in the folder to the file.

    Raises:
        UsageError: if the folder holds no Llama in one float32 or float16 file of safetensors.
        MissingExtraError: if the library gguf is not installed.
    """
    try:
        import gguf
    except ImportError:
        raise MissingExtraError(
            "a GGUF file is written with the library gguf: pip install 'draftproof[audit]'"
        ) from None
    shape, tensors = read_shape(model_folder), _tensors(model_folder)
    names = _names(model_folder, shape.vocab_size)
    writer = gguf.GGUFWriter(file, "llama")
    _add_shape(writer, shape)
    _add_vocabulary(writer, gguf.TokenType, names, read_json(model_folder / "config.json"))
    for name, array in _renamed(tensors, shape).items():
        writer.add_tensor(name, np.ascontiguousarray(array, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _tensors(folder: Path) -> dict[str, NDArray[np.generic]]:
    path = folder / "model.safetensors"
    if not path.is_file():
        raise missing(path)
    try:
        return load_file(path)
    except (SafetensorError, TypeError) as error:  # damaged, or of numbers that NumPy does not have
        raise UsageError(f"{path}: cannot be read as safetensors of float32 or float16 ({error})") from None


def _names(folder: Path, vocab_size: int) -> list[tuple[str, bool]]:
    """Return the name of every token, and whether it is a special one; what only fills the vocabulary up is."""
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise missing(path)
    tokenizer = Tokenizer.from_file(str(path))
    special = {token for token, added in tokenizer.get_added_tokens_decoder().items() if added.special}
    names = {token: name for name, token in tokenizer.get_vocab().items()}
    return [(names.get(i, f"<unused {i}>"), i in special or i not in names) for i in range(vocab_size)]


def _add_shape(writer: Any, shape: Shape) -> None:
    writer.add_context_length(shape.context_limit)
    writer.add_embedding_length(shape.hidden)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.mlp)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_key_length(shape.head_size)
    writer.add_value_length(shape.head_size)
    writer.add_layer_norm_rms_eps(shape.norm_epsilon)
    writer.add_rope_dimension_count(shape.head_size)
    writer.add_rope_freq_base(shape.rope_theta)
    writer.add_vocab_size(shape.vocab_size)


def _add_vocabulary(writer: Any, kinds: Any, names: list[tuple[str, bool]], config: dict[str, Any]) -> None:
    writer.add_tokenizer_model("llama")
    writer.add_token_list([name for name, _ in names])
    writer.add_token_scores([0.0] * len(names))
    writer.add_token_types([kinds.CONTROL if special else kinds.NORMAL for _, special in names])
    for end in ENDS:
        if isinstance(token := config.get(f"{end}_token_id"), int):
            getattr(writer, f"add_{end}_token_id")(token)
        getattr(writer, f"add_add_{end}_token")(False)
    writer.add_add_space_prefix(value=False)


def _renamed(theirs: dict[str, NDArray[np.generic]], shape: Shape) -> dict[str, NDArray[np.generic]]:
    """Return the tensors under llama.cpp's names, rows of queries and keys in its order."""
    names = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}
    names |= {} if shape.tied else {"output": "lm_head"}
    for layer in range(shape.layers):
        names |= {f"blk.{layer}.{ours}": f"model.layers.{layer}.{name}" for ours, name in LAYER.items()}
    if lacking := sorted({f"{name}.weight" for name in names.values()} - theirs.keys()):
        raise UsageError(f"the weights lack {lacking[0]}, so they do not belong to their config.json")
    found = {f"{ours}.weight": theirs[f"{name}.weight"] for ours, name in names.items()}
    for kind, heads in (("q", shape.heads), ("k", shape.kv_heads)):
        for layer in range(shape.layers):
            found[f"blk.{layer}.attn_{kind}.weight"] = _in_pairs(found[f"blk.{layer}.attn_{kind}.weight"], heads)
    return found


def _in_pairs(matrix: NDArray[np.generic], heads: int) -> NDArray[np.generic]:
    """Return the rows of each head as neighbours that rotate together; in a folder they are half a head apart."""
    halves = matrix.reshape(heads, 2, -1, matrix.shape[-1])
    return halves.swapaxes(1, 2).reshape(matrix.shape)
