import pytest

from conftest import needs


@pytest.fixture(scope="session")
def llama(tmp_path_factory):
    """Return a function: settings -> (folder, transformers' model) with random weights, gains other than 1."""
    torch, transformers = needs("torch"), needs("transformers")

    def make(**settings):
        torch.manual_seed(0)
        config = transformers.LlamaConfig(
            **{
                "vocab_size": 128,
                "hidden_size": 64,
                "intermediate_size": 96,
                "num_hidden_layers": 2,
                "num_attention_heads": 4,
                "num_key_value_heads": 2,
                "max_position_embeddings": 96,
                "tie_word_embeddings": True,
                "bos_token_id": 0,
                "eos_token_id": 1,
                "initializer_range": 0.2,
                **settings,
            }
        )
        model = transformers.LlamaForCausalLM(config).eval()
        with torch.no_grad():
            for name, weight in model.named_parameters():
                if "norm" in name:
                    weight.uniform_(0.5, 1.5)
        folder = tmp_path_factory.mktemp("llama")
        model.save_pretrained(folder)
        return folder, model

    return make
