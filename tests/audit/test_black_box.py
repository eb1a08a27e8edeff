"""Speculation on and off, of an engine whose law nobody here knows.

False alarms: each audit of engines that write alike alarms with probability 1e-6 at most. Everything is seeded.
"""

import math

import pytest

from draftproof.audit.black_box import AHEAD, BlackBox
from draftproof.audit.options import NEUTRAL, Options
from draftproof.audit.outcome import Cause
from draftproof.audit.pairs import symbols
from draftproof.audit.report import write
from draftproof.errors import UsageError
from draftproof.witness.verdict import Verdict


def compared(name, watch=lambda _, __: None, **asked):
    few = {"max_tokens_total": 40_000, "max_tokens": 32, "black_box": True, "settings": NEUTRAL}
    running = BlackBox(Options(f"python:audited_of_tests:{name}", **few | asked))
    return running.run(watch), running


def test_an_engine_that_writes_otherwise_with_speculation_is_convicted():
    found, running = compared("drifting_letters")
    assert (found.verdict, found.cause, found.status) == (Verdict.DRIFT, Cause.LAW, 1)
    assert found.log_evidence >= math.log(1e6)
    assert found.drift_bound is None
    assert found.tokens <= found.control["tokens"] <= running.options.max_tokens_total / 2


def test_its_report_claims_no_bound(tmp_path):
    found, running = compared("drifting_letters", max_tokens_total=10_000)
    write(tmp_path / "page.html", found, running.drawn())
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "If both arms draw from one law" in page
    assert page.count("<svg") == 1
    assert "Each declared event" not in page
    assert "drift, at most" not in page


def test_an_engine_that_writes_alike_is_not_and_nothing_more_is_claimed():
    found, running = compared("steady_letters", max_tokens_total=20_000)
    assert (found.verdict, found.cause, found.status) == (Verdict.INCONCLUSIVE, Cause.MORE, 3)
    assert found.log_evidence < math.log(1e3)
    assert found.tokens == found.control["tokens"] >= 10_000
    assert not running.pairs.waiting


def test_arms_take_turns_that_become_longer():
    turns = []

    def watch(arm, _):
        turns.extend([arm] * (not turns or turns[-1] != arm))

    _, running = compared("steady_letters", watch, max_tokens_total=40_000)
    assert len(turns) <= 8
    assert running.pairs.sides["control"].completions >= AHEAD


def test_nothing_drafted_is_nothing_shown():
    found, _ = compared("idle_letters")
    assert (found.verdict, found.cause) == (Verdict.INCONCLUSIVE, Cause.INACTIVE)


def test_it_goes_on_where_it_was_interrupted():
    whole, running = compared("steady_letters", max_tokens_total=12_000, seed=3)

    def stop(arm, side):
        if arm == "speculative" and side.batches == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compared("steady_letters", stop, max_tokens_total=12_000, seed=3)
    resumed = BlackBox(running.options)
    assert resumed.pairs.sides["speculative"].batches == 3
    again = resumed.run(lambda _, __: None)
    assert (again.log_evidence, again.tokens) == (whole.log_evidence, whole.tokens)


def test_completions_that_do_not_vary_are_refused():
    found, _ = compared("ignores_its_seed")
    assert (found.verdict, found.cause) == (Verdict.INCONCLUSIVE, Cause.FAILURE)
    assert "ignores seeds" in found.reason


def test_there_has_to_be_a_control_arm():
    with pytest.raises(UsageError, match="no parameter `speculative`"):
        compared("tokens_only")


def test_text_will_do():
    found, _ = compared("writes_text")
    assert found.verdict is Verdict.DRIFT


def test_other_prompts_in_the_same_file_are_another_audit(tmp_path):
    path = tmp_path / "prompts.txt"
    asked = Options("http://127.0.0.1:9", black_box=True, control="http://127.0.0.1:8", prompts=path)
    places = set()
    for text in ("one\n", "another\n"):
        path.write_text(text, encoding="utf-8")
        places.add(BlackBox(asked)._saved.path)
    assert len(places) == 2


def test_strings_and_text_are_compared_where_there_are_no_ids():
    assert symbols({"tokens": [4, 5], "strings": ["a"]}) == [4, 5]
    assert len(set(symbols({"tokens": [], "strings": ["a", "b", "a"]}))) == 2
    assert symbols({"tokens": [], "text": "aba"}) == [97, 98, 97]
