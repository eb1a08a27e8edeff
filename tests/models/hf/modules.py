"""Small random modules of transformers, one a family, whose gains and biases are not those of a beginner."""

from conftest import needs

torch, transformers = needs("torch"), needs("transformers")

SHAPE = {
    "vocab_size": 96,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 160,
    "initializer_range": 0.3,
}
HEADS = {**SHAPE, "head_dim": 8}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
LINEAR = {
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "shared_expert_intermediate_size": 16,
}
GPT2 = {"vocab_size": 96, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 160, "initializer_range": 0.3}
FAMILIES = {
    "llama": ("LlamaConfig", SHAPE),
    "qwen2": ("Qwen2Config", SHAPE),
    "gpt2, positions that are learnt": ("GPT2Config", GPT2),
    "mistral, a window": ("MistralConfig", {**HEADS, "sliding_window": 8}),
    "gemma2, windows and capped scores": ("Gemma2Config", {**HEADS, "sliding_window": 8}),
    "gemma3, windows": ("Gemma3TextConfig", {**HEADS, "sliding_window": 8}),
    "gpt-oss, sinks and experts": ("GptOssConfig", {**HEADS, "sliding_window": 8, "num_local_experts": 4}),
    "mixtral, experts": ("MixtralConfig", {**SHAPE, "num_local_experts": 4}),
    "bloom, no positions": ("BloomConfig", {"vocab_size": 96, "hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "mamba, recurrent": ("MambaConfig", {"vocab_size": 96, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 4}),
    "lfm2, convolutions": ("Lfm2Config", {**SHAPE, "layer_types": ["conv", "full_attention"]}),
    "qwen3-next, recurrent and attention": (
        "Qwen3NextConfig",
        {**HEADS, **EXPERTS, **LINEAR, "layer_types": ["linear_attention", "full_attention"]},
    ),
}
BY_SNAPSHOTS = {
    "bloom, no positions",
    "mamba, recurrent",
    "lfm2, convolutions",
    "qwen3-next, recurrent and attention",
}


def make(family, **settings):
    """Return a module of a family in eval mode, always the same."""
    name, shape = FAMILIES[family]
    transformers.logging.set_verbosity_error()
    torch.manual_seed(0)
    module = transformers.AutoModelForCausalLM.from_config(getattr(transformers, name)(**{**shape, **settings})).eval()
    with torch.no_grad():
        for weight in module.parameters():
            if weight.ndim == 1:
                weight.add_(torch.randn(weight.shape) * 0.2)
    return module


def rows_at_once(module, tokens):
    """Return what the module itself says, without a cache and without anything of ours."""
    with torch.inference_mode():
        return module(input_ids=torch.tensor([tokens]), use_cache=False).logits[0].float().numpy()
