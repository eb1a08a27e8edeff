"""What needs to know how tokens are written: stop strings, text streamers, files, assistants with other rows."""

import string

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import BPE
from transformers import PreTrainedTokenizerFast, StoppingCriteriaList, StopStringCriteria, TextIteratorStreamer

from draftproof.integrations.transformers import speculative

SETTINGS = {"do_sample": False, "max_new_tokens": 24}


@pytest.fixture(scope="module")
def tokenizer():
    """One that writes a token as a letter or a digit, but for three special ones."""
    words = ["<pad>", "<bos>", "<eos>", *string.ascii_letters, *string.digits[:9]]
    letters = Tokenizer(BPE({word: i for i, word in enumerate(words)}, []))
    letters.decoder = Fuse()
    special = {"pad_token": "<pad>", "bos_token": "<bos>", "eos_token": "<eos>"}
    return PreTrainedTokenizerFast(tokenizer_object=letters, **special)


def test_a_stop_string_ends_the_text_where_it_ends_in_transformers(target, draft, ids, tokenizer):
    written = tokenizer.decode(target.generate(ids, **SETTINGS)[0, 7:])
    criteria = StoppingCriteriaList([StopStringCriteria(tokenizer, [written[4:6]])])
    plain = target.generate(ids, stopping_criteria=criteria, **SETTINGS)
    fast = target.generate(ids, stopping_criteria=criteria, custom_generate=speculative(draft), **SETTINGS)
    assert torch.equal(plain, fast)
    assert plain.shape[1] == ids.shape[1] + 6


def test_stop_strings_as_a_setting_never_reach_us(target, ids, tokenizer):
    """transformers keeps the tokenizer from a custom_generate, and says so; the documents say what to do."""
    with pytest.raises(ValueError, match="could not locate a tokenizer"):
        target.generate(ids, stop_strings=["e"], tokenizer=tokenizer, custom_generate=speculative(), **SETTINGS)


def test_text_streams_as_in_transformers(target, draft, ids, tokenizer):
    texts = []
    for more in ({}, {"custom_generate": speculative(draft)}):
        streamer = TextIteratorStreamer(tokenizer, skip_prompt=True, timeout=5)
        target.generate(ids, streamer=streamer, **SETTINGS, **more)
        texts.append(list(streamer))
    assert texts[0] == texts[1]
    assert "".join(texts[0])


def test_a_file_may_be_drafted_from(target, ids, tokenizer, tmp_path):
    plain = target.generate(ids, **SETTINGS)
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(tokenizer.decode(plain[0]))
    spec = speculative(f"suffix:{corpus}", tokenizer=tokenizer)
    assert torch.equal(target.generate(ids, custom_generate=spec, **SETTINGS), plain)
    assert spec.last[0].acceptance_rate > 0


def test_an_assistant_with_other_rows_is_translated(target, ids, tokenizer, llama):
    plain = target.generate(ids, **SETTINGS)
    spec = speculative(llama(80, 5), tokenizer=tokenizer)
    assert torch.equal(target.generate(ids, custom_generate=spec, **SETTINGS), plain)
    assert spec.last[0].num_draft_tokens > 0
    assert spec.last[0].num_drafter_faults == 0
