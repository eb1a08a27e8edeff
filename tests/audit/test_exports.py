"""What engines read is the probe pair itself: the same numbers, under other names."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from conftest import needs
from draftproof import load
from draftproof.audit import probe
from draftproof.audit.catalogue import chosen
from draftproof.audit.environments import python_for
from draftproof.audit.exports import gguf, openvino
from draftproof.errors import MissingExtraError, UsageError

EMBEDDED = Path(str(files("draftproof") / "assets" / "draft"))
"""Another shape: float16, three heads of queries to one of keys, one matrix for both ends."""
TEXT = [1, 7, 30, 12, 9, 40, 41, 7, 30]
ROUNDED = 2e-5
"""Sums of float32 in another order: 3e-6 was seen on logits of up to 8."""
READER = """
import sys, numpy as np, openvino
exact = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32", "INFERENCE_NUM_THREADS": 1}
model = openvino.Core().compile_model(sys.argv[1], "CPU", exact)
asked, ids = model.create_infer_request(), np.array([list(map(int, sys.argv[3:]))])
rows = []
for first, last in ((0, 5), (5, 6), (6, ids.shape[1])):
    told = {"input_ids": ids[:, first:last], "attention_mask": np.ones((1, last), np.int64),
            "position_ids": np.arange(first, last)[None], "beam_idx": np.zeros(1, np.int32)}
    rows.append(next(iter(asked.infer(told).values()))[0].copy())
np.save(sys.argv[2], np.concatenate(rows))
"""
"""Reads a text in three pieces, so that what is kept of a piece is used in the next."""


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pair")
    probe.make(folder, 64, seed=3)
    return folder


@pytest.mark.parametrize("name", ["target", "draft", "embedded"])
def test_a_gguf_file_has_the_logits_of_its_folder(pair, tmp_path, name):
    needs("gguf")
    needs("llama_cpp")
    folder = EMBEDDED if name == "embedded" else pair / name
    gguf.export(folder, tmp_path / "model.gguf")
    read = load(f"gguf:{tmp_path / 'model.gguf'}?threads=1&cache=f32", "target")
    expected = load(f"tiny:{folder}", "target").model.extend(TEXT)
    assert np.abs(read.model.extend(TEXT) - expected).max() < ROUNDED


def test_a_gguf_file_names_the_same_tokens_and_ends(pair, tmp_path):
    needs("gguf")
    needs("llama_cpp")
    gguf.export(pair / "target", tmp_path / "model.gguf")
    read, ours = (load(spec, "target") for spec in (f"gguf:{tmp_path / 'model.gguf'}", f"tiny:{pair / 'target'}"))
    assert read.tokenizer.vocabulary == ours.tokenizer.vocabulary
    assert read.tokenizer.eos == ours.tokenizer.eos == {probe.EOS}
    assert read.tokenizer.bos is None  # so nothing is put before a prompt


def test_without_its_library_a_gguf_export_names_the_extra(pair, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(MissingExtraError, match=r"draftproof\[audit\]"):
        gguf.export(pair / "target", tmp_path / "model.gguf")


@pytest.mark.parametrize("lost", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_gguf_export_names_the_file_that_is_missing(pair, tmp_path, lost):
    needs("gguf")
    for kept in ("config.json", "model.safetensors", "tokenizer.json"):
        if kept != lost:
            (tmp_path / kept).write_bytes((pair / "target" / kept).read_bytes())
    with pytest.raises(UsageError, match=lost):
        gguf.export(tmp_path, tmp_path / "model.gguf")


def test_a_gguf_export_refuses_weights_that_lack_a_tensor(pair, tmp_path):
    needs("gguf")
    for kept in ("config.json", "tokenizer.json"):
        (tmp_path / kept).write_bytes((pair / "target" / kept).read_bytes())
    weights = load_file(pair / "target" / "model.safetensors")
    del weights["model.norm.weight"]
    save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(UsageError, match=r"model\.norm\.weight"):
        gguf.export(tmp_path, tmp_path / "model.gguf")


def test_a_gguf_export_refuses_weights_that_cannot_be_read(pair, tmp_path):
    needs("gguf")
    (tmp_path / "config.json").write_bytes((pair / "target" / "config.json").read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(UsageError, match="float16"):
        gguf.export(tmp_path, tmp_path / "model.gguf")


@pytest.mark.parametrize("name", ["target", "embedded"])
def test_the_export_for_openvino_reads_weights_as_safetensors_does(pair, name):
    file = (EMBEDDED if name == "embedded" else pair / name) / "model.safetensors"
    expected, found = load_file(file), openvino._weights(file)
    assert found.keys() == expected.keys()
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_the_export_for_openvino_refuses_other_architectures(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["GPT2LMHeadModel"]}))
    with pytest.raises(ValueError, match="GPT2LMHeadModel"):
        openvino.main(tmp_path, tmp_path / "made")


def test_the_export_for_openvino_refuses_other_numbers(tmp_path):
    save_file({"whole": np.array([1, 2])}, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="whole is of I64"):
        openvino._weights(tmp_path / "model.safetensors")


@pytest.mark.engines
@pytest.mark.parametrize("name", ["target", "embedded"])
def test_an_openvino_model_has_the_logits_of_its_folder(pair, tmp_path, name):
    folder, python = EMBEDDED if name == "embedded" else pair / name, python_for(chosen("openvino"), "")
    subprocess.run([python, "-P", openvino.__file__, folder, tmp_path], check=True)
    told = [tmp_path / "openvino_model.xml", tmp_path / "rows.npy", *map(str, TEXT)]
    subprocess.run([python, "-c", READER, *told], check=True)
    expected = load(f"tiny:{folder}", "target").model.extend(TEXT)
    assert np.abs(np.load(tmp_path / "rows.npy") - expected).max() < ROUNDED
