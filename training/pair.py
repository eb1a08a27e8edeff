"""The shapes of the two models and where a run keeps its files."""

from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tokens import BOS, EOS, VOCAB_SIZE

__all__ = ["CONTEXT", "WORK", "add_dropout", "draft", "logits", "target"]

WORK = Path(__file__).resolve().parent.parent / "build" / "training"
CONTEXT = 1024


def target() -> LlamaForCausalLM:
    """Return the untrained target: 9.8 million parameters."""
    return _llama(seed=1, hidden=384, mlp=1024, layers=6, heads=6, kv_heads=2)


def draft() -> LlamaForCausalLM:
    """Return the untrained draft: 0.7 million parameters, one layer, because each layer costs as much again to call."""
    return _llama(seed=2, hidden=192, mlp=640, layers=1, heads=3, kv_heads=1)


def add_dropout(model: LlamaForCausalLM, share: float) -> None:
    """Drop `share` of what each layer adds to the stream while training: a book of a million tokens is soon known.

    Llama has no dropout of its own; hooks add it, and the saved weights know nothing of them.
    """

    def drop(module: torch.nn.Module, _: object, output: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.dropout(output, share, training=module.training)

    for layer in model.model.layers:
        layer.self_attn.o_proj.register_forward_hook(drop)
        layer.mlp.register_forward_hook(drop)


def logits(model: LlamaForCausalLM, ids: torch.Tensor) -> torch.Tensor:
    """Return float32 logits (batch, tokens, vocabulary), computed in bfloat16 where torch allows it."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return model(input_ids=ids, use_cache=False).logits.float()


def _llama(seed: int, hidden: int, mlp: int, layers: int, heads: int, kv_heads: int) -> LlamaForCausalLM:
    torch.manual_seed(seed)
    shape = LlamaConfig(
        vocab_size=VOCAB_SIZE,
        hidden_size=hidden,
        intermediate_size=mlp,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=True,
        bos_token_id=BOS,
        eos_token_id=EOS,
        rms_norm_eps=1e-5,
    )
    return LlamaForCausalLM(shape)
