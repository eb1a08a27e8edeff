"""Folders that cannot be read are refused in one line that names the file and the fault."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from conftest import needs
from draftproof.errors import UsageError
from draftproof.models.llama_folder import load


@pytest.fixture
def folder(llama, tmp_path):
    source, _ = llama()
    for file in source.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def change_config(folder, **settings):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def drop_tensor(folder):
    path = folder / "model.safetensors"
    arrays = load_file(path)
    del arrays["model.layers.1.mlp.up_proj.weight"]
    save_file(arrays, path)


def wrong_shape(folder):
    path = folder / "model.safetensors"
    save_file(load_file(path) | {"model.layers.0.self_attn.o_proj.weight": np.zeros((3, 5), np.float32)}, path)


def truncate(folder, share):
    path = folder / "model.safetensors"
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


FAULTS = {
    "no config": (lambda f: (f / "config.json").unlink(), "config.json"),
    "config is no JSON": (lambda f: (f / "config.json").write_text("{"), "config.json"),
    "config is a list": (lambda f: (f / "config.json").write_text("[]"), "config.json"),
    "config lacks a number": (lambda f: change_config(f, hidden_size=None), "hidden_size"),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "safetensors"),
    "empty weights": (lambda f: truncate(f, 0), "model.safetensors"),
    "half the weights": (lambda f: truncate(f, 0.5), "model.safetensors"),
    "weights are text": (lambda f: (f / "model.safetensors").write_text("hello, world"), "model.safetensors"),
    "a tensor is missing": (drop_tensor, "up_proj"),
    "a tensor has another shape": (wrong_shape, "o_proj"),
    "the vocabulary is smaller than it says": (lambda f: change_config(f, vocab_size=500), "embed"),
    "another architecture": (lambda f: change_config(f, architectures=["GPT2LMHeadModel"]), "GPT2LMHeadModel"),
    "another activation": (lambda f: change_config(f, hidden_act="gelu"), "gelu"),
    "scaled rotation": (lambda f: change_config(f, rope_parameters={"rope_type": "llama3"}), "llama3"),
    "attention with biases": (lambda f: change_config(f, attention_bias=True), "attention_bias"),
    "heads that do not divide": (lambda f: change_config(f, num_key_value_heads=3), "num_key_value_heads"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_damaged_folder_is_refused_by_name(folder, fault):
    damage, named = FAULTS[fault]
    damage(folder)
    with pytest.raises(UsageError, match=named) as refusal:
        load(folder)
    assert "\n" not in str(refusal.value)


def test_half_precision_weights_are_read(folder):
    path = folder / "model.safetensors"
    full = load(folder).extend([1, 2, 3])
    save_file({name: array.astype(np.float16) for name, array in load_file(path).items()}, path)
    assert np.abs(load(folder).extend([1, 2, 3]) - full).max() < 0.02 * np.ptp(full)  # half precision keeps 3 digits


def test_bfloat16_weights_are_read_exactly(folder):
    path, library = folder / "model.safetensors", needs("safetensors.torch")
    tensors = {name: tensor.bfloat16() for name, tensor in library.load_file(path).items()}
    library.save_file({name: tensor.float() for name, tensor in tensors.items()}, path)
    rounded = load(folder).extend([1, 2, 3])
    library.save_file(tensors, path)
    assert np.array_equal(load(folder).extend([1, 2, 3]), rounded)


def test_integer_weights_are_refused(folder):
    path = folder / "model.safetensors"
    save_file(load_file(path) | {"model.norm.weight": np.ones(64, np.int8)}, path)
    with pytest.raises(UsageError, match="I8"):
        load(folder)


def test_weights_in_several_files_are_read(folder):
    path = folder / "model.safetensors"
    arrays = load_file(path)
    whole = load(folder).extend([1, 2, 3])
    names = sorted(arrays)
    path.unlink()
    save_file({name: arrays[name] for name in names[:5]}, folder / "model-00001-of-00002.safetensors")
    save_file({name: arrays[name] for name in names[5:]}, folder / "model-00002-of-00002.safetensors")
    assert np.array_equal(load(folder).extend([1, 2, 3]), whole)
