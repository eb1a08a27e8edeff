"""A kept generation comes out the same again; what was changed in it is found where it was changed."""

import json
import shutil
from dataclasses import replace
from importlib.resources import files
from itertools import islice

import pytest

from draftproof.engine.options import Options
from draftproof.engine.rerun import first_difference, options_of, rerun, settings_of
from draftproof.engine.setup import prepare
from draftproof.engine.trace import follow
from draftproof.errors import UsageError
from draftproof.records import Trace

OPTIONS = Options("In the beginning", max_tokens=16, seed=3)
CASES = {
    "a chain": OPTIONS,
    "a tree": replace(OPTIONS, rule="traversal", tree="2,2", temperature=0.8),
    "coupled": replace(OPTIONS, rule="coupled", top_k=20, top_p=0.9),
    "greedy": replace(OPTIONS, temperature=0),
    "plain": replace(OPTIONS, drafter="none"),
    "nothing": replace(OPTIONS, max_tokens=0),
    "from nothing": replace(OPTIONS, prompt=""),
}


def passes_of(run):
    return run.engine.decode(run.prompt, run.stop, run.noise)


def generated(options, after=None):
    """Return the trace of a run, interrupted after so many passes."""
    run, shown = prepare(options), []

    def watch(done):
        shown.append(done)
        if len(shown) == after:
            raise KeyboardInterrupt

    return replace(follow(passes_of(run), run.prompt, watch), settings=settings_of(run))


@pytest.fixture(scope="module")
def trace():
    return generated(OPTIONS)


def refusal(trace):
    with pytest.raises(UsageError) as refused:
        rerun(trace)
    assert refused.value.setting == "trace"
    assert len(refused.value.message.splitlines()) == 1
    return refused.value.message


def tampered(trace, number, **parts):
    passes = list(trace.passes)
    passes[number] = replace(passes[number], **parts)
    return replace(trace, passes=tuple(passes))


@pytest.mark.parametrize("case", CASES)
def test_a_generation_that_is_run_again_is_the_same(case):
    found = generated(CASES[case])
    assert rerun(found).options == CASES[case]
    assert first_difference(found, passes_of(rerun(found))) is None


def test_an_interrupted_generation_is_run_again_up_to_its_end_and_no_further(trace):
    found = generated(OPTIONS, after=2)
    assert (found.finish_reason, found.passes) == ("interrupted", trace.passes[:2])
    coming = passes_of(rerun(found))
    assert first_difference(found, coming) is None
    assert next(coming).record() == trace.passes[2]


def test_one_changed_token_is_found_in_its_pass(trace):
    passes = list(passes_of(rerun(trace)))
    for number, record in enumerate(trace.passes):
        for name in ("drafted", "emitted"):
            ids = getattr(record, name)
            for i in range(len(ids)):
                other = (*ids[:i], ids[i] ^ 1, *ids[i + 1 :])
                assert first_difference(tampered(trace, number, **{name: other}), passes) == number


def test_another_decision_is_found_in_its_pass(trace):
    changed = tampered(trace, 1, accepted=(trace.passes[1].accepted + 1) % 4)
    assert first_difference(changed, passes_of(rerun(changed))) == 1


def test_another_end_is_found_after_the_last_pass(trace):
    short = replace(trace, passes=trace.passes[:-1])
    assert first_difference(short, passes_of(rerun(short))) == len(short.passes)
    renamed = replace(trace, finish_reason="stop")
    assert first_difference(renamed, passes_of(rerun(renamed))) == len(trace.passes)


def test_a_text_that_goes_on_where_the_run_has_ended_is_found(trace):
    passes = list(islice(passes_of(rerun(trace)), len(trace.passes) - 1))
    assert first_difference(trace, passes) == len(trace.passes) - 1


def test_seconds_and_estimates_are_no_difference(trace):
    changed = replace(tampered(trace, 0, expected_accepted=0.5), seconds=9.0)
    assert first_difference(changed, passes_of(rerun(changed))) is None


def test_settings_name_the_models_that_were_read():
    assert settings_of(prepare(OPTIONS))["fingerprints"].keys() == {"tiny:target", "tiny:draft"}
    plain = settings_of(prepare(replace(OPTIONS, no_speculation=True)))
    assert plain["fingerprints"].keys() == {"tiny:target"}
    assert options_of(plain) == replace(OPTIONS, no_speculation=True)
    assert json.loads(json.dumps(plain)) == plain


def test_a_trace_without_settings_is_refused():
    assert "no settings" in refusal(Trace((0,), (), "length", 0.0))


def test_settings_that_no_run_can_have_are_refused(trace):
    for change in ({"temperature": -1.0}, {"rule": "lossy"}, {"tree": "2"}, {"prompt": "\ud800"}, {"top_p": 7}):
        assert next(iter(change)) in refusal(replace(trace, settings=trace.settings | change))
    assert "seed" in refusal(replace(trace, settings=trace.settings | {"seed": "3"}))


def test_another_prompt_than_that_of_the_settings_is_refused(trace):
    assert "prompt" in refusal(replace(trace, prompt=(*trace.prompt[:-1], 5)))
    assert "prompt" in refusal(replace(trace, settings=trace.settings | {"prompt": "In the end"}))


def test_a_model_with_other_weights_or_none_is_refused(tmp_path):
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (tmp_path / name).write_bytes((files("draftproof") / "assets" / "draft" / name).read_bytes())
    spec = f"tiny:{tmp_path}"
    found = generated(replace(OPTIONS, drafter=spec, max_tokens=2))
    before = found.settings["fingerprints"][spec]
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert f"{spec} has other weights now ('{before}' then, " in refusal(found)
    shutil.rmtree(tmp_path)
    assert f"drafter: got {spec!r}" in refusal(found)


def test_a_model_whose_name_no_folder_can_have_is_refused(trace):
    change = {"target": "tiny:" + "n" * 5000, "fingerprints": {"tiny:" + "n" * 5000: "0"}}
    assert len(refusal(replace(trace, settings=trace.settings | change))) < 300  # the name alone has 5,000
