"""The NumPy decoder against transformers on the same folder, and its cache against itself."""

from importlib.resources import files

import numpy as np
import pytest

from conftest import needs
from draftproof.errors import UsageError
from draftproof.models.llama_folder import load

OF_THE_RANGE = 1e-3  # the bound; float32 in another order of summation stays far below it


def reference(model, ids):
    torch = needs("torch")
    with torch.inference_mode():
        return model(torch.tensor([ids])).logits[0].float().numpy()


def close(got, expected):
    return np.abs(got - expected).max() <= OF_THE_RANGE * (expected.max() - expected.min())


SHAPES = [
    {},
    {"num_key_value_heads": 1},
    {"num_key_value_heads": 4},
    {"intermediate_size": 88, "vocab_size": 101, "hidden_size": 40, "head_dim": 10},
    {"tie_word_embeddings": False},
    {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}, "rms_norm_eps": 1e-3},
    {"hidden_size": 256, "intermediate_size": 704, "head_dim": 64},
]


@pytest.mark.parametrize("settings", SHAPES, ids=str)
def test_logits_equal_transformers(llama, settings):
    folder, expected = llama(**settings)
    model = load(folder)
    ids = np.random.default_rng(0).integers(0, model.vocab_size, model.context_limit).tolist()
    assert close(model.extend(ids), reference(expected, ids))


@pytest.mark.parametrize("name", ["target", "draft"])
def test_the_embedded_pair_equals_transformers(pair, name):
    folder = str(files("draftproof") / "assets" / name)
    expected = needs("transformers").LlamaForCausalLM.from_pretrained(folder, dtype=needs("torch").float32).eval()
    loaded = pair[0] if name == "target" else pair[1]
    ids = loaded.tokenizer.encode(
        "In the beginning God created the heaven and the earth. And the earth was without form"
    )
    assert close(loaded.model.fresh().extend(ids), reference(expected, ids))


def test_pieces_give_the_same_logits_as_the_whole(llama):
    model = load(llama()[0])
    ids = np.random.default_rng(1).integers(0, 128, 90).tolist()
    whole, other = model.extend(ids), model.fresh()
    pieces = [other.extend(ids[other.length : other.length + size]) for size in (1, 2, 3, 1, 17, 40, 26)]
    assert close(np.concatenate(pieces), whole)


def test_a_rewound_cache_is_as_if_the_rest_had_never_been_read(llama):
    model = load(llama()[0])
    ids = np.random.default_rng(2).integers(0, 128, 60).tolist()
    model.extend(ids)
    for length in (59, 31, 30, 2, 1, 0):
        model.rewind(length)
        other = model.fresh()
        if length:
            other.extend(ids[:length])
        assert close(model.extend([5, 6, 7]), other.extend([5, 6, 7]))  # bits may depend on the pieces read before
        assert model.length == length + 3
        model.rewind(length)


def test_only_the_wanted_rows_come_back(llama):
    model = load(llama()[0])
    ids = list(range(50))
    whole = model.extend(ids)
    assert np.array_equal(model.fresh().extend(ids, rows=3), whole[-3:])


def test_two_fresh_models_do_not_disturb_each_other(llama):
    model = load(llama()[0])
    one, two, alone = model.fresh(), model.fresh(), model.fresh()
    one.extend([1, 2, 3])
    two.extend([9, 8, 7, 6])
    alone.extend([1, 2, 3])
    assert np.array_equal(one.extend([4]), alone.extend([4]))


@pytest.mark.parametrize("ids", [[], [128], [-1], list(range(97))], ids=["none", "too high", "negative", "too many"])
def test_what_is_no_text_of_this_model_is_refused_and_nothing_is_read(llama, ids):
    model = load(llama()[0])
    with pytest.raises(UsageError):
        model.extend(ids)
    assert model.length == 0


@pytest.mark.parametrize("length", [-1, 4])
def test_a_rewind_past_either_end_is_refused(llama, length):
    model = load(llama()[0])
    model.extend([1, 2, 3])
    with pytest.raises(UsageError):
        model.rewind(length)


def test_the_whole_context_can_be_read_token_by_token(llama):
    model = load(llama()[0])
    for token in range(96):
        model.extend([token])
    with pytest.raises(UsageError, match="96"):
        model.extend([0])


TREE = ([7, 9, 7, 3, 5, 3], [-1, -1, 0, 0, 1, 4])
"""Six tokens after a text; the paths are 7 7, 7 3 and 9 5 3."""


def paths_of(tokens, parents):
    paths = []
    for token, parent in zip(tokens, parents, strict=True):
        paths.append([*(paths[parent] if parent >= 0 else []), token])
    return paths


@pytest.mark.parametrize("unread", [1, 4])
def test_a_token_of_a_tree_sees_the_text_and_its_ancestors_only(llama, unread):
    model, (tokens, parents) = load(llama()[0]), TREE
    text = np.random.default_rng(4).integers(0, 128, 20).tolist()
    model.extend(text[:-unread])
    rows = model.extend([*text[-unread:], *tokens], rows=len(tokens) + 1, parents=parents)
    for row, path in zip(rows, [[], *paths_of(tokens, parents)], strict=True):
        assert close(row, model.fresh().extend([*text, *path])[-1])


def test_siblings_with_the_same_token_have_the_same_row(llama):
    model = load(llama()[0])
    rows = model.extend([5, 9, 9, 4], parents=[-1, -1, 0])
    assert close(rows[1], rows[2])


def test_a_tree_that_is_a_chain_is_read_like_one(llama):
    model = load(llama()[0])
    ids = np.random.default_rng(5).integers(0, 128, 12).tolist()
    assert close(model.extend(ids, parents=[-1, 0, 1]), model.fresh().extend(ids))


@pytest.mark.parametrize("path", [[], [0], [1], [0, 3], [1, 4], [1, 4, 5]], ids=str)
def test_a_kept_path_is_as_if_the_rest_of_the_tree_had_never_been_read(llama, path):
    model, (tokens, parents) = load(llama()[0]), TREE
    text = np.random.default_rng(6).integers(0, 128, 17).tolist()
    model.extend([*text, *tokens], rows=1, parents=parents)
    model.keep(len(text), path)
    kept = [*text, *(tokens[node] for node in path)]
    assert model.length == len(kept)
    assert close(model.extend([1, 2, 3]), model.fresh().extend([*kept, 1, 2, 3])[-3:])


def test_a_tree_may_reach_to_the_end_of_the_context(llama):
    model = load(llama()[0])
    model.extend([3] * 92)
    assert model.extend([5, *TREE[0]], parents=TREE[1]).shape == (7, 128)  # three levels after the 93rd token
    model.rewind(93)
    with pytest.raises(UsageError, match="97 tokens do not fit"):
        model.extend([5, *TREE[0]], parents=TREE[1])
