"""The statistical witness against streams whose right answers were computed elsewhere, and its own definition."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import needs
from draftproof.errors import ContractError
from draftproof.witness.drift import drifts, excluded_from
from draftproof.witness.emitted import Emitted
from draftproof.witness.eprocess import EProcess
from draftproof.witness.experts import EXPERTS
from draftproof.witness.mixture import block, mean
from draftproof.witness.verdict import Limits, judge

FIXTURES = Path(__file__).parents[1] / "fixtures"
STREAMS = (
    "null", "null_topk", "null_inconclusive", "resid_from_target", "resid_from_draft", "bonus_from_draft",
    "repeat_rejected", "temperature", "no_draft_info",
)  # fmt: skip
CLOSE = 1e-9
"""The fixtures were made by other code in float64; sums of some thousand logarithms differ by less."""


def fixture(name):
    return json.loads((FIXTURES / f"witness_{name}.json").read_text())


def emitted(stream, rows=None):
    """The tokens of a stream, without what must not be known: their kind."""
    columns = [*zip(*(stream["rows"] if rows is None else rows), strict=True)]
    contexts, tokens, bonus, after_reject, rejected = (np.array(column) for column in columns[:5])
    laws = {name: [context[name] for context in stream["contexts"]] for name in ("p", "q")}
    draft = None if laws["q"][0] is None else np.array(laws["q"])[contexts]
    return Emitted(tokens, np.array(laws["p"])[contexts], draft, bonus, after_reject, rejected)


def after(tokens, batch):
    state = EProcess()
    trace = np.concatenate([state.add(tokens[first : first + batch]) for first in range(0, len(tokens), batch)])
    return state, trace


@pytest.mark.parametrize("batch", [1, 7, 10_000])
@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_comes_to_what_it_should(name, batch):
    stream = fixture(name)
    expected = stream["expected"]
    state, trace = after(emitted(stream), batch)
    for tokens, wealth in expected["trace_log_wealth"]:
        assert trace[tokens - 1] == pytest.approx(wealth, abs=CLOSE)
    assert state.log_wealth == pytest.approx(expected["log_wealth"], abs=CLOSE)
    assert state.highest == pytest.approx(expected["sup_log_wealth"], abs=CLOSE)
    assert state.blocks() == pytest.approx(expected["blocks"], abs=CLOSE)
    strengths = np.full(state.lr.shape[-1], 1 / state.lr.shape[-1])
    experts = dict(zip(EXPERTS, mean(state.lr[0], strengths), strict=True))
    assert experts == pytest.approx(expected["experts_log_wealth"], abs=CLOSE)


@pytest.mark.parametrize("name", STREAMS)
def test_the_drift_and_the_verdict_are_what_they_should_be(name):
    stream = fixture(name)
    expected, given_limits = stream["expected"], stream["expected"]["verdict_params"]
    alpha, watch, delta, target, fewest = (given_limits[key] for key in ("alpha", "watch", "delta", "target", "n_min"))
    limits = Limits(alpha, watch, delta, target, fewest)
    state, _ = after(emitted(stream), 100)
    found = drifts(state, limits.delta)
    assert found.keys() == expected["drift"].keys()
    for key, drift in expected["drift"].items():
        assert found[key].tokens == drift["n"]
        for side in ("mean", "lower", "upper"):
            assert getattr(found[key], side) == pytest.approx(drift[side], abs=CLOSE)
    assert excluded_from(state, delta) == expected["excluded_from"]
    opinion = judge(state, limits)
    assert opinion.verdict == expected["verdict"]
    assert opinion.bound == pytest.approx(expected["drift_bound_all"], abs=CLOSE)


def test_a_token_that_cannot_be_is_a_proof():
    stream = fixture("support")
    state, trace = after(emitted(stream), 11)
    first = stream["expected"]["first_violation"]
    assert state.violation == first
    assert trace[first - 2] == pytest.approx(stream["expected"]["log_wealth_before"], abs=CLOSE)
    assert np.isinf(trace[first - 1 :]).all()
    opinion = judge(state)
    assert (opinion.verdict, f"token {first} " in opinion.reason) == ("DRIFT", True)


def test_looking_only_at_tokens_that_replaced_a_draft_convicts_a_correct_engine():
    """The trap: the kind of a token is not known before it is drawn, so whoever chooses by it must not bet."""
    trap, stream = fixture("kind_trap"), fixture("null")
    state, _ = after(emitted(stream, [stream["rows"][i] for i in trap["indices"]]), 10_000)
    assert state.highest == pytest.approx(trap["expected"]["sup_log_wealth"], abs=CLOSE)
    assert judge(state).verdict == "DRIFT"
    assert judge(after(emitted(stream), 100)[0]).verdict != "DRIFT"


def laws(rng, size, holes):
    law = rng.dirichlet(np.ones(size), 2)
    law[:, rng.permutation(size)[:holes]] = 0
    return law / law.sum(axis=-1, keepdims=True)


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(2, 7), holes=st.integers(0, 1))
@settings(max_examples=60)
def test_no_bet_is_expected_to_win_against_a_lossless_engine(seed, size, holes):
    """After the same beginning every token is tried: over the target's law, no block gains on average."""
    rng = np.random.default_rng(seed)
    (p, before), q = laws(rng, size, holes), rng.dirichlet(np.ones(size))
    flags = [np.array([rng.random() < 0.5]) for _ in range(2)]
    rejected = np.array([rng.integers(-1, size)])
    means = dict.fromkeys(("lr", "leg", "hist", "lag"), 0.0)
    for x in np.flatnonzero(p):
        state = EProcess()
        state.add(Emitted(np.array([before.argmax()]), before[None], q[None], *flags, rejected))
        earlier = state._logs()
        state.add(Emitted(np.array([x]), p[None], q[None], *flags, rejected))
        for name, logs in state._logs().items():
            means[name] = means[name] + p[x] * np.exp(logs - earlier[name])
    for name, factors in means.items():
        assert np.max(factors) <= 1 + 1e-12, name
    for name in ("leg", "hist", "lag"):
        assert np.allclose(means[name], 1, atol=1e-12, rtol=0), name


def test_states_merge_and_are_saved_and_gone_on_with():
    tokens = emitted(fixture("resid_from_draft"))
    whole, _ = after(tokens, 10_000)
    first, second = (after(part, 50)[0] for part in (tokens[:120], tokens[120:]))
    both = first.merged(second)
    assert both.tokens == whole.tokens
    assert block("leg", both.leg) == pytest.approx(block("leg", whole.leg), abs=CLOSE)
    lags = EXPERTS.index("row_lag")
    rest = [k for k in range(len(EXPERTS)) if k != lags]  # at the seam nothing is known of the row before
    assert np.allclose(both.lr[:, rest], whole.lr[:, rest], atol=CLOSE)
    assert np.allclose(both.event_sums, whole.event_sums, atol=CLOSE)
    saved = EProcess.from_json(json.loads(json.dumps(first.to_json())))
    saved.add(tokens[120:])
    assert saved.log_wealth == pytest.approx(whole.log_wealth, abs=CLOSE)
    assert saved.highest == pytest.approx(whole.highest, abs=CLOSE)


def test_the_proof_of_a_merged_stream_is_found_at_its_place():
    tokens, fine = emitted(fixture("support")), emitted(fixture("null"))
    proof, _ = after(tokens, 10_000)
    other, _ = after(fine, 10_000)
    assert other.merged(proof).violation == len(fine) + proof.violation
    assert proof.merged(other).violation == proof.violation
    assert np.isinf(proof.merged(other).highest)


def test_torch_says_the_same():
    torch, tokens = needs("torch"), emitted(fixture("bonus_from_draft"))
    flags = tokens.bonus, tokens.after_reject, tokens.rejected
    moved = Emitted(tokens.tokens, torch.from_numpy(tokens.target), torch.from_numpy(tokens.draft), *flags)
    state, trace = after(moved, 64)
    wanted, wanted_trace = after(tokens, 64)
    assert np.allclose(trace, wanted_trace, atol=CLOSE)
    assert np.allclose(state.event_sums, wanted.event_sums, atol=CLOSE)


@pytest.mark.parametrize("tiny", [1e-20, 1e-300, 1e-320])
def test_tokens_that_hardly_can_be_are_bet_on_without_dividing_by_nothing(tiny):
    """They are no proof, but evidence; no number becomes infinite, or none at all."""
    p, q, state = np.array([[1 - tiny, tiny, 0.0]]), np.full((1, 3), 1 / 3), EProcess()
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        trace = [state.add(Emitted(np.array([1]), p, q))[0] for _ in range(3)]
    assert 20 < trace[0] < trace[1] < trace[2] < np.inf
    assert all(np.isfinite(logs).all() for logs in state._logs().values())


def test_what_does_not_fit_together_is_refused():
    p = np.full((3, 4), 0.25)
    for wrong, words in (
        (lambda: Emitted(np.array([0, 1]), p), "tokens is"),
        (lambda: Emitted(np.array([0, 1, 4]), p), "got 0 to 4"),
        (lambda: Emitted(np.array([0, 1, 2]), p, p[:, :3]), "draft laws"),
        (lambda: Emitted(np.array([0, 1, 2]), p, bonus=np.array([True])), "bonus is"),
    ):
        with pytest.raises(ContractError, match=words):
            wrong()
