"""Small random modules of transformers: a target, and a draft that is the target with other weights mixed in."""

import copy

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from draftproof.integrations.call import Call


def a_llama(vocab_size, seed, layers=2):
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocab_size, hidden_size=32, intermediate_size=64, num_hidden_layers=layers, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, initializer_range=0.3, bos_token_id=1, eos_token_id=2,
        pad_token_id=0,
    )  # fmt: skip
    return LlamaForCausalLM(config).eval()


def alike(module, seed, part=0.2):
    """The module with a part of other weights, so that some of its drafts are kept and some are not."""
    torch.manual_seed(seed)
    other = copy.deepcopy(module)
    with torch.no_grad():
        for weights in other.parameters():
            weights.add_(part * weights.std(correction=0) * torch.randn_like(weights))
    return other


@pytest.fixture(scope="session")
def llama():
    return a_llama


@pytest.fixture(scope="session")
def target():
    return a_llama(64, 1)


@pytest.fixture(scope="session")
def draft(target):
    return alike(target, 2)


@pytest.fixture(scope="session")
def small():
    return a_llama(8, 3)


@pytest.fixture(scope="session")
def small_draft(small):
    return alike(small, 4, part=0.5)


@pytest.fixture
def ids():
    return torch.tensor([[5, 9, 17, 9, 5, 9, 17]])


@pytest.fixture
def call_of():
    """Takes a `generate` call apart, without decoding anything."""

    def taken_apart(model, ids, **settings):
        seen = []

        def look(model, input_ids, logits_processor, stopping_criteria, generation_config, **inputs):
            seen.append(Call(model, input_ids, logits_processor, stopping_criteria, generation_config, inputs, None))
            return input_ids

        model.generate(ids, custom_generate=look, **settings)
        return seen[0]

    return taken_apart
