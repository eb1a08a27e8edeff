"""How texts are read by a module of transformers: faults are found out, idle rows and broken passes leave nothing."""

from itertools import pairwise

import numpy as np
import pytest

from draftproof.errors import UsageError
from draftproof.models.base import LayeredModel, Read
from draftproof.models.batch import read_all
from models.hf.modules import make, rows_at_once, torch
from models.test_contract import (
    PROMISES,
    a_kept_path_is_the_text,
    a_rewound_text_goes_on_as_another,
    a_tree_is_its_branches,
    any_drafts_may_be_forgotten_pass_after_pass,
    by_name,
    one_by_one_is_at_once,
    same,
    texts_read_together_are_texts_read_alone,
)
from models_of_tests import a_text

GPT2 = "gpt2, positions that are learnt"
MISTRAL = "mistral, a window"


def model_of(module, *arguments, **settings):
    from draftproof.models.hf.model import model_of as made

    return made(module, *arguments, **settings)


@pytest.fixture
def forwards(monkeypatch):
    """Return a list that fills with how many rows each forward of a module has."""
    rows, call = [], torch.nn.Module.__call__

    def counting(module, *arguments, **settings):
        if "texts" in settings and "logits_to_keep" in settings:
            rows.append(settings["input_ids"].shape[1])
        return call(module, *arguments, **settings)

    monkeypatch.setattr(torch.nn.Module, "__call__", counting)
    return rows


FAULTS = {
    "crops one too many": [
        a_rewound_text_goes_on_as_another,
        any_drafts_may_be_forgotten_pass_after_pass,
    ],
    "crops one too few": [a_rewound_text_goes_on_as_another, any_drafts_may_be_forgotten_pass_after_pass],
    "every pass begins at position 0": [one_by_one_is_at_once, texts_read_together_are_texts_read_alone],
    "a tree without its mask": [a_tree_is_its_branches, a_kept_path_is_the_text],
    "a tree at the positions of a chain": [a_tree_is_its_branches],
    "a path that is not moved together": [a_kept_path_is_the_text],
}


def faulty_parts(fault, parts):
    for part in parts:
        count, base = len(part.ids), part.cache.length
        changes = {
            "every pass begins at position 0": {"positions": range(count)},
            "a tree without its mask": {"hidden": None},
            "a tree at the positions of a chain": {"positions": range(base, base + count)},
        }
        yield part._replace(**changes.get(fault, {}))


def wrong(fault):
    """Return a Llama that has read nothing, with a fault."""
    from draftproof.models.hf.texts import HfModel

    class Wrong(HfModel):
        too_many = 0
        """Tokens that the cache has kept and the model says it has not."""

        @property
        def length(self):
            return self._cache.length - self.too_many

        def keep(self, length, path):
            if fault == "a path that is not moved together":
                path = range(len(path))
            back = not path and 0 < length < self.length
            super().keep(length, path)
            if fault == "crops one too many" and back:
                for buffer in (buffer for layer in self._cache._layers.values() for buffer in layer):
                    buffer[:, :, length - 1] = 0
            if fault == "crops one too few" and back:
                self._cache.length, self.too_many = length + 1, 1

        def _parts(self, *arguments):
            return faulty_parts(fault, super()._parts(*arguments))

    right = model_of(make("llama"))
    return Wrong(right.family, right._facts)


@pytest.mark.parametrize(
    ("fault", "promise"),
    [(fault, promise) for fault, promises in FAULTS.items() for promise in promises],
    ids=by_name,
)
def test_a_fault_in_reading_is_found_out(fault, promise):
    with torch.inference_mode(), pytest.raises(AssertionError):
        promise(wrong(fault))


def test_the_model_without_a_fault_is_none_of_them():
    model = wrong("none")
    for promise in {promise for promises in FAULTS.values() for promise in promises}:
        promise(model.fresh())


@pytest.mark.parametrize("family", ["llama", GPT2, MISTRAL])
def test_texts_of_any_lengths_and_a_tree_are_read_in_one_forward(forwards, family):
    model = model_of(make(family))
    texts = [a_text(model, length, length) for length in (1, 17, 40)]
    models = [model.fresh() for _ in texts]
    for one, text in zip(models, texts, strict=True):
        one.extend(text, 1)
    forwards.clear()
    tree = [5, 6, 7, 8]
    found = read_all(
        [Read(models[0], [1, 2, 3], 2), Read(models[1], [9, *tree], 5, [-1, -1, 0, 1]), Read(models[2], [4])]
    )
    assert forwards == [3 + 5 + 1]
    assert [len(rows) for rows in found] == [2, 5, 1]
    assert same(found[0], model.fresh().extend([*texts[0], 1, 2, 3], 2))
    assert same(found[1][-1], model.fresh().extend([*texts[1], 9, 6, 8], 1)[0])
    assert same(found[2], model.fresh().extend([*texts[2], 4], 1))


def test_rows_are_the_same_numbers_whatever_is_read_afterwards():
    model = model_of(make("llama"))
    rows = model.extend([1, 2, 3])
    before = rows.copy()
    model.rewind(0)
    model.extend([3, 2, 1])
    assert np.array_equal(rows, before)


def test_long_prompts_are_read_in_pieces(forwards):
    from draftproof.models.hf import texts

    module = make("llama", max_position_embeddings=2000)
    model = model_of(module)
    text = a_text(model, texts.MOST_ROWS * 2 + 30, 0)
    forwards.clear()
    rows = model.extend(text, texts.MOST_ROWS + 40)
    assert forwards == [texts.MOST_ROWS, texts.MOST_ROWS, 30]
    assert same(rows, rows_at_once(module, text)[-texts.MOST_ROWS - 40 :])
    tree = [1, 2, 3]
    model.rewind(0)
    forwards.clear()
    rows = model.extend([*text[:1023], *tree], 5, [-1, -1, 1])
    assert forwards == [512, 510, 4]
    assert same(rows[-1], model.fresh().extend([*text[:1023], 2, 3], 1)[0])
    assert same(rows[:2], model.fresh().extend(text[:1023], 2))


@pytest.mark.parametrize("promise", PROMISES, ids=by_name)
def test_a_model_with_idle_rows_keeps_its_promises(promise):
    promise(model_of(make("llama"), pad_rows=True))


@pytest.mark.parametrize("family", ["llama", GPT2, MISTRAL])
def test_an_idle_row_is_read_with_a_single_one_only_and_never_seen(forwards, family):
    module = make(family)
    model = model_of(module, pad_rows=True)
    text = a_text(model, model.context_limit, 3)
    model.extend(text[:10], 1)
    forwards.clear()
    rows = [model.extend([token], 1) for token in text[10:20]]
    assert all(row.shape == (1, 96) for row in rows)
    assert forwards == [2] * 10
    model.extend(text[20:-1], 1)
    rows.append(model.extend(text[-1:], 1))  # there is no place for an idle row behind the last token
    assert forwards[10:] == [len(text) - 21, 2]
    assert same(np.concatenate(rows), rows_at_once(module, text)[[*range(10, 20), -1]])


def test_a_module_of_32_bit_numbers_is_not_timed(monkeypatch):
    from draftproof.models.hf.forward import Forward

    monkeypatch.setattr(Forward, "_two_are_faster", lambda self: pytest.fail("was timed"))
    model = model_of(make("llama"))
    model.extend([1])
    assert model.family.pad_rows is False


@pytest.mark.parametrize("faster", [False, True])
def test_a_module_of_16_bit_numbers_is_timed_once_and_has_idle_rows_if_they_pay(monkeypatch, forwards, faster):
    from draftproof.models.hf.forward import Forward

    asked = []
    monkeypatch.setattr(Forward, "_two_are_faster", lambda self: asked.append(self) or faster)
    model = model_of(make("llama").bfloat16())
    forwards.clear()
    for one in (model, model.fresh(), model.fork()):
        one.extend([1])
        one.extend([2])
    assert len(asked) == 1
    assert forwards == [1 + faster] * 6


def test_one_row_and_two_rows_can_be_timed():
    assert model_of(make("llama").bfloat16()).family._two_are_faster() in {True, False}


def break_off(monkeypatch, place, read):
    """Let the append to a layer's cache break off, counted over layers and passes, half done."""
    from draftproof.models.hf.cache import TextCache

    append, count = TextCache.append, iter(range(1_000_000))

    def breaking(self, layer, keys, values):
        found = append(self, layer, keys, values)
        if next(count) == place:
            found[0][:, :, self.length :] = 1e3
            raise KeyboardInterrupt
        return found

    with monkeypatch.context() as patch:
        patch.setattr(TextCache, "append", breaking)
        with pytest.raises(KeyboardInterrupt):
            read()


@pytest.mark.parametrize("place", [0, 1, 2, 3, 5])
def test_a_pass_that_is_broken_off_leaves_nothing(monkeypatch, place):
    module = make("llama")
    model = model_of(module)
    text = a_text(model, 20, 0)
    model.extend([*text, 1, 2, 3])
    model.rewind(20)
    monkeypatch.setattr("draftproof.models.hf.texts.MOST_ROWS", 30)
    attention = module.config._attn_implementation
    break_off(monkeypatch, place, lambda: list(map(model.extend, [[5] * 10, a_text(model, 20, 1), [1, 2]])))
    assert module.config._attn_implementation == attention
    assert 20 <= model.length < 60
    for length in (20, 11):
        model.rewind(length)
        assert same(model.extend([2, 3]), rows_at_once(module, [*text[:length], 2, 3])[-2:])
        model.rewind(length)


@pytest.mark.parametrize("place", [0, 1, 3, 4, 5])
def test_texts_read_together_stand_it(monkeypatch, place):
    module = make("llama")
    model = model_of(module)
    texts = [a_text(model, length, length) for length in (4, 15, 33)]
    models = [model.fresh() for _ in texts]
    for one, text in zip(models, texts, strict=True):
        one.extend(text)
    reads = [Read(models[0], [1] * 4), Read(models[1], [2] * 90), Read(models[2], [3, 4])]
    break_off(monkeypatch, place, lambda: read_all(reads))
    for one, text in zip(models, texts, strict=True):
        one.rewind(len(text))
        assert same(one.extend([2, 3]), rows_at_once(module, [*text, 2, 3])[-2:])


@pytest.mark.parametrize("family", ["llama", GPT2, "gemma2, windows and capped scores"])
def test_the_first_layers_are_those_of_a_module_that_has_no_more(family):
    module = make(family, **{"n_layer" if family == GPT2 else "num_hidden_layers": 3})
    model = model_of(module)
    assert isinstance(model, LayeredModel)
    assert model.layers == 3
    text = a_text(model, 30, 0)
    before = model.extend(text)
    exit_model = model.early_exit(2)
    shorter = make(family)
    shorter.load_state_dict(module.state_dict(), strict=False)
    assert same(exit_model.extend(text), rows_at_once(shorter, text))
    assert not same(exit_model.fresh().extend(text), before)  # the third layer does something
    assert same(model.fresh().extend(text), before)
    assert module.config.num_hidden_layers == 3
    assert exit_model.family is model.early_exit(2).family
    assert exit_model.size.weights < model.size.weights
    assert 2 * model.size.per_token == 3 * exit_model.size.per_token
    for layers in (0, 3):
        with pytest.raises(UsageError):
            model.early_exit(layers)


@pytest.mark.parametrize("promise", PROMISES, ids=by_name)
def test_the_first_layers_keep_the_promises(promise):
    promise(model_of(make(MISTRAL, num_hidden_layers=3)).early_exit(1))


def test_steady_rows_are_the_same_bits_however_they_are_cut():
    model = model_of(make("llama").bfloat16()).steady()
    text = a_text(model, 40, 0)
    expected = model.extend(text)
    for sizes in ((1,) * 40, (3, 17, 20), (39, 1)):
        other, cuts = model.fresh(), np.cumsum((0, *sizes))
        assert np.array_equal(np.concatenate([other.extend(text[a:b]) for a, b in pairwise(cuts)]), expected)
