"""What an audit says of engines that are right, and of engines with one thing wrong each.

False alarms: each audit of a right engine alarms with probability 1e-6 at most. Everything is seeded.
"""

import math

import pytest

from draftproof.audit.outcome import Cause
from draftproof.witness.verdict import Verdict


def test_a_right_engine_is_lossless(audit):
    found, _ = audit("right", eps=0.1)
    assert (found.verdict, found.cause, found.status) == (Verdict.LOSSLESS, Cause.NOTHING, 0)
    assert found.drift_bound <= 0.1
    assert found.log_evidence < math.log(1e3)
    assert set(found.slots) == {"all", "bonus", "after_reject"}


def test_our_own_engine_is_lossless(audit):
    found, _ = audit("draftproof", eps=0.1)
    assert found.verdict is Verdict.LOSSLESS


@pytest.mark.parametrize("name", ["residual_from_target", "bonus_from_draft", "unverified"])
def test_a_wrong_speculation_is_convicted_and_named_as_that(name, audit):
    found, _ = audit(name)
    assert (found.verdict, found.cause, found.status) == (Verdict.DRIFT, Cause.LAW, 1)
    assert found.reason.startswith("speculation changes the law")
    assert found.tokens <= 2000
    assert found.control["log_evidence"] < math.log(1e3)


def test_what_only_bonus_tokens_have_wrong_shows_in_their_slot(audit):
    _, running = audit("bonus_from_draft")
    events = running.judgement.speculative.evidence.state
    drifted = events.event_sums / events.event_counts
    assert drifted[1].max() > 3 * abs(drifted[0]).max()


@pytest.mark.parametrize(
    ("name", "settings", "told"),
    [
        ("ignores_top_k", {"top_k": 5}, "it ignores top_k"),
        ("ignores_temperature", {"temperature": 0.6}, "it ignores temperature"),
        ("another_model", {}, "even without speculation"),
    ],
)
def test_what_is_wrong_without_speculation_too_is_not_blamed_on_it(name, settings, told, audit):
    found, _ = audit(name, settings, max_tokens_total=6000)
    assert (found.verdict, found.cause, found.status) == (Verdict.INCONCLUSIVE, Cause.REFERENCE, 3)
    assert told in found.reason


def test_a_wrong_speculation_is_told_apart_from_what_is_wrong_without_it(audit):
    found, _ = audit("sharper_and_residual_from_target", max_tokens_total=24_000)
    assert (found.verdict, found.cause) == (Verdict.DRIFT, Cause.LAW)
    assert "for more drift than without it" in found.reason


@pytest.mark.slow
def test_small_differences_of_numbers_are_only_numerics(audit):
    found, running = audit("sharper", max_tokens_total=24_000, eps=0.25)
    assert (found.verdict, found.cause) == (Verdict.LOSSLESS, Cause.NUMERICS)
    assert running.judgement.control.evidence.log_evidence > math.log(1e6)


def test_an_engine_that_drafts_nothing_is_no_lossless_speculation(audit):
    found, _ = audit("draws_without_drafts", eps=0.1)
    assert (found.verdict, found.cause) == (Verdict.INCONCLUSIVE, Cause.INACTIVE)


def test_wrong_logprobs_are_a_finding_of_their_own(audit):
    found, _ = audit("logprobs_zero", eps=0.1)
    assert (found.verdict, found.cause) == (Verdict.LOSSLESS, Cause.LOGPROBS)
    assert "speculative arm" in " ".join(found.notes)


def test_an_engine_without_a_control_arm_is_judged_with_that_said(audit):
    found, _ = audit("tokens_only", eps=0.1)
    assert found.verdict is Verdict.LOSSLESS
    assert found.control is None
    assert any("no counters" in note for note in found.notes)


@pytest.mark.slow
def test_sampling_settings_are_part_of_the_law(audit):
    settings = {"temperature": 0.8, "top_k": 20, "top_p": 0.9, "repetition_penalty": 1.2, "frequency_penalty": 0.3}
    found, _ = audit("right", settings, eps=0.1, max_tokens_total=10_000)
    assert found.verdict is Verdict.LOSSLESS
    wrong, _ = audit("residual_from_target", settings)
    assert wrong.verdict is Verdict.DRIFT


def test_a_greedy_engine_is_lossless_token_by_token(audit):
    found, _ = audit("right", {"temperature": 0}, max_tokens_total=6000)
    assert found.verdict is Verdict.LOSSLESS
    assert found.drift_bound < 0.005


def test_a_greedy_engine_that_keeps_wrong_drafts_is_convicted_by_one_token(audit):
    found, _ = audit("unverified", {"temperature": 0})
    assert (found.verdict, found.cause) == (Verdict.DRIFT, Cause.LAW)
    assert found.log_evidence == math.inf
    assert found.to_json()["log_evidence"] == "Infinity"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("returns_text", "token ids are needed"),
        ("another_vocabulary", "vocabulary ends at 63"),
        ("cut_short", "cuts completions"),
        ("repeats_itself", "ignores seeds"),
        ("fails", "RuntimeError: no memory left"),
        ("crashes", "ended by signal"),
        ("nothing", "without token ids"),
        ("crashes_later", "ended by signal"),
    ],
)
def test_an_engine_that_fails_is_a_result(name, told, audit):
    found, _ = audit(name)
    assert (found.verdict, found.cause, found.status) == (Verdict.INCONCLUSIVE, Cause.FAILURE, 3)
    assert told in found.reason
    assert "\n" not in found.reason


def test_an_engine_that_hangs_is_a_result(audit):
    found, _ = audit("hangs", timeout=0.5)
    assert (found.verdict, found.cause) == (Verdict.INCONCLUSIVE, Cause.FAILURE)
    assert "said nothing for 0.5 seconds" in found.reason


def test_a_token_that_cannot_come_is_a_proof_and_is_counted(audit):
    found, running = audit("leaves_top_k", {"top_k": 5})
    assert (found.verdict, found.log_evidence) == (Verdict.DRIFT, math.inf)
    assert f"token {running.judgement.speculative.evidence.state.violation} has probability 0" in found.reason
    assert found.tokens == running.judgement.speculative.evidence.state.violation
