"""Several texts read together: each row is what its text would have got alone, whatever the others are and do."""

import itertools

import numpy as np
import pytest

from draftproof.errors import UsageError
from draftproof.models.base import BatchModel, LayeredModel, Read
from draftproof.models.batch import read_all
from draftproof.models.llama_folder import load
from draftproof.models.table import TableModel
from draftproof.models.together import run_all
from models_of_tests import a_text, needs_rows_apart


def holding(model, texts):
    """Return a model of its own for each text, which has read it."""
    models = [model.fresh() for _ in texts]
    for one, text in zip(models, texts, strict=True):
        if text:
            one.extend(text)
    return models


def alone(reads):
    return [read.model.fork().extend(read.tokens, read.rows, read.parents) for read in reads]


def ragged(model):
    """Reads of every kind: one token, a chain, a tree, prompts of several passes, after nothing or much."""
    texts = [a_text(model, length, seed) for seed, length in enumerate((17, 0, 33, 64, 5, 31))]
    one, prompt, chain, tree, long, twins = holding(model, texts)
    return [
        Read(one, a_text(model, 1, 10)),
        Read(prompt, a_text(model, 150, 11), 1),
        Read(chain, a_text(model, 4, 12)),
        Read(tree, a_text(model, 7, 13), 6, [-1, -1, 0, 0, 3]),
        Read(long, a_text(model, 90, 14), 50),
        Read(twins, a_text(model, 9, 15), 3, [-1, 0, 1, 2, 3, 4, 5]),
    ]


def same_bits(found, expected):
    return all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


@needs_rows_apart
@pytest.mark.parametrize("which", [0, 1], ids=["target", "draft"])
def test_rows_read_together_are_the_bits_of_rows_read_alone(pair, which):
    reads = ragged(pair[which].model)
    expected = alone(reads)
    lengths = [read.model.length + len(read.tokens) for read in reads]
    assert same_bits(read_all(reads), expected)
    assert [read.model.length for read in reads] == lengths


@pytest.mark.parametrize("which", [0, 1], ids=["target", "draft"])
def test_steady_rows_read_together_are_the_bits_of_rows_read_alone_on_any_machine(pair, which):
    reads = ragged(pair[which].model.steady())
    expected = alone(reads)
    assert same_bits(read_all(reads), expected)


def test_every_product_of_a_steady_pass_has_one_number_of_rows(pair, monkeypatch):
    model = pair[0].model.steady()
    reads, rows = ragged(model), set()
    matrix = type(model.family.weights.layers[0].qkv)
    monkeypatch.setattr(matrix, "__call__", _noting(matrix.__call__, rows))
    read_all(reads)
    assert rows == {model.family.fewest}


def _noting(call, rows):
    def noted(self, x):
        rows.add(x.shape[-2])
        return call(self, x)

    return noted


@needs_rows_apart
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_the_order_of_the_texts_does_not_matter(pair, order):
    reads = ragged(pair[1].model)[:3]
    expected = alone(reads)
    assert same_bits(read_all([reads[i] for i in order]), [expected[i] for i in order])


@needs_rows_apart
def test_texts_that_forget_differently_stay_apart(pair):
    """A86, A88: in every round each text keeps another number of its drafts."""
    model = pair[1].model
    texts = [a_text(model, 12 + seed, seed) for seed in range(4)]
    models = holding(model, [text[:-1] for text in texts])
    rng = np.random.default_rng(9)
    for _ in range(6):
        drafts = [a_text(model, length, int(rng.integers(99))) for length in rng.integers(0, 6, 4)]
        reads = [
            Read(one, [*text[one.length :], *draft]) for one, text, draft in zip(models, texts, drafts, strict=True)
        ]
        found = read_all(reads)
        for one, text, draft, rows in zip(models, texts, drafts, found, strict=True):
            assert np.array_equal(rows, model.fresh().extend([*text, *draft])[-len(rows) :])
            kept = int(rng.integers(len(draft) + 1))
            one.rewind(len(text) + kept)
            text += [*draft[:kept], int(rng.integers(model.vocab_size))]


def test_a_small_random_model_reads_together_too(llama):
    model = load(llama()[0])
    texts = [a_text(model, length, length) for length in (3, 20, 1)]
    reads = [Read(one, [7, 8, 9]) for one in holding(model, texts)]
    for rows, text in zip(read_all(reads), texts, strict=True):
        expected = model.fresh().extend([*text, 7, 8, 9])[-3:]
        assert np.abs(rows - expected).max() <= 1e-3 * np.ptp(expected)  # float32, summed in another order


def test_models_of_other_families_are_read_beside_them(pair):
    table = TableModel(lambda text: [len(text), 0.0], 2, row_kind="logits")
    reads = [
        Read(pair[1].model.fresh(), [5]),
        Read(table, [1, 0]),
        Read(pair[0].model.fresh(), [6, 7], 1),
        Read(pair[1].model.fresh(), [8]),
        Read(pair[1].model.steady(), [8]),
    ]
    expected = alone(reads)
    found = read_all(reads)
    assert found[1].tolist() == [[1, 0], [2, 0]]
    assert [rows.shape for rows in found] == [rows.shape for rows in expected]
    assert [rows.argmax(-1).tolist() for rows in found] == [rows.argmax(-1).tolist() for rows in expected]
    assert read_all([]) == []


def test_a_read_that_is_refused_leaves_all_unread(pair):
    fine, refused = pair[1].model.fresh(), pair[1].model.fresh()
    with pytest.raises(UsageError, match="token ids must be"):
        read_all([Read(fine, [1, 2]), Read(refused, [-1])])
    assert fine.length == refused.length == 0


def test_models_of_two_families_are_not_read_together_by_force(pair):
    with pytest.raises(UsageError, match="different families"):
        pair[0].model.read_together([Read(pair[1].model.fresh(), [1])])


def test_families_are_of_weights_and_steadiness(pair):
    model = pair[1].model
    assert isinstance(model, BatchModel)
    assert not isinstance(TableModel(lambda _: [1.0], 1), BatchModel)
    assert model.family is model.fresh().family is model.fork().family
    assert model.steady().family is model.steady().family is not model.family
    assert model.steady().steady().family is model.steady().family
    target = pair[0].model
    assert target.early_exit(2).family is target.early_exit(2).family is not target.family
    assert target.steady().early_exit(2).steady().family is target.early_exit(2).steady().family


def test_a_pass_has_no_more_rows_than_allowed(pair):
    model, rows = pair[0].model, []

    def run(parts):
        rows.append(sum(len(part.ids) for part in parts))
        assert len({id(part.cache) for part in parts}) == len(parts)
        return model.family(parts)

    texts = [read.model._parts(read.tokens, read.rows, read.parents) for read in ragged(model)]
    found = run_all(run, texts, model.family.most)
    assert [sum(map(len, pieces)) for pieces in found] == [1, 1, 4, 6, 50, 3]
    assert max(rows) <= model.family.most
    assert sum(rows) == 1 + 150 + 4 + 7 + 90 + 9
    assert len(rows) == 8  # no fewer would do: the long ones are cut, the short ones fit in beside them


def test_a_row_of_many_texts_that_leaks_would_be_seen(pair):
    """The negative control: texts whose caches are exchanged get other rows."""
    one, other = holding(pair[1].model, [[1, 2, 3], [4, 5, 6]])
    expected = alone([Read(one, [7]), Read(other, [7])])
    one._cache, other._cache = other._cache, one._cache
    assert not same_bits(read_all([Read(one, [7]), Read(other, [7])]), expected)


def test_the_first_layers_are_a_model(llama):
    folder, expected = llama(num_hidden_layers=3)
    model = load(folder)
    assert isinstance(model, LayeredModel)
    assert model.layers == 3
    early = model.early_exit(2)
    torch = pytest.importorskip("torch")
    expected.model.layers = expected.model.layers[:2]
    ids = a_text(model, 30, 0)
    with torch.inference_mode():
        rows = expected(torch.tensor([ids]), use_cache=False).logits[0].numpy()
    assert np.abs(early.extend(ids) - rows).max() <= 1e-3 * np.ptp(rows)
    assert (early.length, early.layers, model.length) == (30, 2, 0)
    assert early.size.weights < model.size.weights
    assert early.size.per_token * 3 == model.size.per_token * 2
    assert early.fresh().layers == early.steady().layers == 2


@pytest.mark.parametrize("layers", [0, 6, -1])
def test_fewer_layers_than_one_or_no_fewer_are_refused(pair, layers):
    with pytest.raises(UsageError, match=rf"got {layers}; allowed are 1 to 5"):
        pair[0].model.early_exit(layers)


def test_a_fork_goes_its_own_way(pair):
    model = pair[1].model.fresh()
    model.extend([1, 2, 3, 4])
    fork = model.fork()
    model.rewind(1)
    model.extend([9, 9, 9, 9, 9])
    expected = pair[1].model.fresh()
    expected.extend([1, 2, 3, 4])
    assert fork.length == 4
    assert np.array_equal(fork.extend([5, 6]), expected.extend([5, 6]))
