"""Text to ids as transformers makes them of the same folder; chat by its template; whole characters only."""

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, processors
from transformers import AutoTokenizer

from draftproof.errors import MissingExtraError, UsageError
from draftproof.models.hf.spec import HfSpec
from draftproof.models.hf.tokenizer import tokenizer_of
from draftproof.models.json_tokenizer import JsonTokenizer

TEXTS = [
    "In the beginning",
    "雪が降る 😀",
    "é<|eot|>and<|end|>",
    " x\n",
    "\N{REPLACEMENT CHARACTER} a",
    "👩‍👩‍👧 the e\u0301",
]


def of(folder):
    return tokenizer_of(folder, HfSpec(str(folder), folder))


def puts(folder, template):
    """Let a tokenizer put special tokens around texts."""
    path = folder / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(path))
    special = [("<|bos|>", 0), ("<|end|>", 1), ("<|eot|>", 2)]
    tokenizer.post_processor = processors.TemplateProcessing(single=template, special_tokens=special)
    tokenizer.save(str(path))


def test_a_bos_that_only_the_config_names_is_not_put_before_a_text(saved):
    assert of(saved).bos is None
    assert [of(saved).encode(text) for text in TEXTS] == AutoTokenizer.from_pretrained(saved)(TEXTS).input_ids
    with pytest.raises(UsageError, match="no BOS token to start from"):
        of(saved).encode("")


@pytest.mark.parametrize("adds", [None, True, False])
def test_a_bos_that_the_tokenizer_puts_is_put(folder, change, adds):
    puts(folder, "<|bos|> $A")
    change(folder / "tokenizer_config.json", add_bos_token=adds)  # the post-processor has the last word
    assert of(folder).bos == 0
    assert of(folder).encode("") == [0]
    assert [of(folder).encode(text) for text in TEXTS] == AutoTokenizer.from_pretrained(folder)(TEXTS).input_ids


def test_all_tokens_before_a_text_are_put_and_none_behind_it(folder):
    puts(folder, "<|bos|> <|eot|> $A <|end|>")
    assert of(folder).encode("a") == AutoTokenizer.from_pretrained(folder)("a").input_ids[:-1]
    assert of(folder).encode("a")[:2] == [0, 2]


def test_a_text_ends_with_what_any_of_its_files_says(folder, change):
    change(folder / "config.json", eos_token_id=[7], text_config={"eos_token_id": 9})
    change(folder / "generation_config.json", eos_token_id=[2, 8])
    assert of(folder).eos == {7, 9, 2, 8, 1}
    change(folder / "tokenizer_config.json", eos_token={"content": "<|bos|>"})
    assert of(folder).eos == {7, 9, 2, 8, 0}


def test_limits_of_length_in_the_file_do_not_cut_a_prompt(folder):
    path = folder / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=50)
    tokenizer.save(str(path))
    assert of(folder).decode(of(folder).encode(TEXTS[0])) == TEXTS[0]


def test_special_tokens_in_a_prompt_are_tokens_and_are_left_out_of_a_text(saved):
    ids = of(saved).encode("a<|eot|>b")
    assert 2 in ids
    assert of(saved).decode(ids) == "ab"


@pytest.mark.parametrize("files", [("tokenizer.json",), ("tokenizer.json", "tokenizer_config.json")])
def test_a_folder_without_a_tokenizer_is_refused(folder, files):
    for name in files:
        (folder / name).unlink()
    with pytest.raises(UsageError, match="no tokenizer in it; a model folder holds") as refusal:
        of(folder)
    assert len(str(refusal.value).splitlines()) == 1


def test_a_tokenizer_in_other_files_is_made_by_transformers(folder, change):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    before = of(folder)
    tokenizer.model.save(str(folder))  # vocab.json and merges.txt
    (folder / "tokenizer.json").unlink()
    change(folder / "tokenizer_config.json", tokenizer_class="GPT2Tokenizer")
    assert of(folder).encode(TEXTS[0]) == before.encode(TEXTS[0])


# Chat.

TEMPLATE = (
    "{% for m in messages %}<|eot|>{{ m.role }}: {{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<|end|>{% endif %}"
)


def test_a_message_is_put_by_the_template_with_nothing_before_it(folder):
    puts(folder, "<|bos|> $A")
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    ids = of(folder).chat("雪 in the")
    theirs = AutoTokenizer.from_pretrained(folder)
    asked = theirs.apply_chat_template([{"role": "user", "content": "雪 in the"}], add_generation_prompt=True)
    assert ids == asked.input_ids
    assert (ids[0], ids[-1]) == (2, 1)


def test_a_template_may_stand_in_the_settings(folder, change):
    change(folder / "tokenizer_config.json", chat_template="{{ bos_token }}{{ messages[0].content }}")
    assert of(folder).chat("the") == [0, *of(folder).encode("the")]


def test_a_model_without_a_template_refuses_to_chat(saved):
    with pytest.raises(UsageError, match=r"^chat: got true, but this model has no chat template; leave it out$"):
        of(saved).chat("hello")


@pytest.mark.parametrize("template", ["{% if %}", "{{ raise_exception('no') }}", "{{ 1 / 0 }}"])
def test_a_template_that_fails_is_named(folder, template):
    (folder / "chat_template.jinja").write_text(template)
    with pytest.raises(UsageError, match=f"^chat: the chat template of {folder} cannot be filled in: ") as refusal:
        of(folder).chat("hello")
    assert len(str(refusal.value).splitlines()) == 1


def test_a_template_without_jinja_names_the_extra(folder, monkeypatch):
    (folder / "chat_template.jinja").write_text(TEMPLATE)

    def fail(*_, **__):
        raise ImportError("jinja2")

    monkeypatch.setattr("transformers.utils.chat_template_utils._compile_jinja_template", fail)
    with pytest.raises(MissingExtraError, match=r"needs jinja2; install it with: pip install 'draftproof\[hf\]'"):
        of(folder).chat("hello")


# Streams.


def streamed(tokenizer, ids):
    piece = tokenizer.stream()
    return [piece(token) for token in ids]


@pytest.mark.parametrize("text", TEXTS)
def test_a_stream_of_bytes_shows_whole_characters_and_all_of_them(saved, text):
    """Split at every position, by ids that no encoder would choose: one for each byte."""
    tokenizer = of(saved)
    whole = tokenizer.encode(text)
    single = [token for part in text for token in tokenizer.encode(part)]
    for ids in (whole, single, bytes_of(tokenizer, text)):
        shown = streamed(tokenizer, ids)
        assert "".join(shown) == tokenizer.decode(ids)
        for end in range(len(ids)):
            assert tokenizer.decode(ids[:end]).startswith("".join(shown[:end]))


def bytes_of(tokenizer, text):
    """The ids of single bytes: the alphabet of a byte-level vocabulary comes first, in order."""
    visible = sorted({*range(33, 127), *range(161, 173), *range(174, 256)})
    hidden = [byte for byte in range(256) if byte not in visible]
    names = {byte: chr(byte) for byte in visible} | {byte: chr(256 + i) for i, byte in enumerate(hidden)}
    return [tokenizer.vocabulary[names[byte]] for byte in text.encode()]


def test_no_replacement_character_is_shown_before_the_next_byte_could_make_it_another(saved):
    tokenizer = of(saved)
    ids = bytes_of(tokenizer, "😀雪")
    assert streamed(tokenizer, ids) == ["", "", "", "😀", "", "", "雪"]
    assert streamed(tokenizer, [*ids[:2], *bytes_of(tokenizer, "a")]) == ["", "", "\N{REPLACEMENT CHARACTER}a"]


def with_byte_fallback():
    """As Llama 2 and Gemma write bytes: a token <0xE9> each, in which a broken run is broken as a whole."""
    words = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "▁a"]
    backend = Tokenizer(models.BPE({word: i for i, word in enumerate(words)}, [("▁", "a")], byte_fallback=True))
    backend.normalizer = normalizers.Replace(" ", "▁")
    backend.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return JsonTokenizer(backend, [], frozenset())


def test_bytes_that_stand_for_themselves_are_streamed_too():
    tokenizer = with_byte_fallback()
    text = "a 雪 a😀"
    assert "".join(streamed(tokenizer, tokenizer.encode(text))) == text


def test_broken_bytes_end_no_generation():
    """The library's own stream raises here: what was shown as a character is none in the longer text."""
    tokenizer = with_byte_fallback()
    broken = [*(1 + byte for byte in "é".encode()), 1 + 0xFF, tokenizer.vocabulary["a"]]
    assert streamed(tokenizer, broken)[1] == "é"
    assert streamed(tokenizer, broken)[-1].endswith("a")
