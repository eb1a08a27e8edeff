"""A small random Llama with a byte-level tokenizer, saved as transformers saves models."""

import json

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

WORDS = ["In the beginning God created the heaven and the earth. 雪が降る, 😀 and é and 👩‍👩‍👧!"] * 4


def trained():
    """A byte-level BPE tokenizer, as that of Qwen or Llama 3 is."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = ["<|bos|>", "<|end|>", "<|eot|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=320, initial_alphabet=alphabet, special_tokens=special, show_progress=False
    )
    tokenizer.train_from_iterator(WORDS, trainer)
    return tokenizer


def save_model(folder, context=64, **settings):
    """Save the model with weights, config, tokenizer and its settings, to which some may be added."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=320, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=context, bos_token_id=0, eos_token_id=1,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    trained().save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<|bos|>", "eos_token": "<|end|>", **settings
    }  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder
