"""Text to ids and back, whole characters only."""

import json
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.errors import UsageError
from draftproof.models.json_tokenizer import of_folder

EMBEDDED = Path(str(files("draftproof") / "assets" / "target"))
TOKENIZER = of_folder(EMBEDDED)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40).filter(lambda text: "<" not in text)


@given(TEXT)
def test_what_is_encoded_decodes_to_itself(text):
    ids = TOKENIZER.encode(text)
    assert ids[0] == TOKENIZER.bos
    assert TOKENIZER.decode(ids) == text


@given(TEXT)
def test_a_stream_shows_each_character_once_and_never_a_part_of_one(text):
    piece = TOKENIZER.stream()
    assert "".join(piece(token) for token in TOKENIZER.encode(text)) == text


def test_bytes_that_are_no_character_yet_are_held_back():
    piece = TOKENIZER.stream()
    ids = TOKENIZER.encode("\N{SNOWMAN}")[1:]
    assert len(ids) == 3
    assert [piece(token) for token in ids] == ["", "", "\N{SNOWMAN}"]


def test_end_of_sequence_comes_from_the_config():
    assert TOKENIZER.eos == {1}
    assert TOKENIZER.decode([1]) == ""


@pytest.fixture
def folder(tmp_path):
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((EMBEDDED / name).read_bytes())
    return tmp_path


def test_generation_config_adds_its_end_tokens(folder):
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [1, 7]}))
    assert of_folder(folder).eos == {1, 7}


def test_a_model_without_bos_cannot_start_from_nothing(folder):
    config = json.loads((folder / "config.json").read_text()) | {"bos_token_id": None}
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = of_folder(folder)
    assert tokenizer.encode("In") == TOKENIZER.encode("In")[1:]
    with pytest.raises(UsageError, match="BOS"):
        tokenizer.encode("")


@pytest.mark.parametrize("content", [None, "", "{", '{"model": 3}'], ids=["missing", "empty", "half", "senseless"])
def test_a_damaged_tokenizer_is_refused_by_name(folder, content):
    path = folder / "tokenizer.json"
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(UsageError, match=r"tokenizer\.json"):
        of_folder(folder)


def test_a_broken_byte_is_shown_when_the_next_character_is_whole():
    piece = TOKENIZER.stream()
    first, *_ = TOKENIZER.encode("\N{SNOWMAN}")[1:]
    (letter,) = TOKENIZER.encode("a")[1:]
    assert [piece(first), piece(letter)] == ["", "\N{REPLACEMENT CHARACTER}a"]


def test_a_model_without_a_template_refuses_to_chat():
    with pytest.raises(UsageError, match=r"^chat: got true, but this model has no chat template; leave it out$"):
        TOKENIZER.chat("hello")
