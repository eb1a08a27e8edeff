"""Models that cannot go back, made to: what is read again, how much is remembered, what is never believed."""

from dataclasses import dataclass, field
from math import log2

import numpy as np
import pytest

from draftproof.errors import ContractError, UsageError
from draftproof.models.base import StatefulModel
from draftproof.models.probes import RecurrentProbe, WindowProbe, spread
from draftproof.models.snapshots import Snapshots


@dataclass
class Counted(RecurrentProbe):
    """A recurrent probe that notes how many tokens each pass reads."""

    passes: list = field(default_factory=list)

    def extend(self, tokens, rows=None):
        self.passes.append(len(tokens))
        return super().extend(tokens, rows)


def test_probes_are_stateful():
    assert isinstance(RecurrentProbe(), StatefulModel)
    assert isinstance(WindowProbe(), StatefulModel)


def test_what_is_read_again_is_read_with_what_comes_next():
    inner = Counted()
    model = Snapshots(inner)
    model.extend([1, 2, 3])
    model.extend([4, 5, 6, 7])
    model.keep(4, [0])
    assert model.length == 5
    model.extend([8, 9])
    assert inner.passes == [3, 4, 4]  # 4 and 5 again, with 8 and 9


def test_kept_drafts_are_not_read_again():
    inner = Counted()
    model = Snapshots(inner)
    for _ in range(20):
        model.extend([1, 2, 3])
        model.keep(model.length - 2, [0, 1])
    assert inner.passes == [3] * 20


def test_a_text_of_rejections_is_not_read_again_and_again():
    inner = Counted()
    model = Snapshots(inner)
    for _ in range(400):
        model.extend([1, 2, 3])
        model.rewind(model.length - 2)
    assert sum(inner.passes) <= 400 * (3 + 8)
    assert len(inner.passes) <= 400 * (1 + 1 / 8)


def test_a_tree_takes_a_pass_for_each_branch():
    inner = Counted()
    model = Snapshots(inner)
    model.extend([1, 2, 3, 4, 5], 4, [-1, -1, 0, 0])
    assert inner.passes == [1, 1, 2, 2]  # the token before it, and its leaves in order


def test_a_text_of_a_hundred_thousand_tokens_needs_few_snapshots():
    """A target's way to read, drafts of which some stay; then a drafter's, token by token; and then far back."""
    inner, most = Counted(), 0
    model = Snapshots(inner)
    rng = np.random.default_rng(0)
    while model.length < 100_000:
        drafted = rng.integers(0, 11, 8).tolist()
        for tokens in [drafted] if model.length < 90_000 else [[token] for token in drafted]:
            model.extend(tokens, 1)
        model.rewind(model.length - int(rng.integers(0, 8)))
        most = max(most, len(model._taken))
    assert most <= 4 * log2(100_000)
    read = sum(inner.passes)
    for back in (10, 100, 1000, 10_000):
        model.rewind(model.length - back)
        model.extend([1], 1)
        assert sum(inner.passes) - read <= 2 * back + 10
        read = sum(inner.passes)
    whole = RecurrentProbe()
    whole.extend(model._text, 1)
    assert np.array_equal(model.extend([2]), whole.extend([2]))


def test_a_snapshot_stays_as_it_is():
    for make in (RecurrentProbe, WindowProbe):
        model = make(spread)
        model.extend([1, 2, 3, 4, 5])
        taken = model.snapshot()
        expected = model.extend([6, 7])
        for _ in range(2):
            model.restore(taken)
            assert np.array_equal(model.extend([6, 7]), expected)


@dataclass
class Pretending(WindowProbe):
    """A ring with a fault."""

    fault: str = ""

    def extend(self, tokens, rows=None):
        found = super().extend(tokens, rows)
        if self.fault == "counts one":
            self.length -= len(tokens) - 1
        return found

    def try_rewind(self, length):
        return self.fault == "does not go back" or super().try_rewind(length)

    def restore(self, snapshot):
        if self.fault != "does not restore":
            super().restore(snapshot)


@pytest.mark.parametrize("fault", ["does not go back", "does not restore", "counts one"])
def test_a_model_that_does_nothing_and_does_not_say_so_is_caught(fault):
    """A62, A60, A65."""
    model = Snapshots(Pretending(spread, fault=fault))
    with pytest.raises(ContractError, match=r"a model holds \d+ tokens where it should hold \d+"):
        _there_and_back(model)


def test_the_model_that_pretends_nothing_is_not_caught():
    _there_and_back(Snapshots(Pretending(spread)))


def _there_and_back(model):
    for _ in range(2):
        model.extend([1, 2, 3, 4, 5, 6])
        model.rewind(2)


def test_a_model_that_has_read_something_is_not_taken():
    used = RecurrentProbe()
    used.extend([1])
    with pytest.raises(ContractError, match="holds 1 tokens where it should hold 0"):
        Snapshots(used)


@pytest.mark.parametrize(
    ("tokens", "match"),
    [([], "no tokens"), ([11], "token ids must be 0 to 10"), ([-1], "token ids"), ([1] * 9, "do not fit a context")],
    ids=["none", "too high", "negative", "too many"],
)
def test_what_is_no_text_is_refused_and_nothing_is_read(tokens, match):
    model = Snapshots(RecurrentProbe(context_limit=8))
    with pytest.raises(UsageError, match=match):
        model.extend(tokens)
    assert model.length == 0


def test_a_tree_may_reach_to_the_end_of_the_context():
    model = Snapshots(RecurrentProbe(context_limit=3))
    model.extend([1, 2, 3, 4, 5], None, [-1, -1, 0, 0])
    model.rewind(0)
    with pytest.raises(UsageError, match="4 tokens do not fit a context of 3"):
        model.extend([1, 2, 3, 4], None, [-1, 0, 1])
    with pytest.raises(ContractError, match="node 0 has parent 0"):
        model.extend([1, 2], None, [0])
