"""From words to drafters: what is named is built, what names nothing is refused before anything is loaded."""

import pytest
from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, pre_tokenizers

from drafters_of_tests import table
from draftproof.drafters import catalogue
from draftproof.drafters.catalogue import DRAFTER_SPECS, check_spec, fingerprint_of, load_drafter
from draftproof.drafters.chain import ChainDrafter
from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.ngram import NgramDrafter
from draftproof.drafters.none import NoDrafter
from draftproof.drafters.suffix import SuffixDrafter
from draftproof.drafters.vocabulary import TranslatedDrafter
from draftproof.errors import UsageError
from draftproof.models.catalogue import LoadedModel, fingerprint
from draftproof.models.json_tokenizer import of_folder
from draftproof.warpers.pipeline import Pipeline, sampling

RAW = Pipeline()


@pytest.fixture
def spelled(tmp_path):
    """Return a function: the strings of a tokenizer -> a table model with it, spelled in bytes or as sentencepiece."""

    def make(*strings, in_bytes=True, size=None):
        backend = Backend(models.BPE(vocab={string: i for i, string in enumerate(strings)}, merges=[]))
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False) if in_bytes else None
        backend.decoder = decoders.ByteLevel() if in_bytes else decoders.Metaspace()
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        backend.save(str(folder / "tokenizer.json"))
        (folder / "config.json").write_text("{}")
        return LoadedModel(table(len(strings) if size is None else size), of_folder(folder))

    return make


def loaded(spec, target, draft=None, pipeline=RAW):
    return load_drafter(spec, target, pipeline, lambda spec, setting: draft)


def refused(act, *arguments):
    with pytest.raises(UsageError) as caught:
        act(*arguments)
    assert caught.value.setting == "drafter"
    assert "\n" not in str(caught.value)
    return caught.value.message


def test_none_is_none(pair):
    assert isinstance(load_drafter("none", pair[0], RAW), NoDrafter)


@pytest.mark.parametrize(("spec", "shortest", "longest"), [("ngram", 1, 4), ("ngram:2-3", 2, 3), ("ngram:5-5", 5, 5)])
def test_prompt_lookup_has_its_lengths(pair, spec, shortest, longest):
    assert load_drafter(spec, pair[0], RAW) == NgramDrafter(1024, shortest, longest)


@pytest.mark.parametrize(
    "text", ["5-2", "0-3", "1-17", "", "3", "-", "1-", "a-b", "1-2-3", " 1-2", "٣-٤", "1-99999999999"]
)
def test_a_range_that_is_none_is_refused(text):
    assert "1 <= MIN <= MAX <= 16" in refused(check_spec, f"ngram:{text}")


def test_a_corpus_is_read_once_in_the_targets_tokens(pair, tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("Once upon a time there was a king.")
    target = pair[0]
    drafter = load_drafter(f"suffix:{path}", target, RAW)
    ids = target.tokenizer.encode("Once upon a time")
    assert drafter.law(ids).argmax() == target.tokenizer.encode("Once upon a time there")[len(ids)]
    assert drafter.fresh().corpus is drafter.corpus
    assert load_drafter("suffix", target, RAW).law(ids) is None


@pytest.mark.parametrize(
    ("content", "reason"), [(None, "no such file"), (b"", "0 bytes"), (b"x" * 101, "101 bytes"), (b"\xff\xfe", "UTF-8")]
)
def test_a_corpus_that_is_none_is_refused(pair, tmp_path, monkeypatch, content, reason):
    monkeypatch.setattr(catalogue, "_MOST_BYTES", 100)
    path = tmp_path / "corpus.txt"
    if content is not None:
        path.write_bytes(content)
    act = check_spec if reason != "UTF-8" else lambda spec: load_drafter(spec, pair[0], RAW)
    assert reason in refused(act, f"suffix:{path}")


@pytest.mark.parametrize("name", ["", ".", "\0", "x" * 5000, "~nobody-of-this-name/x"])
def test_a_corpus_that_can_be_no_file_is_refused_in_one_short_line(name):
    assert len(refused(check_spec, f"suffix:{name}")) < 200


def test_the_first_layers_of_the_target_draft_for_it(pair):
    pipeline = sampling(0.5)
    drafter = load_drafter("early_exit:2", pair[0], pipeline)
    assert (drafter.model.layers, drafter.pipeline) == (2, pipeline)
    assert drafter.law([0, 5]).shape == (1024,)


@pytest.mark.parametrize("text", ["0", "", "-1", "two", "1.5", "1" * 5000])
def test_a_number_of_layers_that_is_none_is_refused(text):
    assert "early_exit:N" in refused(check_spec, f"early_exit:{text}")


def test_more_layers_than_the_target_has_are_refused(pair):
    assert "1 to 5 layers" in refused(load_drafter, "early_exit:6", pair[0], RAW)


def test_a_target_without_layers_is_refused(spelled):
    assert "layers of this target" in refused(loaded, "early_exit:1", spelled("a", "b"))


def test_a_chain_has_its_members_in_order(pair):
    drafter = load_drafter("chain:ngram:3-4,suffix,early_exit:1", pair[0], RAW)
    assert isinstance(drafter, ChainDrafter)
    assert [type(member) for member in drafter.members] == [NgramDrafter, SuffixDrafter, ModelDrafter]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("chain", "two or more"),
        ("chain:", "two or more"),
        ("chain:ngram", "two or more"),
        ("chain:ngram,", "allowed are"),
        ("chain:ngram,chain:suffix,none", "no other chain"),
        ("chain:ngram:5-2,suffix", "MIN <= MAX"),
        ("chain:suffix,tiny:nowhere", "no folder"),
    ],
)
def test_a_chain_that_is_none_is_refused(spec, reason):
    assert reason in refused(check_spec, spec)


@pytest.mark.parametrize("spec", ["", "ngrm", "none:", "tiny", "Ngram", "tiny:nowhere"])
def test_a_word_that_names_nothing_is_refused_with_what_is_allowed(spec):
    message = refused(check_spec, spec)
    assert "tiny:target" in message
    assert "ngram:MIN-MAX" in message


def test_checking_loads_nothing(monkeypatch):
    monkeypatch.setattr("draftproof.models.catalogue.load", lambda *_: pytest.fail("loaded"))
    for spec in ("none", "ngram", "suffix", "early_exit:2", "chain:ngram,tiny:draft", "tiny:draft"):
        check_spec(spec)


def test_every_kind_is_described():
    for word in ("none", "ngram", "suffix", "early_exit:N", "chain:SPEC,SPEC", "tiny:draft"):
        assert word in DRAFTER_SPECS


def test_a_model_of_the_same_vocabulary_is_used_as_it_is(pair):
    target, draft = pair
    pipeline = sampling(0.5)
    drafter = loaded("tiny:draft", target, draft, pipeline)
    assert (drafter.model, drafter.pipeline) == (draft.model, pipeline)


def test_a_model_of_other_ids_is_translated(spelled):
    pipeline = sampling(top_k=1)
    drafter = loaded("tiny:draft", spelled("a", "b", "c"), spelled("c", "a", "b"), pipeline)
    assert isinstance(drafter, TranslatedDrafter)
    assert (drafter.pipeline, drafter.drafter.pipeline) == (pipeline, RAW)
    assert drafter.law([0, 1]).sum() == 1


def test_padded_rows_are_accepted(spelled):
    drafter = loaded("tiny:draft", spelled("a", "b", "c", size=5), spelled("a", "b", "c", size=3))
    assert drafter.law([4, 0]).shape == (5,)


def test_a_vocabulary_spelled_in_bytes_is_no_match_for_one_of_sentencepiece(spelled):
    target, draft = spelled("a", "é", "▁b", in_bytes=False), spelled("Ġb", "é")
    message = refused(loaded, "tiny:draft", target, draft)
    assert "'é' (its token 1, the target's 1) stands for '\ufffd' there and for 'é' in the target" in message
    assert "it has 2 tokens, the target 3" in message


def test_a_vocabulary_that_shares_nothing_is_refused(spelled):
    message = refused(loaded, "tiny:draft", spelled("a", "b"), spelled("c", "d", "e"))
    assert "token 0 is 'c' there and 'a' in the target; it has 3 tokens, the target 2" in message


def test_a_fingerprint_changes_with_what_makes_the_drafter(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("one")
    before = fingerprint_of(f"chain:suffix:{path},ngram")
    assert before == f"chain:{fingerprint_of(f'suffix:{path}')},ngram:1-4"
    path.write_text("two")
    assert fingerprint_of(f"chain:suffix:{path},ngram") != before
    assert fingerprint_of("tiny:draft") == fingerprint("tiny:draft", "drafter")
    assert [fingerprint_of(spec) for spec in ("none", "suffix", "early_exit:02", "ngram:1-4")] == [
        "none", "suffix", "early_exit:2", "ngram:1-4",
    ]  # fmt: skip
    assert "ngrm" in refused(fingerprint_of, "ngrm")
