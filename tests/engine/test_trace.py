"""The numbers of a generation, worked out by hand."""

import json
from dataclasses import replace

from draftproof.engine.trace import follow
from draftproof.records import PassRecord, Trace

TRACE = Trace(
    prompt=(0,),
    passes=(
        PassRecord(1, (5, 6, 7), 3, (5, 6, 7, 8), True, 0.9 + 0.8 + 0.7),
        PassRecord(5, (5, 6, 7), 1, (5, 9), False, 0.5 + 0.4),
        PassRecord(7, (5, 6, 7), 0, (2,), False, 0.2),
        PassRecord(8, (), 0, (1,), True, 0.0),
    ),
    finish_reason="stop",
    seconds=2.0,
)


def test_counts_and_rates_follow_vllms_conventions():
    assert TRACE.token_ids == (5, 6, 7, 8, 5, 9, 2, 1)
    assert (TRACE.num_drafts, TRACE.num_draft_tokens, TRACE.num_accepted_tokens) == (3, 9, 4)
    assert TRACE.acceptance_rate == 4 / 9
    assert TRACE.mean_acceptance_length == 1 + 4 / 3
    assert TRACE.acceptance_per_position == [2 / 3, 1 / 3, 1 / 3]


def test_expected_acceptance_is_what_the_rules_expected_of_what_was_drafted():
    assert abs(TRACE.expected_acceptance - (0.9 + 0.8 + 0.7 + 0.5 + 0.4 + 0.2) / 9) < 1e-15  # the last bit of a sum


def test_a_rule_that_expects_nothing_leaves_the_expectation_open():
    silent = replace(TRACE, passes=(*TRACE.passes, PassRecord(9, (3,), 1, (3, 4), True, None)))
    assert silent.expected_acceptance is None
    assert silent.acceptance_rate == 5 / 10


def test_a_generation_without_drafts_has_no_rate():
    plain = Trace((0,), (PassRecord(1, (), 0, (1,), True, 0.0),), "length", 1.0)
    assert (plain.acceptance_rate, plain.expected_acceptance, plain.mean_acceptance_length) == (None, None, 1.0)
    assert plain.acceptance_per_position == []


def test_a_trace_is_plain_json():
    assert json.loads(json.dumps(TRACE.to_json()))["passes"][0]["drafted"] == [5, 6, 7]


def test_an_interruption_keeps_the_text_so_far():
    def passes():
        yield Fake((3, 4), None)
        raise KeyboardInterrupt

    class Fake:
        def __init__(self, emitted, finish_reason):
            self.emitted, self.finish_reason = emitted, finish_reason

        def record(self):
            return PassRecord(1, (), 0, self.emitted, True, 0.0)

    trace = follow(passes(), [0])
    assert (trace.token_ids, trace.finish_reason) == ((3, 4), "interrupted")


def test_a_tree_has_as_many_positions_as_it_is_deep():
    tree = PassRecord(1, (5, 6, 7, 8), 1, (5, 9), False, None, tree_depth=2)
    assert Trace((0,), (tree,), "length", 1.0).acceptance_per_position == [1.0, 0.0]
