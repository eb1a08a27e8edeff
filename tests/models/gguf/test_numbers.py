"""The numbers of a GGUF model are those of transformers for the same weights; rows are the caller's own."""

import gc

import numpy as np
import pytest

from conftest import needs
from draftproof import load
from draftproof.errors import ContractError, UsageError
from draftproof.models.base import Read
from draftproof.models.gguf.context import BATCH, OUTPUTS, SEQUENCES, Context
from ggufs_of_tests import write_llama
from models.test_contract import PROMISES, one_by_one_is_at_once, texts_read_together_are_texts_read_alone
from models_of_tests import a_text

F32 = "threads=1&context=128&cache=f32"


def test_logits_are_those_of_transformers(llama, tmp_path):
    needs("gguf")
    torch = needs("torch")
    folder, theirs = llama(hidden_size=128, num_key_value_heads=2, vocab_size=266)
    model = load(f"gguf:{write_llama(tmp_path / 'm.gguf', folder)}?threads=1&cache=f32", "target").model
    ids = a_text(model, 60, 0)
    with torch.no_grad():
        expected = theirs(torch.tensor([ids])).logits[0].numpy()
    found = model.extend(ids)
    assert np.abs(found - expected).max() <= 1e-4 * np.ptp(expected)  # float32, summed in another order


def test_rows_stay_what_they_were(loaded):
    model = loaded().model.fresh()
    rows = model.extend([1, 2, 3])
    copy = rows.copy()
    model.extend([4, 5, 6])
    assert np.array_equal(rows, copy)


@pytest.mark.parametrize("steady", [False, True])
@pytest.mark.parametrize("kind", ["llama", "gemma2", "mamba"])
def test_a_steady_model_is_the_same_bits_in_any_company(loaded, kind, steady):
    model = loaded(kind, F32).model
    model = model.steady() if steady else model.fresh()
    text = a_text(model, 60, 3)
    whole, other = model.extend(text), model.fresh()
    other.extend(a_text(model, 33, 4), 1)
    other.rewind(0)
    cut = np.concatenate([other.extend(text[start : start + 7]) for start in range(0, 60, 7)])
    if steady:
        assert np.array_equal(whole, cut)
    else:
        assert np.allclose(whole, cut, rtol=0, atol=1e-3 * np.ptp(whole))  # the control: near, and often not the same


def test_what_exceeds_a_batch_is_read_in_pieces(loaded):
    model = loaded("llama", "threads=1").model.fresh()
    text = a_text(model, BATCH + 30, 5)
    whole = model.extend(text)
    assert len(whole) == len(text) > BATCH > OUTPUTS
    last = model.fresh().extend(text, 3)
    assert np.abs(last - whole[-3:]).max() <= 1e-3 * np.ptp(whole)


def test_a_text_that_outgrows_its_context_moves_and_goes_on(loaded):
    model = loaded().model
    texts = [model.fresh() for _ in range(5)]
    ids = a_text(model, 128, 6)
    for length in range(0, 128, 16):
        rows = texts[0].read_together([Read(text, ids[length : length + 16], 1) for text in texts])
        expected = model.fresh().extend(ids[: length + 16], 1)
        assert all(np.abs(row - expected).max() <= 1e-2 * np.ptp(expected) for row in rows)
    assert len({id(text._seat.place.context) for text in texts}) > 1


def test_texts_that_nobody_holds_give_their_place_back(loaded):
    model = loaded("qwen2").model.fresh()
    for seed in range(3 * SEQUENCES):
        model.fresh().extend(a_text(model, 100, seed), 1)
        gc.collect(0)
    assert len(model.family._contexts) <= 2


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["llama", "gemma2", "mamba"])
@pytest.mark.parametrize("parents", [None, [-1, -1, 0, 0, 1]], ids=["chain", "tree"])
def test_an_interrupted_pass_is_forgotten_by_a_rewind(loaded, monkeypatch, kind, when, parents):
    model = loaded(kind).model.fresh()
    text = a_text(model, 20, 7)
    model.extend([*text, 1, 2])
    model.rewind(20)
    read = Context.read

    def breaking(self, cells):
        if when == "after":
            read(self, cells)
        raise KeyboardInterrupt

    monkeypatch.setattr(Context, "read", breaking)
    with pytest.raises(KeyboardInterrupt):
        model.extend([5, 6, 7, 8, 9, 10], None, parents)
    monkeypatch.undo()
    for length in (20, 20, 7):
        model.rewind(length)
        found, expected = model.extend([2, 3]), model.fresh().extend([*text[:length], 2, 3], 2)
        assert np.abs(found - expected).max() <= 1e-3 * np.ptp(expected)
        model.rewind(length)


def test_a_tree_must_become_a_text_before_it_goes_on(loaded):
    model = loaded().model.fresh()
    model.extend([1, 2, 3], 3, [-1, -1])
    for refused in (lambda: model.extend([1]), model.fork, lambda: model.keep(1, [1, 0])):
        with pytest.raises(ContractError):
            refused()
    model.keep(1, [1])
    assert model.length == 2


def test_a_tree_with_too_many_branches_is_refused(loaded):
    model = loaded().model.fresh()
    with pytest.raises(UsageError, match="branches"):
        model.extend([1] * (SEQUENCES + 2), None, [-1] * (SEQUENCES + 1))
    assert model.length == 0


def all_of_them(model):
    for promise in PROMISES:
        promise(model.fresh())


def never_forgets(self, sequence, length=0):
    return True


def positions_from_zero(self, cells):
    return READ(self, [cell._replace(position=cell.position % 8) for cell in cells])


READ = Context.read
FAULTS = {"never forgets": ("forget", never_forgets), "wrong positions": ("read", positions_from_zero)}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_context_that_does_wrong_is_found_by_the_contract(loaded, monkeypatch, fault):
    model = loaded("llama", "threads=1&context=127").model
    monkeypatch.setattr(Context, *FAULTS[fault])
    with pytest.raises((AssertionError, ContractError)):
        all_of_them(model)


def test_rows_of_a_buffer_that_is_read_again_are_found_by_the_contract(loaded, monkeypatch):
    """Rows that were not copied show what was read last."""
    model, buffer = loaded("llama", "threads=1&context=126").model, np.zeros((4 * OUTPUTS, 266), np.float32)

    def stale(self, cells):
        rows = READ(self, cells)
        buffer[: len(rows)] = rows
        return buffer[: len(rows)]

    monkeypatch.setattr(Context, "read", stale)
    with pytest.raises(AssertionError):
        one_by_one_is_at_once(model.fresh())
    monkeypatch.undo()
    one_by_one_is_at_once(model.fresh())
    texts_read_together_are_texts_read_alone(model.fresh())
