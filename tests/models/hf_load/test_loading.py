"""A folder becomes the model it holds, whole or not at all; what does not fit is refused before it is read."""

import json
import shutil

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from draftproof.errors import UsageError
from draftproof.models.catalogue import fingerprint, load
from draftproof.models.hf import loading, room
from draftproof.models.memory import in_words


def refusal(folder, query=""):
    with pytest.raises(UsageError) as refused:
        load(f"hf:{folder}{query}", "target")
    assert refused.value.setting == "target"
    assert len(str(refused.value).splitlines()) == 1
    return str(refused.value)


def test_the_model_is_the_one_that_transformers_loads(saved):
    model, tokenizer = load(f"hf:{saved}", "target")
    ids = tokenizer.encode("In the beginning")
    with torch.inference_mode():
        theirs = AutoModelForCausalLM.from_pretrained(saved)(torch.tensor([ids])).logits[0]
    assert np.abs(np.asarray(model.extend(ids)) - theirs.numpy()).max() < 1e-6  # float32 sums in another order
    assert model.context_limit == 64
    assert model.vocab_size == 320


def test_loading_says_nothing_and_leaves_the_settings_of_transformers_as_they_were(folder, capfd, change):
    from transformers.utils import logging

    change(folder / "generation_config.json", temperature=0.5, top_k=3)  # transformers warns of these
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    load(f"hf:{folder}", "target")
    assert capfd.readouterr() == ("", "")
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before


@pytest.mark.parametrize(("query", "bytes_a_number"), [("", 4), ("?dtype=bfloat16", 2), ("?dtype=float32", 4)])
def test_the_number_format_is_that_of_the_spec_or_else_of_the_config(saved, query, bytes_a_number):
    numbers = sum(part.numel() for part in load_file(saved / "model.safetensors").values())
    assert load(f"hf:{saved}{query}", "target").model.size.weights == numbers * bytes_a_number


def test_the_context_may_be_lowered_but_not_raised(saved):
    assert load(f"hf:{saved}?context=17", "target").model.context_limit == 17
    assert "context is 65; this model reads at most 64 tokens" in refusal(saved, "?context=65")


def test_weights_that_are_missing_are_named_instead_of_made_up(folder):
    weights = load_file(folder / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"], weights["model.norm.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    assert "the weights lack model.layers.1.mlp.up_proj.weight and 1 more" in refusal(folder)


def test_weights_of_another_shape_are_named_instead_of_made_up(folder, change):
    change(folder / "config.json", intermediate_size=48)
    found = refusal(folder)
    assert "has the shape (16, 32); its config.json asks for (16, 48)" in found
    assert "model.layers.0.mlp.down_proj.weight" in found


@pytest.mark.parametrize("kept", [4, 100, -1])
def test_weights_that_were_cut_off_are_named(folder, kept):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    assert "model.safetensors: cannot be read as safetensors" in refusal(folder)


def test_a_part_of_the_weights_that_is_missing_is_named(folder, saved):
    AutoModelForCausalLM.from_pretrained(saved).save_pretrained(folder / "parts", max_shard_size="10KB")
    parts = sorted((folder / "parts").glob("*.safetensors"))
    assert len(parts) > 1
    shutil.copy(folder / "tokenizer.json", folder / "parts")
    assert load(f"hf:{folder / 'parts'}", "target").model.vocab_size == 320
    parts[-1].unlink()
    assert f"names {parts[-1].name}, which is not there" in refusal(folder / "parts")


def test_a_folder_without_weights_says_so(folder):
    (folder / "model.safetensors").unlink()
    assert "no weights in it; allowed are model*.safetensors, pytorch_model*.bin" in refusal(folder)


def test_a_damaged_config_is_named(folder):
    (folder / "config.json").write_text("{")
    assert "config.json: cannot be read as JSON" in refusal(folder)


OTHERS = {
    "masked": ({"architectures": ["BertForMaskedLM"], "model_type": "bert"}, "architectures is ['BertForMaskedLM']"),
    "two parts": (
        {"architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "is_encoder_decoder": True},
        "architectures is ['T5ForConditionalGeneration']",
    ),
    "unknown": ({"architectures": None, "model_type": "strange"}, "model_type is 'strange'"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_causal_language_model_is_refused_by_name(folder, change, kind):
    values, reason = OTHERS[kind]
    change(folder / "config.json", **values)
    assert f"{reason}; allowed are the causal language models of transformers" in refusal(folder)


@pytest.mark.parametrize(("family", "is_refused"), [("Bert", True), ("GPTNeoX", False)])
def test_a_family_is_judged_by_what_it_reads_not_by_what_its_config_says_of_itself(folder, family, is_refused):
    """Both configs say that they are no decoders; Pythia (GPT-NeoX) is one all the same, and BERT reads both ways."""
    config = getattr(transformers, f"{family}Config")(
        vocab_size=320, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=64,
    )  # fmt: skip
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    assert json.loads((folder / "config.json").read_text())["is_decoder"] is False
    if is_refused:
        assert "Bert" in refusal(folder)
    else:
        assert load(f"hf:{folder}", "target").model.vocab_size == 320


def test_code_that_comes_with_a_model_does_not_run_unless_asked(folder, change, tmp_path, monkeypatch):
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    change(folder / "config.json", model_type="strange", architectures=["StrangeForCausalLM"], auto_map={
        "AutoConfig": "strange.StrangeConfig", "AutoModelForCausalLM": "strange.StrangeForCausalLM"})  # fmt: skip
    (folder / "strange.py").write_text(
        "from transformers import LlamaConfig, LlamaForCausalLM\n"
        "class StrangeConfig(LlamaConfig):\n    model_type = 'strange'\n"
        "class StrangeForCausalLM(LlamaForCausalLM):\n    config_class = StrangeConfig\n"
    )
    assert "runs Python code of its own; if you trust it, add trust_remote_code=true behind the ?" in refusal(folder)
    assert load(f"hf:{folder}?trust_remote_code=true", "target").model.vocab_size == 320


def test_a_gpu_that_is_not_there_is_refused(saved, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert "device is cuda:0, but torch finds no GPU here" in refusal(saved, "?device=cuda:0")
    assert load(f"hf:{saved}?device=auto", "target").model.vocab_size == 320


def test_what_does_not_fit_is_refused_before_any_weight_is_read(saved, monkeypatch):
    weights = sum(part.numel() * 4 for part in load_file(saved / "model.safetensors").values())
    cache = 64 * 2 * 2 * 8 * 4  # tokens, keys and values, layers, numbers, bytes
    monkeypatch.setattr(loading, "_whole", lambda *_: pytest.fail("it was read"))
    monkeypatch.setattr(room, "free_memory", lambda: weights + cache - 1)
    assert f"needs {in_words(weights)} for weights and {in_words(cache)} for a cache of 64 tokens" in refusal(saved)
    assert "of memory are free; choose a smaller model, dtype or context" in refusal(saved)
    monkeypatch.undo()
    monkeypatch.setattr(room, "free_memory", lambda: weights + cache)
    load(f"hf:{saved}", "target")


def test_half_the_bytes_a_number_need_half_the_room(saved, monkeypatch):
    monkeypatch.setattr(room, "free_memory", lambda: 0)
    assert "needs 60 kB for weights and 8.2 kB for" in refusal(saved)
    assert "needs 30 kB for weights and 4.1 kB for" in refusal(saved, "?dtype=bfloat16")
    assert "and 1.0 kB for a cache of 8 tokens" in refusal(saved, "?context=8")


def test_a_fingerprint_changes_with_what_makes_the_model(folder, change):
    def now(query=""):
        return fingerprint(f"hf:{folder}{query}", "target")

    seen = [now(), now("?dtype=bfloat16")]
    assert now("?device=cpu") == now() == seen[0]
    assert len(seen[0]) == 12
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(weights[:-1] + bytes([weights[-1] ^ 1]))
    seen.append(now())
    for name in ("config.json", "generation_config.json", "tokenizer_config.json"):
        change(folder / name, another=1)
        seen.append(now())
    (folder / "chat_template.jinja").write_text("{{ 1 }}")
    seen.append(now())
    assert len(set(seen)) == len(seen)


def test_of_large_files_both_ends_are_in_the_fingerprint(folder, monkeypatch):
    from draftproof.models.hf import contents

    monkeypatch.setattr(contents, "LARGE", 1000)
    monkeypatch.setattr(contents, "END", 500)
    path = folder / "model.safetensors"
    weights, seen = path.read_bytes(), set()
    for place in (None, 0, 499, len(weights) - 500, len(weights) - 1):
        changed = bytearray(weights)
        if place is not None:
            changed[place] ^= 1
        path.write_bytes(changed)
        seen.add(fingerprint(f"hf:{folder}", "target"))
    path.write_bytes(weights + b"\0")
    seen.add(fingerprint(f"hf:{folder}", "target"))
    assert len(seen) == 6


def test_weights_in_the_older_format_are_read_too(folder, saved):
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    models = [load(f"hf:{each}", "target").model for each in (folder, saved)]
    assert (np.asarray(models[0].extend([5, 6, 7])) == np.asarray(models[1].extend([5, 6, 7]))).all()
