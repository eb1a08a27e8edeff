"""What every model promises, asked of every model; and models that break it, of which each must be found out."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

from conftest import needs
from draftproof.errors import UsageError
from draftproof.models.base import Read
from draftproof.models.batch import read_all
from draftproof.models.llama_folder import load
from draftproof.models.probes import RecurrentProbe, WindowProbe, spread, sum_probe
from draftproof.models.snapshots import Snapshots
from draftproof.models.steady import Steady
from draftproof.models.table import TableModel
from models_of_tests import a_text

PROBES = {
    "table": lambda: TableModel(lambda text: [len(text), *(0, 0, 0, *text)[-3:]], 4, 200, row_kind="logits"),
    "sum probe": sum_probe,
    "sum probe, sampled": lambda: sum_probe(spread),
    "window probe": lambda: Snapshots(WindowProbe()),
    "window probe with room": lambda: Snapshots(WindowProbe(spread, room=9)),
    "recurrent probe": lambda: Snapshots(RecurrentProbe()),
    "recurrent probe, sampled": lambda: Snapshots(RecurrentProbe(spread)),
    "steady sum probe": lambda: Steady(sum_probe(spread)),
    "steady sum probe of blocks of five": lambda: Steady(sum_probe(spread), 5),
    "steady recurrent probe": lambda: Steady(Snapshots(RecurrentProbe(spread))),
}
LLAMAS = {
    "embedded target": lambda pair, _: pair[0].model,
    "embedded draft": lambda pair, _: pair[1].model,
    "steady draft": lambda pair, _: pair[1].model.steady(),
    "first layers": lambda pair, _: pair[0].model.early_exit(2),
    "small random model": lambda _, folder: load(folder),
}
TREE = ([3, 1, 3, 2, 0, 2, 1], [-1, -1, 0, 0, 1, 4, -1])
"""The paths are 3 3, 3 2, 1 0 2 and 1."""
PATHS = ([], [0], [1], [6], [0, 2], [0, 3], [1, 4], [1, 4, 5])


@pytest.fixture(params=[*PROBES, *LLAMAS])
def model(request, pair):
    if request.param in PROBES:
        return PROBES[request.param]()
    folder = None
    if request.param == "small random model":
        needs("transformers")
        folder = request.getfixturevalue("llama")()[0]
    return LLAMAS[request.param](pair, folder).fresh()


def same(found, expected):
    """Whether rows are equal; float32 rows may be summed in another order where BLAS rounds by the number of rows."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.dtype == np.float32:
        return found.shape == expected.shape and np.abs(found - expected).max() <= 1e-3 * np.ptp(expected)
    return np.array_equal(found, expected)


def read_afresh(model, tokens, rows=None):
    return model.fresh().extend(tokens, rows)


def one_by_one_is_at_once(model):
    text = a_text(model, 40, 0)
    expected = read_afresh(model, text)
    assert same(np.concatenate([model.extend([token]) for token in text]), expected)
    assert model.length == 40
    for sizes in ((40,), (1, 39), (16, 17, 7), (3,) * 13 + (1,)):
        other, cuts = model.fresh(), np.cumsum((0, *sizes))
        assert same(np.concatenate([other.extend(text[a:b]) for a, b in pairwise(cuts)]), expected)
    assert same(read_afresh(model, text, 5), expected[-5:])


def a_rewound_text_goes_on_as_another(model):
    text = a_text(model, 40, 1)
    for back in range(17):
        model.rewind(0)
        model.extend(text)
        model.rewind(40 - back)
        assert model.length == 40 - back
        other = a_text(model, 5, back)
        assert same(model.extend(other), read_afresh(model, [*text[: 40 - back], *other], 5))
        assert model.length == 45 - back


def any_drafts_may_be_forgotten_pass_after_pass(model):
    """A65, A72, A73, A81: 0 to 16 drafts in a pass, of which any number stays; the ring wraps on the way."""
    rng, text = np.random.default_rng(3), a_text(model, 3, 2)
    for drafts in [*range(17), 0, 3, 0, 16, 1]:
        drafted = a_text(model, drafts, drafts)
        rows = model.extend([*text[model.length :], *drafted], drafts + 1)
        assert same(rows, read_afresh(model, [*text, *drafted], drafts + 1))
        kept = int(rng.integers(drafts + 1))
        start = len(text)
        model.keep(start, range(kept))
        assert model.length == start + kept
        text += [*drafted[:kept], int(rng.integers(model.vocab_size))]
        if len(text) > 90 - 17:
            del text[20:]
            model.rewind(19)


def a_tree_is_its_branches(model):
    tokens, parents = TREE
    for length in (2, 5, 30):
        text = a_text(model, length, length)
        model.rewind(0)
        model.extend(text[:-1])
        rows = model.extend([text[-1], *tokens], len(tokens) + 1, parents)
        assert len(rows) == 8
        paths = [[]]
        for token, parent in zip(tokens, parents, strict=True):
            paths.append([*paths[parent + 1], token])
        for row, path in zip(rows, paths, strict=True):
            assert same(row, read_afresh(model, [*text, *path], 1)[0])


def a_kept_path_is_the_text(model):
    tokens, parents = TREE
    for path in PATHS:
        text = a_text(model, 18, 4)
        model.rewind(0)
        model.extend([*text, *tokens], 1, parents)
        model.keep(len(text), path)
        kept = [*text, *(tokens[node] for node in path)]
        assert model.length == len(kept)
        assert same(model.extend([1, 2, 3]), read_afresh(model, [*kept, 1, 2, 3], 3))
        model.rewind(len(kept))
        assert same(model.extend([0, 1]), read_afresh(model, [*kept, 0, 1], 2))


def a_fork_is_on_its_own(model):
    text = a_text(model, 20, 5)
    model.extend([*text, 1, 2])
    model.rewind(20)
    fork = model.fork()
    twin = fork.fork()
    model.rewind(7)
    model.extend([3, 2, 1])
    fork.extend([0, 0, 0])
    assert (model.length, fork.length, twin.length) == (10, 23, 20)
    assert same(model.extend([1]), read_afresh(model, [*text[:7], 3, 2, 1, 1], 1))
    assert same(fork.extend([1]), read_afresh(model, [*text, 0, 0, 0, 1], 1))
    assert same(twin.extend([2]), read_afresh(model, [*text, 2], 1))
    twin.rewind(6)
    assert same(twin.extend([2]), read_afresh(model, [*text[:6], 2], 1))


def lengths_around_powers_of_two_are_lengths(model):
    """A74: nothing happens at a boundary."""
    text = a_text(model, 72, 6)
    expected = read_afresh(model, text)
    for power in (1, 2, 4, 8, 16, 32, 64):
        for length in (power - 1, power, power + 1):
            model.rewind(0)
            if length:
                model.extend(text[:length], 1)
            assert model.length == length
            assert same(model.extend(text[length : length + 3]), expected[length : length + 3])
            model.rewind(length)
            assert same(model.extend(text[length : length + 1]), expected[length : length + 1])


def texts_read_together_are_texts_read_alone(model):
    """A86, A88, A89: ragged, in any order, and forgetting differently from call to call."""
    rng = np.random.default_rng(7)
    texts = [a_text(model, length, length) for length in (1, 9, 4, 30)]
    models = [model.fresh() for _ in texts]
    for _ in range(5):
        drafts = [a_text(model, int(count), int(count)) for count in rng.integers(0, 5, 4)]
        order = rng.permutation(4)
        found = read_all(
            [Read(models[i], [*texts[i][models[i].length :], *drafts[i]], len(drafts[i]) + 1) for i in order]
        )
        for i, rows in zip(order, found, strict=True):
            assert same(rows, read_afresh(model, [*texts[i], *drafts[i]], len(drafts[i]) + 1))
            kept = int(rng.integers(len(drafts[i]) + 1))
            models[i].keep(len(texts[i]), range(kept))
            assert models[i].length == len(texts[i]) + kept
            texts[i] += [*drafts[i][:kept], int(rng.integers(model.vocab_size))]


def what_cannot_be_is_refused(model):
    model.extend([1, 2, 3])
    for length in (-1, 4):
        with pytest.raises(UsageError):
            model.rewind(length)
    with pytest.raises(UsageError):
        model.keep(2, [0, 1])
    assert model.length == 3
    assert same(model.extend([1]), read_afresh(model, [1, 2, 3, 1], 1))


PROMISES = (
    one_by_one_is_at_once,
    a_rewound_text_goes_on_as_another,
    any_drafts_may_be_forgotten_pass_after_pass,
    a_tree_is_its_branches,
    a_kept_path_is_the_text,
    a_fork_is_on_its_own,
    lengths_around_powers_of_two_are_lengths,
    texts_read_together_are_texts_read_alone,
    what_cannot_be_is_refused,
)


def by_name(part):
    return part if isinstance(part, str) else part.__name__.replace("_", " ")


@pytest.mark.parametrize("promise", PROMISES, ids=by_name)
def test_every_model_keeps_its_promise(model, promise):
    promise(model)


@dataclass
class Wrong(TableModel):
    """The sum probe with a fault in one method."""

    fault: str = ""
    counted: int | None = None

    @property
    def length(self):
        return len(self.context) if self.counted is None else self.counted

    def extend(self, tokens, rows=None, parents=None):
        if self.fault == "reads single tokens twice" and len(tokens) == 1:
            self.context += tokens
        if self.fault == "reads a tree as a chain":
            parents = None
        if self.fault == "loses a token at a power of two" and len(self.context) == 16:
            self.context.pop()
        found = super().extend(tokens, rows, parents)
        if self.counted is not None:
            self.counted += len(tokens)
        return found

    def keep(self, length, path):
        wanted = length + len(path)
        if self.fault == "forgets nothing and says so":
            return
        if self.fault == "forgets nothing":
            self.counted = wanted
            return
        if self.fault == "forgets one too many" and wanted < len(self.context):
            super().keep(length, path)
            self.context[-1:] = []
            self.counted = wanted
            return
        if self.fault == "keeps the first of a tree":
            path = range(len(path))
        if self.fault == "refuses nothing":
            del self.context[length:]
            return
        super().keep(length, path)

    def fresh(self):
        return Wrong(self.law_of, self.vocab_size, self.context_limit, row_kind=self.row_kind, fault=self.fault)

    def fork(self):
        if self.fault == "forks share a cache":
            fork = self.fresh()
            fork.context = self.context
            return fork
        return super().fork()


FAULTS = {
    one_by_one_is_at_once: ["reads single tokens twice"],
    a_rewound_text_goes_on_as_another: ["forgets nothing", "forgets nothing and says so", "forgets one too many"],
    any_drafts_may_be_forgotten_pass_after_pass: ["forgets nothing", "forgets one too many"],
    a_tree_is_its_branches: ["reads a tree as a chain"],
    a_kept_path_is_the_text: ["keeps the first of a tree", "forgets nothing"],
    a_fork_is_on_its_own: ["forks share a cache"],
    lengths_around_powers_of_two_are_lengths: ["loses a token at a power of two"],
    texts_read_together_are_texts_read_alone: ["forgets nothing and says so", "forgets one too many"],
    what_cannot_be_is_refused: ["refuses nothing"],
}


@pytest.mark.parametrize(
    ("promise", "fault"), [(promise, fault) for promise in PROMISES for fault in FAULTS[promise]], ids=by_name
)
def test_a_model_that_breaks_a_promise_is_found_out(promise, fault):
    right = sum_probe(spread)
    wrong = Wrong(right.law_of, right.vocab_size, right.context_limit, fault=fault)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        promise(wrong)


def test_the_model_without_a_fault_is_none_of_them():
    right = sum_probe(spread)
    for promise in PROMISES:
        promise(Wrong(right.law_of, right.vocab_size, right.context_limit))
