"""A trace file is the trace that was saved, or is refused with one clear line: no damage gets through."""

import json
import os
from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.engine.options import Options, to_json
from draftproof.engine.rerun import settings_of
from draftproof.engine.setup import prepare
from draftproof.engine.trace import follow
from draftproof.engine.traces import check_writable, read, save
from draftproof.errors import UsageError
from draftproof.records import SCHEMA, PassRecord, Trace

SETTINGS = to_json(
    Options("Hügel", "t", "d", max_tokens=9, seed=2**64 - 1, stop=("x",), stop_token_ids=(7,), logit_bias={5: -1.0})
) | {"fingerprints": {"t": "0123", "d": "4567"}, "version": "0.1.0"}
CHAIN = PassRecord(2, (5, 6, 7), 1, (5, 9), False, 0.1 + 0.2)
TREE = PassRecord(4, (5, 6, 7, 8), 2, (6, 8, 3), True, None, tree_depth=2)
PLAIN = PassRecord(7, (), 0, (1,), True, 0.0)
TRACE = Trace((0, 11), (CHAIN, TREE, PLAIN), "stop", 0.25, settings=SETTINGS)
WHOLE = TRACE.to_json()
ANYTHING = (
    None, True, -1, 0.5, 1e999, float("nan"), 2**32, 10**400, 10**30, "", "text", "\ud800", [], {}, [None], [[]],
    [-1], [2**32], [1.0], [True], {"a": 1}, [{}], {"": [[[[[[[[]]]]]]]]},
)  # fmt: skip


def placed(value, where=()):
    """Every place in a JSON value, the whole of it first."""
    yield where
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    for key, part in inside:
        yield from placed(part, (*where, key))


PLACES = list(placed(json.loads(json.dumps(WHOLE))))


def changed(where, value):
    """Return the file's content with another value in one place."""
    content = [json.loads(json.dumps(WHOLE))]
    at = content
    for key in (path := (0, *where))[:-1]:
        at = at[key]
    at[path[-1]] = value
    return content[0]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("traces") / "trace.json"


def refusal(path):
    with pytest.raises(UsageError) as refused:
        read(path)
    assert refused.value.setting == "trace"
    assert repr(str(path)) in refused.value.message
    assert len(refused.value.message.splitlines()) == 1
    return refused.value.message


def wrong(path, content):
    path.write_text(json.dumps(content))
    return refusal(path)


def test_a_trace_is_what_was_saved(tmp_path):
    save(TRACE, tmp_path / "trace.json")
    assert read(tmp_path / "trace.json") == TRACE
    assert [found.name for found in tmp_path.iterdir()] == ["trace.json"]


def test_a_trace_comes_out_of_json_as_it_went_in():
    for trace in (TRACE, Trace((0,), (), "length", 0.0)):
        assert Trace.from_json(json.loads(json.dumps(trace.to_json()))) == trace


@pytest.mark.parametrize(
    "options",
    [
        Options("In the beginning", max_tokens=12),
        Options("", rule="traversal", tree="2,2", max_tokens=8, seed=5),
        Options("And", max_tokens=0, drafter="none"),
        Options("And", max_tokens=5, temperature=0, no_speculation=True),
    ],
    ids=["a chain", "a tree from nothing", "nothing", "plain and greedy"],
)
def test_a_real_generation_comes_back_from_its_file(tmp_path, options):
    run = prepare(options)
    passes = run.engine.decode(run.prompt, run.stop, run.noise)
    trace = replace(follow(passes, run.prompt), settings=settings_of(run))
    save(trace, tmp_path / "trace.json")
    assert read(tmp_path / "trace.json") == trace


def test_an_older_file_gives_way_to_a_whole_one_also_behind_a_link(tmp_path):
    (tmp_path / "there").write_text("older")
    (tmp_path / "link").symlink_to("there")
    save(TRACE, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert read(tmp_path / "there") == TRACE


def test_asking_whether_a_file_can_be_written_changes_nothing(tmp_path):
    (tmp_path / "there").write_text("older")
    check_writable(tmp_path / "there")
    check_writable(tmp_path / "new")
    assert [found.name for found in tmp_path.iterdir()] == ["there"]
    assert (tmp_path / "there").read_text() == "older"


@pytest.mark.parametrize("what", ["no/folder/t.json", ".", "file/t.json", "n" * 300, "pipe"])
def test_where_nothing_can_be_written_is_refused(tmp_path, what):
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    for attempt in (check_writable, lambda path: save(TRACE, path)):
        with pytest.raises(UsageError) as refused:
            attempt(tmp_path / what)
        assert refused.value.setting == "trace"
        assert what in refused.value.message or what == "."
    assert sorted(found.name for found in tmp_path.iterdir()) == ["file", "pipe"]


def test_a_file_that_is_not_there_or_no_file_is_refused(tmp_path):
    assert "No such file" in refusal(tmp_path / "none.json")
    assert "directory" in refusal(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{", b"not JSON", b"[" * 100_000, b"9" * 5000])
def test_what_is_no_json_is_refused(path, content):
    path.write_bytes(content)
    assert "no JSON" in refusal(path)


def test_another_version_is_refused_with_both(path):
    assert f"version 1; version {SCHEMA} is read" in wrong(path, {"schema": 1, "anything": "else"})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ((("passes", 0, "accepted"), 4), "passes[0].accepted cannot be 4"),
        ((("passes", 1, "accepted"), 3), "passes[1].accepted cannot be 3"),
        ((("passes", 1, "tree_depth"), 5), "passes[1].tree_depth cannot be 5"),
        ((("passes", 2, "tree_depth"), 1), "passes[2].tree_depth cannot be 1"),
        ((("passes", 1, "start"), 5), "passes[1].start cannot be 5"),
        ((("passes", 0, "emitted"), [5]), "passes[1].start cannot be 4"),
        ((("passes", 0, "emitted"), [5, 6, 7]), "passes[0].emitted cannot be (5, 6, 7)"),
        ((("passes", 2, "emitted"), []), "passes[2].emitted cannot be ()"),
        ((("passes", 0, "drafted", 1), -1), "passes[0].drafted cannot be (5, -1, 7)"),
        ((("prompt",), []), "prompt cannot be ()"),
        ((("prompt",), [0]), "passes[0].start cannot be 2"),
        ((("finish_reason",), "bored"), "finish_reason cannot be 'bored'"),
        ((("seconds",), -1.0), "seconds cannot be -1.0"),
        ((("settings", "seed"), "7"), "setting seed: got '7'; allowed is a whole number"),
        ((("settings", "top_k"), True), "setting top_k: got True; allowed is a whole number"),
        ((("settings", "nobody"), 0.1), "setting 'nobody' is unknown here"),
        ((("settings", "logit_bias"), {"x": 1}), "setting logit_bias: got {'x': 1}; allowed are numbers by token id"),
        ((("settings", "stop_token_ids"), [1.5]), "setting stop_token_ids: got [1.5]; allowed is a list"),
        ((("settings", "fingerprints"), {"d": "4567"}), "are not those of its models"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_what_contradicts_itself_is_refused_with_the_part_at_fault(path, change, reason):
    assert reason in wrong(path, changed(*change))


@pytest.mark.parametrize("where", [where for where in PLACES if where and isinstance(where[-1], str)], ids=str)
def test_a_part_that_is_missing_is_refused(path, where):
    content = deepcopy(json.loads(json.dumps(WHOLE)))
    at = content
    for key in where[:-1]:
        at = at[key]
    del at[where[-1]]
    if where[-1] in {"d", "5"}:  # a run that drafted nothing has no print of its drafter; no bias is possible too
        path.write_text(json.dumps(content))
        assert read(path).settings == content["settings"]
    else:
        wrong(path, content)


@given(st.integers(0, len(json.dumps(WHOLE)) - 1))
def test_a_file_that_was_cut_off_is_refused(path, length):
    path.write_text(json.dumps(WHOLE)[:length])
    refusal(path)


@pytest.mark.parametrize("value", ANYTHING, ids=lambda value: repr(value)[:20])
def test_a_value_in_the_wrong_place_is_refused_or_does_no_harm(path, value):
    for where in PLACES:
        path.write_text(json.dumps(changed(where, value)))
        in_use(path)


@settings(max_examples=500)
@given(st.integers(0, len(json.dumps(WHOLE)) - 1), st.characters(max_codepoint=126))
def test_a_wrong_letter_is_refused_or_does_no_harm(path, place, letter):
    text = json.dumps(WHOLE)
    path.write_text(text[:place] + letter + text[place + 1 :])
    in_use(path)


def in_use(path):
    """Read a file that may be damaged; what is read must serve for all that a trace serves for."""
    try:
        trace = read(path)
    except UsageError:
        refusal(path)
        return
    assert Trace.from_json(json.loads(json.dumps(trace.to_json()))) == trace
    _ = trace.acceptance_rate, trace.mean_acceptance_length, trace.acceptance_per_position, trace.expected_acceptance
    assert all(0 <= token < 2**32 for token in (*trace.prompt, *trace.token_ids))
    assert float(f"{trace.seconds:.2f}") >= 0
