"""Rows of a `Steady` model are the same bits however a text is cut, forgotten and branched; those of others are not."""

from dataclasses import dataclass

import numpy as np
import pytest

from conftest import needs
from draftproof.errors import UsageError
from draftproof.models.base import Read
from draftproof.models.batch import read_all
from draftproof.models.steady import Steady
from draftproof.models.table import TableModel
from models_of_tests import a_text

LIMIT = 90
"""No whole number of blocks: the last one is shorter."""


@dataclass
class Rounding(TableModel):
    """A float32 model that rounds as kernels do: by the number of rows of a call, a row's place, what was read before.

    A token's cache entry is rounded when it is read, and every later row depends on it. `calls` has the shapes.
    """

    def __post_init__(self):
        self.entries, self.calls = [], []

    def extend(self, tokens, rows=None, parents=None):
        before, asked = len(self.context), rows or len(tokens)
        super().extend(tokens, 1, parents)
        self.calls.append((before, len(tokens)))
        for place, token in enumerate(tokens):
            noise = np.sin(1000.0 * len(tokens) + 100 * place + before) * 1e-4
            self.entries.append(np.float32(token + noise))
        found = [self._row(before + place, asked) for place in range(len(tokens) - asked, len(tokens))]
        return np.stack(found)

    def keep(self, length, path):
        super().keep(length, path)
        self.entries[length:] = [self.entries[length + offset] for offset in path]

    def fresh(self):
        return type(self)(self.law_of, self.vocab_size, self.context_limit, row_kind=self.row_kind)

    def fork(self):
        fork = self.fresh()
        fork.context, fork.entries = [*self.context], [*self.entries]
        return fork

    def _row(self, place, asked):
        seen = np.array(self.entries[: place + 1], dtype=np.float32)
        weights = np.sin(np.outer(np.arange(self.vocab_size) + 1, np.arange(place + 1) + 1)).astype(np.float32)
        # No product of matrices: BLAS may look at numbers beside an odd row, and complain of what it finds there.
        return (weights * seen).sum(axis=1) + np.float32(np.sin(asked + place) * 1e-4)


def rounding():
    return Rounding(lambda text: [0] * 7, 7, LIMIT, row_kind="logits")


def read_in_pieces(model, text, sizes):
    model, rows, start = model.fresh(), [], 0
    for size in sizes:
        rows.append(np.asarray(model.extend(text[start : start + size])))
        start += size
    return np.concatenate(rows)


def cuts(length):
    rng = np.random.default_rng(0)
    some = [*rng.integers(1, 9, length)]
    while sum(some) > length:
        some.pop()
    return [[1] * length, [length], [length - 1, 1], [17, length - 17], [*some, *[1] * (length - sum(some))]]


@pytest.mark.parametrize("length", [30, 64, LIMIT])
@pytest.mark.parametrize("rows", [1, 5, 16, 200])
def test_rows_are_the_same_bits_however_a_text_is_cut(length, rows):
    model = Steady(rounding(), rows)
    text = a_text(model, length, length)
    expected = read_in_pieces(model, text, [length])
    for sizes in cuts(length):
        assert np.array_equal(read_in_pieces(model, text, sizes), expected)


def test_without_it_they_are_not():
    model = rounding()
    text = a_text(model, 30, 0)
    expected = read_in_pieces(model, text, [30])
    assert not any(np.array_equal(read_in_pieces(model, text, sizes), expected) for sizes in cuts(30) if len(sizes) > 1)


def test_rows_are_the_same_bits_after_drafts_that_were_forgotten_and_in_a_tree():
    model = Steady(rounding(), 8)
    text = a_text(model, 60, 1)
    expected = read_in_pieces(model, text, [60])
    rng = np.random.default_rng(2)
    done = 1
    model.extend(text[:1])
    while done < 50:
        right, wrong = rng.integers(0, 5, 2)
        tree = [*text[done + 1 : done + 1 + right], *a_text(model, wrong, done)]
        parents = [*range(-1, right - 1), *[-1] * wrong]
        rows = model.extend([text[done], *tree], len(tree) + 1, parents)
        assert np.array_equal(rows[: right + 1], expected[done : done + right + 1])
        kept = int(rng.integers(0, right + 1))
        model.keep(done + 1, range(kept))
        done += 1 + kept
        assert model.length == done


def test_a_fork_has_the_same_bits():
    model = Steady(rounding())
    text = a_text(model, 40, 3)
    expected = read_in_pieces(model, text, [40])
    model.extend([*text[:21], 1, 2])
    model.rewind(21)
    fork = model.fork()
    model.extend([1, 2, 3])
    assert np.array_equal(fork.extend(text[21:]), expected[21:])


def test_texts_read_together_have_the_bits_of_each_alone():
    model = Steady(rounding())
    texts = [a_text(model, length, length) for length in (3, 33, 16)]
    together = read_all([Read(model.fresh(), text, 3) for text in texts])
    for rows, text in zip(together, texts, strict=True):
        assert np.array_equal(rows, read_in_pieces(model, text, [len(text)])[-3:])


def test_a_block_that_is_complete_is_never_read_again_and_every_call_begins_a_block():
    inner = rounding()
    model = Steady(inner, 8)
    text = a_text(model, LIMIT, 4)
    for token in text:
        model.extend([token])
    assert set(inner.calls) == {(start, min(8, LIMIT - start)) for start in range(0, LIMIT, 8)}
    assert sorted(inner.calls) == inner.calls  # no block after a later one
    assert inner.length == LIMIT // 8 * 8


def test_the_whole_context_can_be_used_and_no_more():
    model = Steady(rounding())
    limit = model.context_limit
    assert limit == LIMIT
    model.extend(a_text(model, limit - 1, 5))
    model.extend([1])
    with pytest.raises(UsageError, match="do not fit"):
        model.extend([1])
    assert model.length == limit


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("rows", [2, 16])
def test_a_llama_of_transformers_has_the_same_bits_however_a_text_is_cut(dtype, rows):
    torch, transformers = needs("torch"), needs("transformers")
    model_of = needs("draftproof.models.hf.model").model_of
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=257, hidden_size=96, intermediate_size=160, num_hidden_layers=3, num_attention_heads=6,
        num_key_value_heads=2, max_position_embeddings=LIMIT, initializer_range=0.2,
    )  # fmt: skip
    llama = transformers.LlamaForCausalLM(config).to(getattr(torch, dtype)).eval()
    model = Steady(model_of(llama), rows)
    text = a_text(model, LIMIT, 6)
    expected = read_in_pieces(model, text, [LIMIT])
    for sizes in cuts(LIMIT):
        assert np.array_equal(read_in_pieces(model, text, sizes), expected)
