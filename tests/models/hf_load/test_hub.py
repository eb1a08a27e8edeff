"""Models of the hub: from the cache where there is no network, else one line that says what to do."""

import shutil

import huggingface_hub
import pytest
from huggingface_hub import constants, errors

from draftproof.errors import UsageError
from draftproof.models.catalogue import fingerprint, load


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and no network."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "hub"


def put(folder, cache, name, revision):
    """Put a folder into the cache, as a download does."""
    place = cache / f"models--{name.replace('/', '--')}"
    (place / "refs").mkdir(parents=True, exist_ok=True)
    (place / "refs" / revision).write_text(f"commit-of-{revision}")
    shutil.copytree(folder, place / "snapshots" / f"commit-of-{revision}")


def refusal(spec):
    with pytest.raises(UsageError) as refused:
        load(spec, "target")
    assert len(str(refused.value).splitlines()) == 1
    return str(refused.value)


def test_a_model_in_the_cache_needs_no_network(saved, cache):
    put(saved, cache, "org/model", "main")
    model, tokenizer = load("hf:org/model", "target")
    assert (model.vocab_size, tokenizer.eos) == (320, {1})
    assert fingerprint("hf:org/model", "target") == fingerprint(f"hf:{saved}", "target")


def test_a_revision_is_another_model(saved, folder, cache, change):
    put(saved, cache, "org/model", "main")
    change(folder / "config.json", eos_token_id=2)
    put(folder, cache, "org/model", "v2")
    assert load("hf:org/model?revision=v2", "target").tokenizer.eos == {1, 2}  # 1 by the tokenizer's own settings
    assert fingerprint("hf:org/model?revision=v2", "target") != fingerprint("hf:org/model", "target")
    assert "cannot be fetched" in refusal("hf:org/model?revision=v3")


def refused_print(spec):
    with pytest.raises(UsageError) as refused:
        fingerprint(spec, "target")
    return str(refused.value)


@pytest.mark.parametrize("ask", [refusal, refused_print], ids=["load", "fingerprint"])
def test_a_model_that_was_never_fetched_says_what_to_do_without_a_network(cache, ask):
    found = ask("hf:org/nothing")
    assert "org/nothing cannot be fetched: it is not in the cache of huggingface_hub, and the hub cannot be" in found
    assert "fetch it where there is a network, or give the path of a folder" in found


REASONS = {
    "GatedRepoError": "its owner lets only those in who asked",
    "RepositoryNotFoundError": "the hub shows no model of this name",
    "RevisionNotFoundError": "no such revision of it",
    "IncompleteSnapshotError": "only a part of it is in the cache",
    "LocalEntryNotFoundError": "the hub cannot be reached from here",
}


@pytest.mark.parametrize("name", REASONS)
def test_what_the_hub_says_no_to_has_its_reason(name, cache, monkeypatch):
    kind = getattr(errors, name)

    def refuse(*_, **__):
        raise kind.__new__(kind)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    assert REASONS[name] in refusal("hf:org/model")


def test_an_error_that_nobody_knew_of_is_told_in_one_line(cache, monkeypatch):
    def refuse(*_, **__):
        raise ConnectionResetError("\nwent\naway")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    assert "org/model cannot be fetched: ConnectionResetError: went" in refusal("hf:org/model")


def test_weights_in_the_older_format_are_fetched_where_there_are_no_others(cache, monkeypatch, tmp_path):
    asked = []

    def fetch(name, *, allow_patterns, **_):
        asked.append(allow_patterns)
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    assert "no tokenizer in it" in refusal("hf:org/model")
    assert [patterns[-1] for patterns in asked] == ["model*.safetensors", "pytorch_model*.bin"]
    assert not any("*.py" in patterns for patterns in asked)
