"""What may be typed behind `hf:`, and what is refused before anything is imported."""

import subprocess
import sys
from pathlib import Path

import pytest

from draftproof.errors import MissingExtraError, UsageError
from draftproof.models.catalogue import check_model
from draftproof.models.hf import backend
from draftproof.models.hf.spec import HfSpec, read_spec


def test_an_id_of_the_hub_needs_no_query():
    assert read_spec("org/model-1.5B") == HfSpec("org/model-1.5B", None)
    assert read_spec("gpt2").folder is None


def test_everything_behind_the_question_mark_is_heard():
    spec = read_spec(
        "org/model?dtype=float16&device=cuda:1&revision=v2&trust_remote_code=true&context=512&pad_rows=false"
    )
    assert spec == HfSpec(
        "org/model", None, "float16", "cuda:1", "v2", trust_remote_code=True, context=512, pad_rows=False
    )
    assert read_spec("org/model?pad_rows=auto").pad_rows is None


def test_a_folder_that_is_there_is_taken_before_the_hub(tmp_path, monkeypatch):
    (tmp_path / "org").mkdir()
    (tmp_path / "org" / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert read_spec("org").folder == Path("org")


REFUSED = {
    "?": "neither a folder that is there nor the id of a model",
    "a b": "neither a folder that is there nor the id of a model",
    "a/b/c": "neither a folder that is there nor the id of a model",
    "-x/y": "neither a folder that is there nor the id of a model",
    "./nothing": "nothing is no folder",
    "/nothing/at/all": "/nothing/at/all is no folder",
    "~nobody_of_this_name/x": "is no path",
    "n" * 5000: "is no path",
    "a\0b": "neither a folder that is there nor the id of a model",
    "org/m?dtype=int8": "dtype is 'int8'; allowed are auto, float32, bfloat16, float16",
    "org/m?dtype": "dtype is ''; allowed are auto",
    "org/m?device=tpu": "device is 'tpu'; allowed are auto, cpu, cuda, cuda:N",
    "org/m?device=mps": "device is mps, which has no float64",
    "org/m?revision=": "revision is ''; allowed is a branch, a tag or a commit",
    "org/m?trust_remote_code=yes": "trust_remote_code is 'yes'; allowed are true, false",
    "org/m?context=0": "context is '0'; allowed are whole numbers from 1 up",
    "org/m?context=-5": "context is '-5'; allowed are whole numbers from 1 up",
    "org/m?context=\uff11": "context is",
    "org/m?pad_rows=2": "pad_rows is '2'; allowed are auto, true, false",
    "org/m?color=red": "there is no 'color' to set; allowed behind the ? are dtype, device, revision",
    "org/m?dtype=auto&": "there is no '' to set",
    "org/m?dtype=auto&dtype=float32": "dtype is given twice; give it once",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_in_one_line_that_says_what_can(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as refusal:
        read_spec(name)
    assert REFUSED[name] in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1
    assert len(str(refusal.value)) < 250


def test_a_folder_without_a_model_is_refused_with_what_it_lacks(tmp_path):
    with pytest.raises(UsageError, match=r"has no config\.json, so it is no model folder"):
        read_spec(str(tmp_path))
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(UsageError, match=r"holds an adapter \(LoRA\), not a model; merge it"):
        read_spec(str(tmp_path))
    with pytest.raises(UsageError, match="is no folder; a GGUF file is gguf:PATH"):
        read_spec(str(tmp_path / "adapter_config.json"))


def test_a_folder_has_no_revisions(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="revision belongs to a model of the hub"):
        read_spec(f"{tmp_path}?revision=main")


@pytest.mark.parametrize("library", backend.NEEDED)
def test_a_missing_library_names_the_extra_that_brings_it(library, monkeypatch):
    monkeypatch.setattr(backend, "find_spec", lambda name: None if name == library else object())
    with pytest.raises(MissingExtraError) as refusal:
        check_model("hf:org/model", "target")
    assert str(refusal.value) == f"target: needs {library}; install it with: pip install 'draftproof[hf]'"


def test_a_check_imports_nothing_heavy():
    code = (
        "import sys; from draftproof.models.catalogue import check_model; check_model('hf:org/model', 'target'); "
        "print(not {'torch', 'transformers', 'huggingface_hub', 'accelerate'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
