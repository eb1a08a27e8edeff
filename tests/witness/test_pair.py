"""A pair whose rows round by how many are read is left alone; every fault in it is seen all the same."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from draftproof.drafters.ngram import NgramDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.base import Model
from draftproof.models.catalogue import load
from draftproof.redteam.campaign import tamper_named
from draftproof.redteam.tampers import cache, recurrent
from draftproof.rules.catalogue import RULES
from draftproof.warpers.pipeline import sampling
from draftproof.warpers.temperature import Temperature
from draftproof.witness.adversaries import Misled
from draftproof.witness.base import Subject
from draftproof.witness.pair import ReadAnew, SelfDraft, steady_run, witnesses_of_pair
from draftproof.witness.rescoring import Run

MODEL, TOKENIZER = load("tiny:draft", "target")
PIPELINE = sampling(0.8, top_p=0.95)
PROMPTS = ("And the king said", "In the beginning")
BFLOAT16 = 2**-8
TEXT_LENGTH = 12
"""With the drafts a run compares some 60 rows; the bounds of `rounding.py` allow one false alarm in 1e7 of them."""


def in_bfloat16(rows):
    """Round float32 to the nearest bfloat16."""
    bits = np.asarray(rows, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


@dataclass
class Rounded:
    """A model in bfloat16 whose scores move by `noise`, otherwise for each number of tokens that are read at once."""

    inner: Model
    noise: float = 0.05
    is_steady: bool = False
    row_kind = "logits"
    vocab_size = property(lambda self: self.inner.vocab_size)
    context_limit = property(lambda self: self.inner.context_limit)
    length = property(lambda self: self.inner.length)
    size = property(lambda self: self.inner.size)

    def extend(self, tokens, rows=None, parents=None):
        first, width = self.length, 0 if self.is_steady else len(tokens)
        found = self.inner.extend(tokens, rows, parents)
        places = range(first + len(tokens) - len(found), first + len(tokens))
        noise = [np.random.default_rng((place, width)).normal(0, self.noise, self.vocab_size) for place in places]
        return in_bfloat16(found + np.array(noise))

    def rewind(self, length):
        self.inner.rewind(length)

    def keep(self, length, path):
        self.inner.keep(length, path)

    def fresh(self):
        return replace(self, inner=self.inner.fresh())

    def fork(self):
        return replace(self, inner=self.inner.fork())

    def steady(self):
        return replace(self, inner=self.inner.steady(), is_steady=True)


def run_of(prompt=PROMPTS[0], noise=0.05, seeds=(0,), drafter=None, tokens=TEXT_LENGTH, rule="token"):
    target = Rounded(MODEL, noise)
    engine = Engine(target, drafter or Misled(target, PIPELINE), RULES[rule], PIPELINE, FixedLength(3))
    return Run("rounded", engine, tuple(TOKENIZER.encode(prompt)), Stop(tokens), seeds)


def verdicts(witness, assemble=lambda engine: engine, rule="token"):
    return {found.witness: found for found in witness.examine(Subject("subject", RULES[rule], assemble=assemble))}


@pytest.mark.parametrize("rule", ["token", "block", "match", "coupled"])
def test_an_honest_pair_that_rounds_is_lossless_to_every_witness(rule):
    runs = [
        run_of(prompt, drafter=drafter, rule=rule, seeds=(0, 1))
        for prompt, drafter in zip(PROMPTS, (NgramDrafter(MODEL.vocab_size, 1, 4), None), strict=True)
    ]
    found = [one for witness in witnesses_of_pair(runs) for one in witness.examine(Subject(rule, RULES[rule]))]
    assert {one.verdict for one in found} == {"LOSSLESS"}, [one for one in found if one.verdict != "LOSSLESS"]
    assert {one.witness for one in found} == {"replay", "report", "identity", "greedy", "oracles"}


@pytest.mark.parametrize("rule", ["tree", "traversal"])
def test_the_rows_of_an_honest_tree_are_those_of_fresh_readings(rule):
    run = run_of(rule=rule)
    found = list(ReadAnew([run]).examine(Subject(rule, RULES[rule], (2,))))
    assert {one.verdict for one in found} == {"LOSSLESS"}


CACHES = [tamper.name for family in (cache, recurrent) for tamper in family.TAMPERS if "replay" in tamper.caught_by]


@pytest.mark.parametrize("name", CACHES)
def test_a_cache_that_goes_wrong_is_seen_through_the_rounding(name):
    anew, *_ = witnesses_of_pair([run_of(drafter=NgramDrafter(MODEL.vocab_size, 1, 4))])
    found = list(anew.examine(Subject(name, RULES["token"], assemble=tamper_named(name).apply)))
    rounded = [one for one in found if one.witness == "replay"]
    assert "LOSSY" in {one.verdict for one in rounded}, rounded


@dataclass(frozen=True)
class Elsewhere(Engine):
    """Makes laws of other rows than the model's own, or by other settings."""

    change: object = None

    def score(self, rows, tokens, proposal):
        return super().score(self.change(rows), tokens, proposal)


def elsewhere(change):
    return lambda engine: Elsewhere(**vars(engine), change=change)


@pytest.mark.parametrize(
    "assemble",
    [
        elsewhere(lambda rows: np.concatenate([rows[:1], rows[:-1]])),
        elsewhere(lambda rows: np.concatenate([rows[:-1] / 0.8, rows[-1:]])),
        lambda engine: replace(engine, pipeline=replace(engine.pipeline, steps=(Temperature(0.81),))),
    ],
    ids=["rows shifted by one", "temperature twice in all rows but the last", "another temperature"],
)
def test_laws_that_are_not_those_of_the_rows_are_seen_without_any_slack(assemble):
    assert "the laws are not those" in verdicts(ReadAnew([run_of()]), assemble)["replay"].reason


@dataclass(frozen=True)
class Shifted(Engine):
    """Has the rows of the model shifted before anything is made of them."""

    def read(self, target, tokens, proposal):
        rows = super().read(target, tokens, proposal)
        return np.concatenate([rows[:1], rows[:-1]])


def test_rows_of_another_position_are_seen_through_the_rounding():
    found = verdicts(ReadAnew([run_of()]), lambda engine: Shifted(**vars(engine)))
    assert found["replay"].verdict == "LOSSY"
    assert "from a fresh reading" in found["replay"].reason


def test_where_rounding_is_so_large_that_a_fault_could_hide_nothing_is_decided():
    found = verdicts(ReadAnew([run_of(noise=3.0)]))["replay"]
    assert found.verdict == "UNDECIDED"
    assert "could hide" in found.reason


def test_a_text_of_one_token_decides_nothing():
    assert verdicts(ReadAnew([run_of(tokens=1)]))["replay"].verdict == "UNDECIDED"
    assert verdicts(ReadAnew([run_of(tokens=0)]))["replay"].verdict == "UNDECIDED"


def test_read_by_a_steady_model_the_same_pair_shows_a_fault_of_any_size():
    steady = steady_run(run_of())
    found = verdicts(ReadAnew([steady], steady=True))["replay"]
    assert found.verdict == "LOSSLESS"
    assert "by up to 0" in found.reason

    @dataclass(frozen=True)
    class Off(Engine):
        def read(self, target, tokens, proposal):
            rows = super().read(target, tokens, proposal)
            return rows + np.linspace(0, 1e-3, rows.shape[-1])

    assert verdicts(ReadAnew([steady], steady=True), lambda engine: Off(**vars(engine)))["replay"].verdict == "LOSSY"


@pytest.mark.parametrize(
    "told",
    [
        lambda done: {"logprobs": tuple(0.0 for _ in done.logprobs)},
        lambda done: {"logprobs": done.logprobs[:-1]},
        lambda done: {"logprobs": (*done.logprobs[:-1], done.logprobs[-1] - 1e-6)},
        lambda done: {"path": (0,), "emitted": (*done.emitted, *done.emitted), "logprobs": done.logprobs * 2},
    ],
    ids=["zeros", "one too few", "a little off", "a token of another row"],
)
def test_reports_are_those_of_the_laws_without_any_slack(told):
    def assemble(engine):
        class Reports:
            def decode(self, prompt, stop, noise):
                for done in engine.decode(prompt, stop, noise):
                    yield replace(done, **told(done))

        return Reports()

    assert verdicts(ReadAnew([run_of()]), assemble)["report"].verdict == "LOSSY"


def test_a_greedy_text_is_changed_by_no_draft_and_a_cache_that_goes_wrong_changes_it():
    *_, greedy, worst, own = witnesses_of_pair([run_of()])
    assert (greedy.name, worst.name, own.name) == ("greedy", "oracles", "oracles")
    broken = tamper_named("all-drafts-stay").apply
    assert {found.verdict for found in worst.examine(Subject("broken", RULES["token"], assemble=broken))} == {"LOSSY"}


@dataclass(frozen=True)
class Behind:
    """A drafter that has not read the last token."""

    inner: object

    def law(self, context):
        return self.inner.law(context[:-1])

    def rewind(self, length):
        self.inner.rewind(max(0, length - 1))

    def fresh(self):
        return Behind(self.inner.fresh())


def test_the_target_keeps_all_of_its_own_drafts_but_those_that_are_level():
    own = SelfDraft([run_of()])
    assert verdicts(own)["oracles"].verdict == "LOSSLESS"
    behind = verdicts(own, lambda engine: replace(engine, drafter=Behind(engine.drafter)))["oracles"]
    assert behind.verdict == "WASTEFUL"
    assert "below its best" in behind.reason


def test_a_model_that_cannot_be_steady_is_examined_as_it_runs():
    from draftproof.errors import UsageError

    class Unsteady(Rounded):
        def steady(self):
            raise UsageError("experts mix the rows of a call", "rule")

    run = run_of()
    assert steady_run(replace(run, engine=replace(run.engine, target=Unsteady(MODEL)))) is None
