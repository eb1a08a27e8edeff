"""The tokenizer in a GGUF file: ids and back, whole characters only, and tokenizer.json made of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from draftproof import load
from draftproof.errors import UsageError
from ggufs_of_tests import SPECIALS, tokens, write_gguf

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40).filter(lambda text: "<" not in text)
TEXTS = ("hello world", "caf\N{LATIN SMALL LETTER E WITH ACUTE} \N{SNOWMAN} 12", " <|user|>hi<|end|>\n", "\0")


@pytest.fixture(scope="module")
def tokenizer(loaded):
    return loaded().tokenizer


@pytest.fixture(scope="module")
def json_of_it(tokenizer):
    return Tokenizer.from_str(tokenizer.to_json())


@given(text=TEXT.filter(bool))
def test_what_is_encoded_decodes_to_itself(tokenizer, text):
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text


@given(ids=st.lists(st.integers(0, len(tokens()) - 1)))
def test_a_stream_is_the_text_but_for_what_is_no_character_yet(tokenizer, ids):
    piece = tokenizer.stream()
    shown, whole = "".join(map(piece, ids)), tokenizer.decode(ids)
    assert whole.startswith(shown)
    assert not whole[len(shown) :].strip("\N{REPLACEMENT CHARACTER}")


def test_bytes_that_are_no_character_yet_are_held_back(tokenizer):
    piece = tokenizer.stream()
    ids = tokenizer.encode("\N{SNOWMAN}")
    assert [piece(token) for token in ids] == ["", "", "\N{SNOWMAN}"]


def test_special_tokens_are_known_in_texts_and_left_out_of_them(tokenizer):
    end, user, answer = (tokens().index(name) for name in SPECIALS)
    assert tokenizer.encode("<|user|>h")[0] == user
    assert tokenizer.decode([user, *tokenizer.encode("hello"), end]) == "hello"
    assert end in tokenizer.eos
    assert tokenizer.chat("hello") == [user, *tokenizer.encode("hello"), answer]


def test_the_vocabulary_is_that_of_the_file_without_what_fills_it_up(tokenizer, gguf, tmp_path):
    assert tokenizer.vocabulary == {name: token for token, name in enumerate(tokens())}
    kinds = [5 if name == "z" else 1 for name in tokens()]
    path = write_gguf(tmp_path / "unused.gguf", settings={"tokenizer.ggml.token_type": kinds})
    assert set(tokens()) - set(load(f"gguf:{path}?threads=1", "target").tokenizer.vocabulary) == {"z"}


@pytest.mark.parametrize("text", TEXTS)
def test_tokenizer_json_encodes_and_decodes_as_llama_cpp_does(tokenizer, json_of_it, text):
    ids = tokenizer.encode(text)
    assert json_of_it.encode(text, add_special_tokens=False).ids == ids
    assert json_of_it.decode(ids) == tokenizer.decode(ids)
    assert json_of_it.get_vocab() == tokenizer.vocabulary


def test_spellings_are_two_or_one(tokenizer):
    assert tokenizer.spellings("wo", "stop") == [[tokens().index("w"), tokens().index("o")], [tokens().index("Ġwo")]]


def test_a_model_with_bos_begins_with_it_once(gguf, tmp_path):
    settings = {"tokenizer.ggml.add_bos_token": True, "tokenizer.ggml.bos_token_id": 264}
    path = write_gguf(tmp_path / "bos.gguf", settings=settings)
    tokenizer = load(f"gguf:{path}?threads=1", "target").tokenizer
    assert (tokenizer.bos, tokenizer.encode("")) == (264, [264])
    assert tokenizer.chat("h")[:2] == [264, tokens().index("h")]  # the template writes it already


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"tokenizer.chat_template": None}, "no chat template"),
        ({"tokenizer.chat_template": "{{ 1 / 0 }}"}, "fails"),
        ({"tokenizer.chat_template": "{% if %}"}, "fails"),
    ],
)
def test_a_chat_without_a_template_that_works_is_refused(gguf, tmp_path, change, reason):
    tokenizer = load(f"gguf:{write_gguf(tmp_path / 'chat.gguf', settings=change)}?threads=1", "target").tokenizer
    with pytest.raises(UsageError, match=reason):
        tokenizer.chat("hello")


def test_what_cannot_be_encoded_or_decoded_is_refused(tokenizer):
    for refused in (lambda: tokenizer.encode(""), lambda: tokenizer.encode("\ud800"), lambda: tokenizer.decode([9999])):
        with pytest.raises(UsageError):
            refused()


def test_tokenizer_json_of_an_unknown_kind_is_refused(gguf, tmp_path):
    path = write_gguf(tmp_path / "pre.gguf", settings={"tokenizer.ggml.pre": "deepseek-llm"})
    with pytest.raises(UsageError, match="deepseek-llm"):
        load(f"gguf:{path}?threads=1", "target").tokenizer.to_json()
