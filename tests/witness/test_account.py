"""The account of a pass: always the shipped engine's own, and a tampered engine is seen to leave it."""

from dataclasses import replace

import numpy as np
import pytest

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.errors import UsageError
from draftproof.models.table import TableModel
from draftproof.noise import PhiloxNoise
from draftproof.redteam.tampers.catalogue import TAMPERS
from draftproof.rules.base import pick
from draftproof.rules.catalogue import CHAIN_RULES, TREE_RULES
from draftproof.rules.coupled import winner
from draftproof.rules.draft_laws import DraftLaws
from draftproof.rules.token import TokenRule, residual_law
from draftproof.types import Purpose
from draftproof.warpers.pipeline import Pipeline
from draftproof.witness.account import Listening, account, agrees, difference
from draftproof.witness.flat import flat

PROMPT, SIZE, SEEDS = (0,), 6, 25
KINDS = ("full", "with zeros", "equal", "one-hot target", "one-hot draft", "disjoint")
CHAINS = sorted(CHAIN_RULES)
P, Q = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.2, 0.1, 0.4, 0.3])


def scattered(seed, context):
    """A law (SIZE,) that depends on the whole context."""
    at = sum((token + 1) * 7**i for i, token in enumerate(context)) % 2**40
    return PhiloxNoise(seed).uniforms(Purpose.DRAFT, at, SIZE) + 2.0**-20


def one_hot(weights):
    return (np.arange(SIZE) == weights.argmax()).astype(float)


def weights(kind, role, seed, context):
    found = scattered(2 * seed + (role == "draft" and kind != "equal"), context)
    if kind == "with zeros":
        found = np.where(found < 0.4, 0, found)
        found[len(context) % SIZE] += 0.1
    elif kind == f"one-hot {role}":
        found = one_hot(found)
    elif kind == "disjoint":
        found = np.where((np.arange(SIZE) < 3) == (role == "draft"), found, 0)
    return found


def model(kind, role, seed):
    def law_of(context):
        found = weights(kind, role, seed, context)
        return found / found.sum()

    return TableModel(law_of, SIZE)


def engine_of(rule, kind, seed, length):
    drafter = ModelDrafter(model(kind, "draft", seed))
    return Engine(model(kind, "target", seed), drafter, rule, Pipeline(), FixedLength(length))


def told(engine, rule, noise, stop):
    return [(done, account(done, rule, noise)) for done in engine.decode(PROMPT, stop, noise)]


@pytest.mark.parametrize("length", range(5))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CHAINS)
def test_it_tells_what_the_shipped_engine_does(name, kind, length):
    rule = CHAIN_RULES[name]
    for seed in range(SEEDS):
        engine, noise = engine_of(rule, kind, seed, length), PhiloxNoise(seed)
        for done, steps in told(engine, rule, noise, Stop(8, tokens=frozenset({5}))):
            assert difference(done, steps) is None
            assert agrees(done, steps)
            drafts = [step for step in steps if step.act == "draft"]
            assert tuple(step.token for step in drafts) == done.drafted
            assert (steps[-1].act == "bonus") == done.bonus == (steps[-1].depth == len(done.drafted))
            assert steps[-1].depth == len(done.path)


@pytest.mark.parametrize("name", CHAINS)
def test_every_number_in_it_is_one_that_the_engine_asked_for(name):
    rule = CHAIN_RULES[name]
    for seed in range(SEEDS):
        listening, purposes = Listening(PhiloxNoise(seed)), set()
        passes = list(engine_of(rule, "full", seed, 3).decode(PROMPT, Stop(8), listening))
        uniforms = {
            (asked.purpose, asked.start, number): value
            for asked in listening.asked
            for number, value in zip(asked.numbers, asked.values, strict=True)
        }
        for done in passes:
            for step in account(done, rule, PhiloxNoise(seed)):
                purpose = {"draft": Purpose.DRAFT, "test": Purpose.ACCEPT}.get(step.act, Purpose.FINAL)
                number = 0 if purpose == Purpose.FINAL and name in {"token", "block"} else step.depth
                if step.uniform is not None:
                    assert uniforms[purpose, done.start, number] == step.uniform
                    purposes.add(purpose)
                else:
                    race = [uniforms[None, done.start + step.depth, token] for token in range(SIZE)]
                    assert race == step.exponentials.tolist()
        assert purposes <= {Purpose.DRAFT, Purpose.FINAL, Purpose.ACCEPT}
        assert (Purpose.ACCEPT in purposes) == (name in {"token", "block"})


@pytest.mark.parametrize("name", CHAINS)
def test_every_step_follows_from_its_own_law_and_number(name):
    rule = CHAIN_RULES[name]
    for seed in range(SEEDS):
        for done, steps in told(engine_of(rule, "with zeros", seed, 3), rule, PhiloxNoise(seed), Stop(8)):
            for step in steps:
                if step.act == "test":
                    assert (step.law, step.passed) == (None, step.uniform < step.bound)
                elif step.exponentials is not None:
                    assert winner(step.law, step.exponentials) == step.token
                else:
                    assert pick(step.law, np.array(step.uniform)) == step.token
                if step.act == "own":
                    assert step.passed == (step.token == done.drafted[step.depth])
                assert (step.bound is None) == (step.act != "test")
                assert (step.passed is None) == (step.act not in {"test", "own"})


def first_acts(name, length):
    """All orders of acts over many seeds, as words."""
    rule, found = CHAIN_RULES[name], set()
    for seed in range(SEEDS):
        for _, steps in told(flat(rule, P, Q, length), rule, PhiloxNoise(seed), Stop(length + 1)):
            found.add(" ".join(step.act for step in steps if step.act != "draft"))
    return found


def test_the_steps_come_in_the_order_of_the_rule():
    assert first_acts("token", 2) >= {"test residual", "test test residual", "test test bonus"}
    assert first_acts("block", 2) >= {"test test residual", "test test bonus"}
    assert "test residual" in first_acts("block", 1)
    assert first_acts("match", 2) >= {"own", "own own", "own own bonus"}
    assert first_acts("coupled", 2) >= {"own", "own own", "own own bonus"}


@pytest.mark.parametrize("name", CHAINS)
def test_without_drafts_there_is_one_step(name):
    rule = CHAIN_RULES[name]
    for _, steps in told(engine_of(rule, "full", 0, 0), rule, PhiloxNoise(0), Stop(8)):
        assert [(step.act, step.depth) for step in steps] == [("bonus", 0)]


def test_the_longest_prefix_wins_even_after_a_test_that_failed():
    rule, found = CHAIN_RULES["block"], set()
    for seed in range(SEEDS):
        done, steps = told(flat(rule, P, Q, 3), rule, PhiloxNoise(seed), Stop(4))[0]
        passed = [step.passed for step in steps if step.act == "test"]
        assert len(done.path) == max((i + 1 for i, fell in enumerate(passed) if fell), default=0)
        found.add(tuple(passed))
    assert (False, True, False) in found or (False, False, True) in found


def test_after_a_rejection_the_law_is_the_residual_of_the_two_laws():
    rule = TokenRule()
    for seed in range(SEEDS):
        _, steps = told(flat(rule, P, Q, 1), rule, PhiloxNoise(seed), Stop(2))[0]
        wanted = residual_law(P, Q) if steps[-1].act == "residual" else P
        assert steps[-1].law.tolist() == wanted.tolist()


def seen(name, rule=None, length=2, seeds=200, vocabulary=(P, Q)):
    """What is said of a tampered engine over many seeds."""
    tamper = TAMPERS[name]
    engine = tamper.apply(flat(tamper.rule, *vocabulary, length))
    said = set()
    for seed in range(seeds):
        noise = PhiloxNoise(seed)
        done = next(iter(engine.decode(PROMPT, Stop(length + 1), noise)))
        said.add(difference(done, account(done, rule or tamper.rule, noise)))
    return said


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("residual-is-the-target", "emits token 1 where the rule emits token 0"),
        ("accept-by-target-alone", "keeps 0 where the rule keeps 1"),
        ("ratio-upside-down", "keeps 0 where the rule keeps 1"),
        ("drawn-sharper-than-tested", "drafts token 2 where the draft's law gives 1"),
        ("block-shares-one-coin", "keeps 2 where the rule keeps 0"),
        ("match-or-a-second-sample", "keeps 1 where the rule keeps 0"),
        ("coupled-noise-without-position", "drafts token 2 where the draft's law gives 0"),
        ("rejected-draft-emitted", "emits token 3 where the rule emits token 0"),
        ("final-token-thrown-away", "emits 1 in all where the rule emits 2"),
    ],
)
def test_a_tampered_engine_is_seen_to_leave_the_path(name, words):
    said = seen(name)
    assert words in said
    assert None in said  # a tamper that is off the path in every single pass needs no witness


def test_an_innocent_engine_that_takes_no_other_path_never_leaves_it():
    assert seen("as-shipped") == {None}


def test_a_draft_that_its_law_cannot_give_ends_the_account_with_the_drafts():
    rule, noise = TokenRule(), PhiloxNoise(0)
    done = next(flat(rule, P, Q, 2).decode(PROMPT, Stop(3), noise))
    impossible = done.draft.copy()
    impossible[1] = np.eye(4)[(done.drafted[1] + 1) % 4]
    tampered = replace(done, proposal=replace_laws(done.proposal, impossible))
    steps = account(tampered, rule, noise)
    assert [step.act for step in steps] == ["draft", "draft"]
    assert difference(tampered, steps) == f"drafts token {done.drafted[1]} where the draft's law gives {steps[1].token}"
    no_law = replace(done, target=done.target * 2)
    assert difference(no_law, account(no_law, rule, noise)) == "decides where the rule refuses the laws"


def replace_laws(proposal, laws):
    changed = object.__new__(type(proposal))
    parts = {name: getattr(proposal, name) for name in ("tree", "text", "read")}
    for name, part in (parts | {"draft": DraftLaws.of(laws)}).items():
        object.__setattr__(changed, name, part)
    return changed


@pytest.mark.parametrize("name", TREE_RULES)
def test_a_tree_is_refused_in_one_line(name):
    done = next(flat(TokenRule(), P, Q, 1).decode(PROMPT, Stop(2), PhiloxNoise(0)))
    with pytest.raises(UsageError, match=f"rule: got '{name}'") as refusal:
        account(done, TREE_RULES[name], PhiloxNoise(0))
    assert "\n" not in str(refusal.value)
