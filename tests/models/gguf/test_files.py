"""What is no model is refused in one line, before it is run: files, settings, sizes."""

import struct
import sys

import pytest

import draftproof.models.gguf.backend as backend_of_gguf
from draftproof import load
from draftproof.errors import MissingExtraError, UsageError
from draftproof.models.catalogue import check_model, fingerprint
from draftproof.models.gguf.header import read_fields
from ggufs_of_tests import write_gguf


def refusal(spec):
    with pytest.raises(UsageError) as caught:
        load(f"gguf:{spec}", "target")
    text = str(caught.value)
    assert "\n" not in text
    assert caught.value.setting == "target"
    return text


SETTINGS = {
    "threads=0": "allowed are whole numbers from 1",
    "threads=x": "threads is 'x'",
    "context=0": "context",
    "cache=f8": "allowed are f16, f32",
    "flash=maybe": "allowed are true, false",
    "speed=9": "there is no 'speed' to set",
    "threads=1&threads=2": "given twice",
    "context=513": "allowed are 1 to 512",
    "": "there is no ''",
}


@pytest.mark.parametrize("query", SETTINGS)
def test_a_setting_that_cannot_be_is_refused(gguf, query):
    text = refusal(f"{gguf()}?{query}&" if not query else f"{gguf()}?{query}")
    assert SETTINGS[query] in text


def test_a_path_that_is_no_file_of_a_model_is_refused(tmp_path):
    assert "is no file" in refusal(tmp_path / "none.gguf")
    assert "is a folder" in refusal(tmp_path)
    (tmp_path / "text.gguf").write_text("hello")
    assert "is no GGUF file" in refusal(tmp_path / "text.gguf")
    (tmp_path / "empty.gguf").write_bytes(b"")
    assert "is no GGUF file" in refusal(tmp_path / "empty.gguf")
    assert "cannot be read" in refusal("x" * 5000)
    assert r"'\x00' is no file" in refusal("\0")


@pytest.mark.parametrize("share", [0.0001, 0.01, 0.1, 0.5, 0.9, 0.9999])
def test_a_file_that_was_cut_off_is_refused(gguf, tmp_path, share):
    whole = gguf().read_bytes()
    path = tmp_path / "cut.gguf"
    path.write_bytes(whole[: max(5, int(len(whole) * share))])
    assert "cut.gguf" in refusal(path)


def test_parts_of_a_model_are_given_by_the_first(gguf, tmp_path):
    first, second = (tmp_path / f"m-{number:05}-of-00002.gguf" for number in (1, 2))
    first.write_bytes(gguf().read_bytes())
    assert f"{second.name} is not beside it" in refusal(first)
    second.write_bytes(gguf().read_bytes())
    assert f"give the first, {first.name}" in refusal(second)


def test_a_file_without_what_a_model_needs_is_refused(gguf, tmp_path):
    gguf()
    for number, (settings, reason) in enumerate(
        {
            "tokenizer.ggml.model": "no tokenizer",
            "llama.context_length": "how long a text",
            "llama.block_count": "cannot be loaded",
        }.items()
    ):
        path = write_gguf(tmp_path / f"{number}.gguf", settings={settings: None})
        assert reason in refusal(path)


def test_an_architecture_that_llama_cpp_does_not_know_is_refused(gguf, tmp_path):
    whole = gguf().read_bytes()
    path = tmp_path / "other.gguf"
    path.write_bytes(whole.replace(b"llama", b"lamma"))
    assert "unknown model architecture: 'lamma'" in refusal(path)


def test_another_version_is_refused(gguf, tmp_path):
    path = tmp_path / "old.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<I", 1) + gguf().read_bytes()[8:])
    assert "version" in refusal(path)


def test_what_does_not_fit_into_memory_is_refused_before_it_is_read(gguf, monkeypatch):
    monkeypatch.setattr(backend_of_gguf, "free_memory", lambda: 400_000)
    text = refusal(f"{gguf()}?context=512")
    assert "weights" in text
    assert "a cache of 512 tokens" in text
    monkeypatch.setattr(backend_of_gguf, "free_memory", lambda: 700_000)
    load(f"gguf:{gguf()}?context=512&threads=1", "target")


def test_a_gpu_that_is_not_there_is_refused(gguf):
    assert "without a GPU" in refusal(f"{gguf()}?gpu_layers=3")


def test_a_missing_library_is_named_with_its_extra(gguf, monkeypatch):
    path = gguf()
    monkeypatch.setattr(backend_of_gguf, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"draftproof\[gguf\]"):
        check_model(f"gguf:{path}", "target")


def test_a_fingerprint_is_that_of_the_file_and_its_numbers(gguf, tmp_path):
    path = gguf()
    known = fingerprint(f"gguf:{path}", "target")
    assert fingerprint(f"gguf:{path}?threads=1&context=99", "target") == known
    assert fingerprint(f"gguf:{path}?cache=f32", "target") != known
    changed = bytearray(path.read_bytes())
    changed[-1] ^= 1
    (tmp_path / "changed.gguf").write_bytes(changed)
    assert fingerprint(f"gguf:{tmp_path / 'changed.gguf'}", "target") != known


def test_a_header_is_read_as_the_library_gguf_wrote_it(gguf):
    fields = read_fields(gguf(), lambda _: True)
    assert fields["llama.embedding_length"] == 64
    assert fields["llama.attention.layer_norm_rms_epsilon"] == pytest.approx(1e-6)
    assert fields["tokenizer.ggml.add_bos_token"] is False
    assert fields["tokenizer.ggml.tokens"][-1] == "<|answer|>"
    assert set(fields["tokenizer.ggml.token_type"]) == {1, 3}
    assert read_fields(gguf(), lambda _: False) == {}


def test_nothing_heavy_is_imported_before_a_model_is_loaded():
    import subprocess

    code = "import sys, draftproof.models.catalogue; print('llama_cpp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
