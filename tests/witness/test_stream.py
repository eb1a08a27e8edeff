"""Our own engine before the statistical witness: honest ones stay, tampered ones are convicted from tokens alone.

False alarms: an honest engine would be convicted here with probability 1e-6 at most, each.
"""

from dataclasses import replace

import numpy as np
import pytest

from draftproof.drafters.ngram import NgramDrafter
from draftproof.engine.stop import Stop
from draftproof.models.catalogue import load
from draftproof.noise import PhiloxNoise
from draftproof.redteam.tampers.catalogue import TAMPERS
from draftproof.rules.catalogue import RULES, TREE_RULES
from draftproof.warpers.pipeline import sampling
from draftproof.witness.embedded import embedded_run
from draftproof.witness.eprocess import EProcess
from draftproof.witness.stream import stream
from draftproof.witness.verdict import Limits, Verdict, judge

TOKENS, TEXTS, MOST = 64, 12, 32
KINDS = ("token", "block", "coupled", "tree")
"""Rules that are looked at with every change; all others by `make test-slow`."""
FAULTS = ("residual-is-the-target", "residual-is-the-draft", "bonus-of-the-draft")


def engine(rule="token", **changes):
    run, pipeline = embedded_run(), sampling(1.0)
    honest = replace(run.engine, pipeline=pipeline, rule=RULES[rule], branching=(2,) if rule in TREE_RULES else ())
    changes = changes or {"drafter": replace(honest.drafter, pipeline=pipeline)}
    return replace(honest, **changes)


def examined(honest, assemble=lambda engine: engine, texts=TEXTS):
    """The state after some texts, one after another, and the verdict as soon as it is DRIFT."""
    state, prompt = EProcess(), embedded_run().prompt
    for seed in range(texts):
        passes = list(assemble(honest).decode(prompt, Stop(TOKENS), PhiloxNoise(seed)))
        state.add(stream(honest, prompt, passes))
        if judge(state).verdict is Verdict.DRIFT:
            break
    return state


@pytest.mark.parametrize("rule", [pytest.param(r, marks=[pytest.mark.slow] * (r not in KINDS)) for r in RULES])
def test_an_honest_engine_is_not_convicted(rule):
    state = examined(engine(rule))
    assert state.tokens == TOKENS * TEXTS
    assert judge(state, Limits(target=0.2, fewest=TOKENS * TEXTS)).verdict is Verdict.LOSSLESS


def test_nor_is_one_that_looks_its_drafts_up():
    state = examined(engine("block", drafter=NgramDrafter(load("tiny:target", "target").model.vocab_size, 1, 4)))
    assert judge(state).verdict is not Verdict.DRIFT


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_convicted_within_2000_tokens(fault):
    state = examined(engine(), TAMPERS[fault].apply, MOST)
    assert judge(state).verdict is Verdict.DRIFT
    assert state.tokens <= 2000


def test_what_came_before_a_token_is_told_right():
    honest = engine()
    passes = list(honest.decode(embedded_run().prompt, Stop(TOKENS), PhiloxNoise(3)))
    found, at, before = stream(honest, embedded_run().prompt, passes), 0, None
    for done in passes:
        rejected = before is not None and len(before.path) < len(before.drafted)
        assert found.after_reject[at] == rejected
        assert found.rejected[at] == (before.drafted[len(before.path)] if rejected else -1)
        for i in range(len(done.emitted)):
            assert found.bonus[at + i] == (i == len(done.drafted) > 0)
            assert i == 0 or not found.after_reject[at + i]
        at, before = at + len(done.emitted), done
    rows = np.concatenate([done.target[: len(done.emitted)] for done in passes])
    assert np.abs(found.target - rows).max() < 1e-5  # float32 rows, read in other pieces
