import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from draftproof.engine import traces
from draftproof.engine.loop import Engine
from draftproof.engine.setup import prepare
from draftproof.engine.trace import follow
from draftproof.errors import UsageError
from draftproof.explorer.generation import Generation, kept, options_of_state, prepared, tokens_per_pass
from draftproof.explorer.looking import ORIGINS, look, namer, place_of, places
from draftproof.explorer.replays import LARGEST_FILE, fitting, opened, read
from draftproof.explorer.state import State, changed, query_of, state_of
from draftproof.explorer.telling import told, told_all
from draftproof.records import Conclusion, PassRecord, Trace
from draftproof.redteam.base import Tamper
from draftproof.rules.catalogue import CHAIN_RULES
from draftproof.rules.token import acceptance_probabilities, residual_law
from draftproof.witness.account import Step

SHORT = State(max_tokens=16)
VALUES = re.compile(r'data-term="(\w+)" data-value="([^"]+)"')


def ended(generation):
    while not generation.reason:
        generation.go_on()
    return generation


@pytest.fixture(scope="module")
def block():
    return ended(prepared(SHORT))


@pytest.fixture(scope="module")
def saved(block):
    return kept(block)


@pytest.mark.parametrize("rule", CHAIN_RULES)
@pytest.mark.parametrize("k", [0, 3])
def test_the_passes_are_those_of_the_shipped_engine(rule, k):
    state = changed(SHORT, generation_rule=rule, k=k)
    generation = ended(prepared(state))
    run = prepare(options_of_state(state))
    shipped = follow(run.engine.decode(run.prompt, run.stop, run.noise), run.prompt)
    assert replace(generation.trace, seconds=0.0) == replace(shipped, seconds=0.0)
    assert generation.finding.verdict is Conclusion.LOSSLESS
    assert generation.certificate.positions == sum(len(done.target) for done in generation.passes)


def test_every_setting_of_the_state_reaches_the_run():
    state = changed(
        State(), prompt="x", drafter="tiny:target", k=5, max_tokens=7, temperature=0.5, generation_top_k=9,
        generation_top_p=0.75, generation_seed=4, generation_rule="coupled",
    )  # fmt: skip
    options = options_of_state(state)
    assert (options.prompt, options.drafter, options.num_speculative_tokens, options.max_tokens) == (
        "x", "tiny:target", 5, 7,
    )  # fmt: skip
    assert (options.temperature, options.top_k, options.top_p, options.seed) == (0.5, 9, 0.75, 4)
    assert options.rule == "coupled"
    assert state_of(dict(pair.split("=") for pair in query_of(state).split("&"))) == (state, [])


@pytest.mark.parametrize(
    "changes",
    [
        {"k": 17}, {"k": -1}, {"max_tokens": 0}, {"max_tokens": 513}, {"temperature": 2.5}, {"temperature": -1.0},
        {"temperature": float("nan")}, {"generation_top_k": -1}, {"generation_top_p": 1.5}, {"generation_seed": -1},
        {"drafter": "tiny:/etc"}, {"generation_rule": "tree"}, {"token": -1},
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_honoured_is_refused(changes):
    with pytest.raises(UsageError):
        changed(State(), **changes)


def test_a_stopped_generation_keeps_what_was_emitted_and_goes_no_further(block):
    generation = prepared(SHORT)
    generation.step()
    generation.step()
    generation.stop()
    generation.go_on()
    assert generation.records == block.records[:2]
    assert generation.reason == generation.trace.finish_reason == "interrupted"


def test_a_portion_is_at_least_a_pass():
    generation = prepared(SHORT)
    generation.go_on(seconds=0)
    assert len(generation.passes) == 1


def test_two_generations_do_not_disturb_each_other(block):
    one, other = prepared(SHORT), prepared(changed(SHORT, generation_seed=7))
    while one.step() or other.step():
        other.step()
    assert one.records == block.records
    assert other.records != block.records


class Raising:
    def __init__(self, engine: Engine, after: int) -> None:
        self.engine, self.after = engine, after

    def decode(self, prompt, stop, noise):
        for i, done in enumerate(self.engine.decode(prompt, stop, noise)):
            if i == self.after:
                raise ZeroDivisionError("<b>nothing</b> left")
            yield done


class Endless:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def decode(self, prompt, stop, noise):
        first = next(self.engine.decode(prompt, stop, noise))
        while True:
            yield replace(first, emitted=(), logprobs=(), finish_reason=None)


def tampered(apply):
    return Generation(prepared(SHORT).run, Tamper("broken", "", "", "", apply))


def test_an_engine_that_breaks_down_leaves_its_text_and_one_line(block):
    generation = ended(tampered(lambda engine: Raising(engine, 2)))
    assert generation.records == block.records[:2]
    assert generation.trouble == "broke down: ZeroDivisionError: <b>nothing</b> left"


def test_an_engine_that_cannot_be_put_together_breaks_down_too():
    def apply(engine):
        raise KeyError("part")

    generation = tampered(apply)
    assert generation.reason == "interrupted"
    assert generation.trouble == "broke down: KeyError: 'part'"


def test_an_engine_that_emits_nothing_comes_to_an_end():
    generation = ended(tampered(Endless))
    assert generation.trace.token_ids == ()
    assert len(generation.passes) == SHORT.max_tokens


@pytest.mark.parametrize("name", ["residual-is-the-target", "tree-slots-not-gathered", "rejected-draft-emitted"])
def test_a_tampered_engine_runs_and_every_token_of_it_can_be_asked(name):
    generation = ended(prepared(changed(SHORT, tamper=name)))
    found = [look(generation, i) for i in range(len(generation.trace.token_ids))]
    assert generation.rule == generation.tamper.rule
    assert any(found)


def test_the_certificate_of_a_tampered_residual_is_lossy():
    assert ended(prepared(changed(SHORT, tamper="residual-is-the-target"))).finding.verdict is Conclusion.LOSSY


def test_an_account_says_where_a_tampered_engine_leaves_its_rule():
    generation = ended(prepared(changed(SHORT, tamper="rejected-draft-emitted")))
    found = [look(generation, i) for i in range(len(generation.trace.token_ids))]
    assert any(one and one.difference for one in found)


def test_a_drafted_tree_has_laws_and_no_account():
    generation = ended(prepared(changed(SHORT, tamper="tree-slots-not-gathered")))
    found = look(generation, 0)
    assert found.steps == ()
    assert "step by step" in found.untold
    assert found.chosen.p > 0


def test_tokens_are_placed_in_their_passes():
    records = [PassRecord(3, (5, 6), 1, (5, 7), False, None), PassRecord(5, (8,), 1, (8, 9), True, None)]
    records.append(PassRecord(7, (), 0, (4,), True, None))
    assert [place.origin for place in places(records)] == ["accepted", "residual", "accepted", "bonus", "plain"]
    assert place_of(records, 3)[:3] == (1, 1, 9)
    assert place_of(records, 5) is None
    assert {place.origin for place in places(records)} == set(ORIGINS)


@pytest.mark.parametrize("rule", CHAIN_RULES)
def test_a_token_that_is_looked_at_has_the_numbers_of_its_pass(rule):
    generation = ended(prepared(changed(SHORT, generation_rule=rule)))
    for i, token in enumerate(generation.trace.token_ids):
        found = look(generation, i)
        done = generation.passes[found.place.number]
        assert (found.place.token, done.emitted[found.place.within]) == (token, token)
        assert found.row == found.place.within
        assert math.log(found.chosen.p) == done.logprobs[found.place.within]
        assert found.difference is None
        assert found.finding.verdict is Conclusion.LOSSLESS
        assert [one.p for one in found.others] == sorted((one.p for one in found.others), reverse=True)
        if found.row < len(done.draft):
            assert found.chosen.q == done.draft[found.row][token]
        else:
            assert found.chosen.q is None


def test_acceptance_and_residual_are_those_of_the_rule(block):
    generation = ended(prepared(changed(SHORT, generation_rule="token")))
    found = look(generation, 0)
    p, q = generation.passes[0].target[0], generation.passes[0].draft[0]
    for one in found.others:
        assert one.acceptance == acceptance_probabilities(p, q)[one.token]
        assert one.residual == residual_law(p, q)[one.token]
    weights = [look(block, i).weight for i in range(len(block.trace.token_ids))]
    assert weights[0] == 1
    assert min(weight for weight in weights if weight is not None) < 1


def test_the_last_step_of_an_account_is_the_last_token_of_its_pass(block):
    for number, done in enumerate(block.passes[:-1]):
        index = next(i for i, place in enumerate(places(block.records)) if place.number == number)
        assert look(block, index).steps[-1].token == done.emitted[-1]


def test_a_kept_generation_is_what_the_command_line_keeps(saved, tmp_path):
    assert saved.settings["rule"] == "block"
    assert saved.settings["seed"] == SHORT.generation_seed
    traces.save(saved, tmp_path / "trace.json")
    assert traces.read(tmp_path / "trace.json") == saved


def test_a_trace_that_is_run_again_comes_out_the_same(saved, block):
    again = opened(read(json.dumps(saved.to_json()).encode(), "trace.json"), trusted=False)
    assert again.reason == ""
    ended(again.generation)
    assert again.generation.records == block.records
    assert again.generation.compared() == f"replayed: all {len(block.records)} passes came out the same"


def test_a_trace_that_says_otherwise_is_told_by_pass(saved):
    third = replace(saved.passes[2], emitted=(*saved.passes[2].emitted[:-1], 1))
    other = replace(saved, passes=(*saved.passes[:2], third, *saved.passes[3:]))
    generation = ended(opened(other, trusted=False).generation)
    assert generation.compared() == "replayed: pass 2 came out otherwise than in the file"


def test_an_interrupted_trace_is_run_as_far_as_it_goes(saved):
    short = replace(saved, passes=saved.passes[:2], finish_reason="interrupted")
    generation = ended(opened(short, trusted=False).generation)
    assert generation.reason == "interrupted"
    assert generation.compared() == "replayed: all 2 passes came out the same"


def test_a_replay_that_is_stopped_compares_what_was_run(saved):
    generation = opened(saved, trusted=False).generation
    generation.step()
    generation.stop()
    assert generation.compared() == f"replayed: the first 1 of {len(saved.passes)} passes came out the same"


def with_settings(trace, **settings):
    return replace(trace, settings=trace.settings | settings)


def test_a_trace_that_cannot_be_run_again_is_shown_with_the_reason(saved):
    prints = saved.settings["fingerprints"] | {"tiny:target": "0" * 12}
    for other, reason, known in (
        (replace(saved, settings={}), "no settings", False),
        (with_settings(saved, fingerprints=prints), "other weights", False),
        (with_settings(saved, num_speculative_tokens=65), "more than 64", True),
        (with_settings(saved, tree="9,9", rule="tree"), "more than 64", True),
    ):
        found = opened(other, trusted=True)
        assert found.generation is None
        assert reason in found.reason
        assert (found.tokenizer is not None) is known


def test_an_opened_file_cannot_make_the_page_load_other_models(saved):
    prints = {"tiny:target": saved.settings["fingerprints"]["tiny:target"], "tiny:/etc": "0" * 12}
    found = opened(with_settings(saved, drafter="tiny:/etc", fingerprints=prints), trusted=False)
    assert found.generation is None
    assert "only the embedded pair" in found.reason


def test_settings_of_a_trace_become_those_of_the_page_where_they_fit(saved):
    assert changed(State(max_tokens=99, temperature=1.5), **fitting(State(), saved)) == SHORT
    fits = fitting(State(), with_settings(saved, max_tokens=900, rule="tree", no_speculation=True, prompt="<i>"))
    assert fits["prompt"] == "<i>"
    assert fits["k"] == 0
    assert not {"max_tokens", "generation_rule"} & set(fits)
    assert fitting(State(), replace(saved, settings={})) == {}


def test_a_file_that_is_no_trace_is_refused_by_its_own_name():
    with pytest.raises(UsageError, match=r"got 'my.json', which is no JSON"):
        read(b"{", "my.json")
    with pytest.raises(UsageError, match="allowed are 4,000,000"):
        read(b" " * (LARGEST_FILE + 1), "my.json")


def test_tokens_a_pass_has_no_answer_before_the_first(block):
    assert tokens_per_pass(Trace((1,), (), "length", 0.0)) is None
    assert tokens_per_pass(block.trace) == len(block.trace.token_ids) / len(block.passes)


LAW = np.array([0.25, 0.5, 0.25])
OTHER = np.array([0.125, 0.75, 0.125])


def name(token):
    return f"<{token}>"


def numbers_in(words):
    return {term: float(value) for term, value in VALUES.findall(words)}


def test_a_test_is_told_with_its_uniform_its_bound_and_both_laws():
    step = Step("test", 1, 1, 0.1 + 0.2, bound=2 / 3, passed=True)
    words = told(step, LAW, OTHER, name)
    assert numbers_in(words) == {"p": 0.5, "q": 0.75, "u": 0.1 + 0.2, "bound": 2 / 3}
    assert "✓ passes" in words
    assert "&lt; " in words
    assert "✗ fails" in told(replace(step, uniform=0.9, passed=False), LAW, OTHER, name)
    assert set(numbers_in(told(step, None, None, name))) == {"u", "bound"}


@pytest.mark.parametrize("act", ["draft", "residual", "bonus", "own"])
def test_a_draw_is_told_with_its_uniform_and_its_share(act):
    words = told(Step(act, 0, 1, 0.3, LAW, passed=True if act == "own" else None), LAW, None, name)
    assert numbers_in(words) == {"chance": 0.5, "u": 0.3}
    assert 'data-value="0.25"' in words
    assert 'data-value="0.75"' in words
    assert ("✓ the drafted one" in words) == (act == "own")


def test_a_race_is_told_with_the_noise_of_its_winner():
    step = Step("own", 0, 2, law=LAW, passed=False, exponentials=np.array([1.0, 2.0, 0.125]))
    words = told(step, LAW, LAW, name)
    assert numbers_in(words) == {"chance": 0.25, "noise": 0.125}
    assert "✗ not the drafted one" in words


def test_names_of_tokens_are_escaped():
    for act in ("draft", "test", "residual", "bonus", "own"):
        words = told(Step(act, 0, 1, 0.5, LAW, 0.5, passed=False), LAW, OTHER, lambda _: "<script>&")
        assert "<script>" not in words
        assert "&lt;script&gt;&amp;" in words


def test_all_steps_of_a_real_pass_are_told(block):
    found, done = look(block, 0), block.passes[0]
    words = told_all(found.steps, done.target, done.draft, namer(block.run.tokenizer))
    assert words.count("<li ") == len(found.steps)
    for step in found.steps:
        assert f'data-value="{step.uniform!r}"' in words


def test_tokens_have_names_that_can_be_seen(block):
    name_of = namer(block.run.tokenizer)
    assert name_of(block.trace.token_ids[0]).startswith("␣")
    assert name_of(10**6) == "#1000000"
    assert name_of(-1) == "#-1"
    assert namer(None)(7) == "#7"
