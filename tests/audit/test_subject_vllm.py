"""What vLLM is told and what is made of its results, without it; with it, that numbers, texts and counters fit."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from draftproof import load
from draftproof.audit import host, probe
from draftproof.audit.catalogue import chosen
from draftproof.audit.environments import python_for
from draftproof.audit.options import NEUTRAL
from draftproof.audit.process import Process, SubjectFailureError
from draftproof.audit.subjects import vllm as subject
from draftproof.types import Text
from draftproof.warpers.pipeline import sampling

LIBRARY = '''
"""vllm, as far as the subject knows it: every text is its prompt. What it is told is written down beside it."""

import importlib, os, subprocess, sys
from pathlib import Path
from types import SimpleNamespace

__version__ = "0"
LINES = Path(__file__).with_name("told.txt")


def seen(name):
    """Whether a library can be imported here, and in a process that is started from here."""
    try:
        importlib.import_module(name)
    except ImportError:
        here = False
    else:
        here = True
    return here, subprocess.run([sys.executable, "-c", f"import {name}"], stderr=subprocess.DEVNULL).returncode == 0


class SamplingParams:
    def __init__(self, **told):
        self.told = told


class LLM:
    def __init__(self, **told):
        self.drafted = 0
        self.llm_engine = SimpleNamespace(engine_core=self)
        environment = {name: os.environ[name] for name in ("OMP_NUM_THREADS", "VLLM_CPU_KVCACHE_SPACE")}
        libraries = {name: seen(name) for name in ("torchvision", "json")}
        self.write({"engine": told, "environment": environment, "libraries": libraries})

    def write(self, what):
        with LINES.open("a") as file:
            file.write(repr(what) + "\\n")

    def generate(self, prompts, params, use_tqdm):
        self.drafted += 3 * len(prompts)
        self.write({"requests": [one.told for one in params]})
        return [SimpleNamespace(outputs=[made(one["prompt_token_ids"], two.told)]) for one, two in zip(prompts, params)]

    def get_metrics(self):
        counts = {"num_draft_tokens": self.drafted, "num_accepted_tokens": self.drafted // 3}
        named = [SimpleNamespace(name=f"vllm:spec_decode_{name}", value=count) for name, count in counts.items()]
        return [SimpleNamespace(name="vllm:histogram", count=1), *named]

    def shutdown(self):
        self.write("closed")


def made(tokens, told):
    reported = [{token: SimpleNamespace(logprob=-float(token)), 99: None} for token in tokens]
    return SimpleNamespace(token_ids=tuple(tokens), logprobs=None if told["logprobs"] is None else reported)
'''


@pytest.fixture
def library(tmp_path):
    """Return a function that starts the subject with the library above, samples and ends it."""
    (tmp_path / "vllm.py").write_text(LIBRARY)
    (tmp_path / "torchvision.py").touch()
    (tmp_path / "torch-1.dist-info").mkdir()
    (tmp_path / "torch-1.dist-info" / "METADATA").write_text("Name: torch\nVersion: 1\n")
    for name in ("target", "draft"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").touch()

    def run(requests=(), speculative=True, method="draft-greedy", settings=(), options=(), **changes):
        told = asked(tmp_path, method, speculative, dict(settings), dict(options)) | changes
        lines = [json.dumps(one) + "\n" for one in ({"start": told}, *({"sample": one} for one in requests))]
        environment = {name: value for name, value in os.environ.items() if name not in subject.ENVIRONMENT}
        done = subprocess.run(
            [sys.executable, "-P", host.__file__, subject.__file__], input="".join(lines),
            env=environment | {"PYTHONPATH": str(tmp_path), "OMP_NUM_THREADS": "2"},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        written = tmp_path / "told.txt"
        heard = [eval(line) for line in written.read_text().splitlines()] if written.exists() else []  # noqa: S307
        return [json.loads(line) for line in done.stdout.splitlines()], heard

    return run


def asked(folder, method, speculative, settings, options):
    return {
        "target": str(folder / "target"), "drafter": str(folder / "draft"), "speculative": speculative,
        "method": method, "num_speculative_tokens": 3, "settings": NEUTRAL | settings, "max_tokens": 24,
        "options": options,
    }  # fmt: skip


def request(*prompt, seed=5):
    return {"prompt": list(prompt), "seed": seed, "max_tokens": 4}


def test_every_setting_is_handed_over_neutral_or_not(library):
    _, heard = library([[request(1, 7), request(1, seed=6)]], settings={"top_p": 0.9, "top_k": 5.0})
    shared = NEUTRAL | {"top_p": 0.9, "top_k": 5, "max_tokens": 4, "min_tokens": 0, "logprobs": 0, "detokenize": False}
    assert heard[1] == {"requests": [shared | {"seed": 5}, shared | {"seed": 6}]}
    assert isinstance(heard[1]["requests"][0]["top_k"], int)


def test_texts_are_decoded_together_and_come_with_log_probabilities_and_counters(library):
    said, _ = library([[request(1, 7), request(2)], [request(3)]])
    assert said[0] == {"versions": {"vllm": "0", "torch": "1"}}
    assert said[1]["answers"] == [{"tokens": [1, 7], "logprobs": [-1.0, -7.0]}, {"tokens": [2], "logprobs": [-2.0]}]
    assert said[1]["counters"] == {"drafted": 6, "accepted": 2}
    assert said[2] == {"answers": [{"tokens": [3], "logprobs": [-3.0]}], "counters": {"drafted": 9, "accepted": 3}}


def test_a_greedy_text_has_no_log_probabilities(library):
    said, heard = library([[request(1, 7)]], settings={"temperature": 0.0})
    assert said[1]["answers"] == [{"tokens": [1, 7]}]
    assert heard[1]["requests"][0]["temperature"] == 0


def test_numbers_are_float32_and_log_probabilities_come_after_all_settings(library, tmp_path):
    _, heard = library(speculative=False)
    assert heard[0]["engine"] == {
        "model": str(tmp_path / "target"), "dtype": "float32", "enforce_eager": True, "max_model_len": None,
        "enable_prefix_caching": False, "logprobs_mode": "processed_logprobs", "disable_log_stats": False,
    }  # fmt: skip
    assert heard[-1] == "closed"


@pytest.mark.parametrize(("method", "told"), [
    ("draft-greedy", {"method": "draft_model", "model": "draft", "draft_sample_method": "greedy"}),
    ("draft-probabilistic", {"method": "draft_model", "model": "draft", "draft_sample_method": "probabilistic"}),
    ("ngram", {"method": "ngram", "prompt_lookup_min": 1, "prompt_lookup_max": 4}),
    ("suffix", {"method": "suffix"}),
])  # fmt: skip
def test_a_method_is_named_as_the_engine_names_it(library, tmp_path, method, told):
    _, heard = library(method=method, options={"prompt_lookup_max": "4"})
    found = heard[0]["engine"]["speculative_config"]
    if "model" in told:
        told = told | {"model": str(tmp_path / told["model"])}
    assert found == told | {"num_speculative_tokens": 3, "rejection_sample_method": "standard"}


def test_what_text_does_not_need_is_hidden_here_and_in_processes_started_meanwhile(library):
    _, heard = library()
    assert heard[0]["libraries"] == {"torchvision": (False, False), "json": (True, True)}


def test_the_environment_is_what_the_user_set_and_else_what_a_small_machine_can_do(library):
    _, heard = library()
    assert heard[0]["environment"] == {"OMP_NUM_THREADS": "2", "VLLM_CPU_KVCACHE_SPACE": "1"}


@pytest.mark.parametrize(("changes", "message"), [
    ({"target": "/nowhere"}, "got '/nowhere', which is no folder with a config.json"),
    ({"drafter": ""}, "got '', which is no folder with a config.json"),
    ({"method": "eagle"}, "got method eagle; allowed are draft-greedy, draft-probabilistic, ngram, suffix"),
    ({"options": {"layers": "2"}}, "got option layers; allowed are max_model_len"),
])  # fmt: skip
def test_what_cannot_be_is_refused_by_name(library, changes, message):
    said, heard = library(**changes)
    assert len(said) == 1
    assert said[0]["error"].startswith(message)
    assert not heard


PROMPTS = [{"prompt": [1, 3 + i, 30, 12, 9, 3 + i, 30], "seed": 7 + i, "max_tokens": 24} for i in range(16)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("pair")
    probe.make(made, 64, seed=3)
    return made


@pytest.fixture(scope="module")
def sample(folder):
    """Return a function that starts vLLM, samples the prompts and ends it: it takes 1.7 GB while it is there."""
    library = chosen("vllm")
    python = python_for(library, "")

    def sampled(method="draft-greedy", speculative=True, **settings):
        process = Process(python, library.file, asked(folder, method, speculative, settings, {}), 600)
        try:
            return process.sample(PROMPTS, 300)
        finally:
            process.close()

    return sampled


@pytest.mark.engines
@pytest.mark.parametrize("settings", [{}, {"temperature": 0.7, "top_k": 12, "top_p": 0.9, "repetition_penalty": 1.2,
                                           "presence_penalty": 0.3, "frequency_penalty": 0.2}])  # fmt: skip
def test_without_speculation_log_probabilities_are_those_of_our_law(sample, folder, settings):
    answers, counters = sample(speculative=False, **settings)
    model = load(f"tiny:{folder / 'target'}", "target").model
    for one, answer in zip(PROMPTS, answers, strict=True):
        prompt, tokens = one["prompt"], answer["tokens"]
        texts = [Text([*prompt, *tokens[:i]], len(prompt)) for i in range(len(tokens))]
        rows = model.fresh().extend([*prompt, *tokens[:-1]], len(tokens))
        laws = sampling(**NEUTRAL | settings).laws(rows, "logits", texts)
        # Two float32 networks, sums in another order: 5e-6 was seen, a wrong setting is off by tenths.
        assert np.abs(np.log(laws[range(len(tokens)), tokens]) - answer["logprobs"]).max() < 5e-5
        assert len(tokens) == 24 or tokens[-1] == probe.EOS
    assert counters == {"drafted": 0, "accepted": 0}


@pytest.mark.engines
def test_a_greedy_text_is_the_same_with_speculation_and_without(sample):
    plain, _ = sample(speculative=False, temperature=0.0)
    for method in subject.METHODS:
        answers, counters = sample(method, temperature=0.0)
        assert answers == plain
        assert 0 < counters["accepted"] <= counters["drafted"]


@pytest.mark.engines
def test_min_p_is_refused_while_it_speculates(sample):
    with pytest.raises(SubjectFailureError, match="min_p"):
        sample("ngram", min_p=0.1)
