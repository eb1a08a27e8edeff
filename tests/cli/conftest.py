import json
import sys

import pytest
from tokenizers import Tokenizer, models

from conftest import needs
from draftproof.cli.app import main


@pytest.fixture
def llama_with_tokenizer(tmp_path):
    """A complete folder whose vocabulary is not the embedded pair's."""
    vocabulary = {"<s>": 0, "</s>": 1, "a": 2, "b": 3}
    library = needs("transformers")
    needs("torch").manual_seed(0)
    config = library.LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=64, bos_token_id=0, eos_token_id=1, tie_word_embeddings=True,
    )  # fmt: skip
    library.LlamaForCausalLM(config).save_pretrained(tmp_path)
    Tokenizer(models.BPE(vocab=vocabulary, merges=[])).save(str(tmp_path / "tokenizer.json"))
    assert json.loads((tmp_path / "config.json").read_text())["vocab_size"] == 4
    return tmp_path


@pytest.fixture
def command(monkeypatch, capsys):
    """Give words to the command line in this process; returns its exit status, and what it printed on both outputs."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["draftproof", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return run
