"""What does not go together is refused before anything is loaded, by one table."""

from dataclasses import replace

import pytest

from draftproof.engine import setup
from draftproof.engine.combinations import COMBINATIONS, check, table
from draftproof.engine.options import Options
from draftproof.errors import UsageError
from draftproof.rules.catalogue import RULES

EXAMPLES = {
    ("tree", "a rule for chains"): (Options(tree="2,1", rule="token"), ()),
    ("tree", "fewer speculative tokens than it has levels"): (
        Options(tree="2,2,1", rule="traversal", num_speculative_tokens=2), (),
    ),
    ("num_speculative_tokens", "auto, a tree rule"): (Options(num_speculative_tokens="auto", rule="traversal"), ()),
    ("json_schema", "another grammar"): (Options(json_schema="{}", lark="start: /a/"), ()),
    ("regex", "another grammar"): (Options(regex="a", lark="start: /a/"), ()),
    ("ignore_eos", "a grammar"): (Options(ignore_eos=True, regex="a"), ()),
    ("min_tokens", "more than max_tokens"): (Options(min_tokens=3, max_tokens=2), ()),
    ("min_tokens", "a grammar"): (Options(min_tokens=3, lark="start: /a/"), ()),
    ("allowed_token_ids", "a grammar"): (Options(allowed_token_ids=(3,), json_schema="{}"), ()),
    ("tree", "no speculation"): (Options(tree="2,1", rule="traversal", no_speculation=True), ()),
    ("prompt", "prompts from a file"): (Options(prompt="a"), ("prompts", "out")),
    ("prompts", "no file to write to"): (Options(), ("prompts",)),
    ("out", "a single prompt"): (Options("a"), ("out",)),
    ("batch_size", "a single prompt"): (Options("a"), ("batch_size",)),
    ("workers", "a single prompt"): (Options("a"), ("workers",)),
    ("json", "prompts from a file"): (Options(), ("prompts", "out", "json")),
    ("trace", "several texts"): (Options(n=2), ("trace",)),
}  # fmt: skip


def test_every_row_of_the_table_has_an_example_here():
    assert EXAMPLES.keys() <= {(row.setting, row.beside) for row in COMBINATIONS}
    assert len(COMBINATIONS) == len({(row.setting, row.beside) for row in COMBINATIONS})


@pytest.mark.parametrize("row", EXAMPLES, ids=" / ".join)
def test_it_is_refused_by_name_with_the_reason(row):
    options, given = EXAMPLES[row]
    reason = next(each.reason for each in COMBINATIONS if (each.setting, each.beside) == row)
    with pytest.raises(UsageError) as refusal:
        check(options, frozenset(given))
    assert refusal.value.setting == row[0]
    assert refusal.value.message.endswith(f"with {row[1]}: {reason}")


@pytest.mark.parametrize("row", [row for row, (_, given) in EXAMPLES.items() if not given], ids=" / ".join)
def test_no_model_is_loaded_for_what_is_refused(row, monkeypatch):
    def load(*_):
        raise AssertionError("a model was loaded")

    monkeypatch.setattr(setup, "load", load)
    with pytest.raises(UsageError):
        setup.prepare(EXAMPLES[row][0])


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"temperature": -1.0}, "temperature"), ({"top_k": -1}, "top_k"), ({"top_p": 0.0}, "top_p"),
        ({"min_p": 1.5}, "min_p"), ({"typical_p": 0.0}, "typical_p"),
        ({"repetition_penalty": 0.0}, "repetition_penalty"), ({"presence_penalty": float("nan")}, "presence_penalty"),
        ({"frequency_penalty": float("inf")}, "frequency_penalty"),
        ({"logit_bias": {3: float("nan")}}, "logit_bias"), ({"min_tokens": -1}, "min_tokens"), ({"n": 0}, "n"),
        ({"seed": -1}, "seed"), ({"rule": "nobody"}, "rule"), ({"tree": "x", "rule": "tree"}, "tree"),
        ({"stop": ("",)}, "stop"), ({"bad_words": ("",)}, "bad_words"), ({"draft_sampling": "odd"}, "draft_sampling"),
        ({"target": "tiny:nobody"}, "target"), ({"drafter": "ngram:5-2"}, "drafter"), ({"drafter": "who"}, "drafter"),
        ({"num_speculative_tokens": -1}, "num_speculative_tokens"), ({"max_tokens": -1}, "max_tokens"),
    ],
    ids=str,
)  # fmt: skip
def test_a_value_out_of_range_is_refused_before_a_model_is_loaded(settings, named, monkeypatch):
    monkeypatch.setattr(setup, "load", lambda *_: pytest.fail("a model was loaded"))
    with pytest.raises(UsageError) as refusal:
        setup.prepare(replace(Options("a"), **settings))
    assert refusal.value.setting == named


def test_the_defaults_go_together_and_so_does_each_control_with_every_rule():
    check(Options())
    for rule in RULES:
        check(Options(rule=rule, min_p=0.1, stop=("x",), repetition_penalty=1.2, n=4, min_tokens=3, regex=""))


def test_the_docs_can_print_the_table():
    lines = table().splitlines()
    assert len(lines) == 2 + len(COMBINATIONS)
    assert all(line.startswith("| ") and line.count("|") == 4 for line in lines[2:])
