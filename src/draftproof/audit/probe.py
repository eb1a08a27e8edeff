"""Probe pairs: two little Llamas that every engine can read, made of random numbers, quick and never sure of anything.

In: a number of tokens, a seed. Out: a folder with `target` and `draft`, as Hugging Face folders. An audit needs laws in
which much is possible and a draft that is often wrong; what the models say is of no use. The draft is the target with
noise on every matrix. Numbers are rounded to float16 and kept as float32, so that every format holds the same ones.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from draftproof.errors import UsageError

__all__ = ["BOS", "SPECIAL", "VOCABULARIES", "make"]

HIDDEN, MLP, LAYERS, HEADS, POSITIONS = 64, 128, 2, 2, 512
"""Heads of 32 numbers, the smallest that the CPU kernels of every engine take."""
SHARPNESS = 2.0
"""The standard deviation of a logit of the target: about 4 bits of 6, and a best token with a third of the mass."""
NOISE = 0.2
"""Of the draft, in standard deviations of each matrix: sum min(p, q) is 0.6 to 0.75."""
VOCABULARIES = 64, 512
"""Fewest and most tokens."""
UNK = 0
BOS = 1
EOS = 2
SPECIAL = ("<unk>", "<s>", "</s>")
FIRST_LETTER = ord("0")
"""Tokens are single letters, from here on in Unicode's order; those that are no letters are left out."""
Matrices = dict[str, NDArray[np.float32]]


def make(folder: Path, vocab_size: int = 64, seed: int = 0) -> None:
    """Write a pair, the same for the same numbers.

    Args:
        folder: where `target` and `draft` go; it is made if it is not there.
        vocab_size: 64 to 512.
        seed: of the weights.

    Raises:
        UsageError: if there are too few or too many tokens.
    """
    fewest, most = VOCABULARIES
    if not fewest <= vocab_size <= most:
        raise UsageError(f"got a probe pair of {vocab_size} tokens; allowed are {fewest} to {most}", "probe")
    random = np.random.default_rng(seed)
    target = {name: _rounded(random.normal(0, scale, shape)) for name, shape, scale in _shapes(vocab_size)}
    spread = {name: matrix + NOISE * matrix.std() * random.normal(size=matrix.shape) for name, matrix in target.items()}
    _write(folder / "target", target, vocab_size)
    _write(folder / "draft", {name: _rounded(matrix) for name, matrix in spread.items()}, vocab_size)


def letters(count: int) -> Iterator[str]:
    """Yield that many letters and digits, each another one."""
    code = FIRST_LETTER
    while count:
        if chr(code).isalnum():
            yield chr(code)
            count -= 1
        code += 1


def _rounded(matrix: NDArray[np.float64]) -> NDArray[np.float32]:
    return matrix.astype(np.float16).astype(np.float32)


def _shapes(vocab_size: int) -> Iterator[tuple[str, tuple[int, int], float]]:
    """Yield name, shape and standard deviation of every matrix."""
    yield "model.embed_tokens.weight", (vocab_size, HIDDEN), 1.0
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}."
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            yield f"{prefix}self_attn.{name}.weight", (HIDDEN, HIDDEN), HIDDEN**-0.5
        for name in ("gate_proj", "up_proj"):
            yield f"{prefix}mlp.{name}.weight", (MLP, HIDDEN), HIDDEN**-0.5
        yield f"{prefix}mlp.down_proj.weight", (HIDDEN, MLP), MLP**-0.5
    yield "lm_head.weight", (vocab_size, HIDDEN), SHARPNESS * HIDDEN**-0.5


def _write(folder: Path, matrices: Matrices, vocab_size: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    ones = np.ones(HIDDEN, dtype=np.float32)
    norms = [f"model.layers.{i}.{name}" for i in range(LAYERS) for name in ("input", "post_attention")]
    gains = {f"{name}_layernorm.weight": ones for name in norms} | {"model.norm.weight": ones}
    save_file(matrices | gains, folder / "model.safetensors", metadata={"format": "pt"})
    _tokenizer(vocab_size).save(str(folder / "tokenizer.json"))
    ends = {"bos_token_id": BOS, "eos_token_id": EOS}
    names = dict(zip(("unk_token", "bos_token", "eos_token"), SPECIAL, strict=True))
    files = {
        "config": _config(vocab_size) | ends,
        "generation_config": ends,
        "tokenizer_config": names | {"tokenizer_class": "PreTrainedTokenizerFast"},
    }
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _config(vocab_size: int) -> dict[str, object]:
    return {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": vocab_size, "hidden_size": HIDDEN,
        "intermediate_size": MLP, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS, "head_dim": HIDDEN // HEADS, "max_position_embeddings": POSITIONS,
        "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu", "attention_bias": False, "mlp_bias": False,
        "tie_word_embeddings": False, "dtype": "float32",
    }  # fmt: skip


def _tokenizer(vocab_size: int) -> Tokenizer:
    words = [*SPECIAL, *letters(vocab_size - len(SPECIAL))]
    tokenizer = Tokenizer(models.BPE({word: i for i, word in enumerate(words)}, [], unk_token=SPECIAL[UNK]))
    tokenizer.add_special_tokens([AddedToken(word, special=True, normalized=False) for word in SPECIAL])
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = decoders.Fuse()
    return tokenizer
