"""What llama.cpp is told and what is made of its replies, without it; with it, that numbers and counters are right."""

import json
import math
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType

import numpy as np
import pytest

from draftproof import load
from draftproof.audit import probe
from draftproof.audit.catalogue import chosen
from draftproof.audit.environments import python_for
from draftproof.audit.exports.gguf import export
from draftproof.audit.process import Process, SubjectFailureError
from draftproof.audit.subjects import llamacpp

NEUTRAL = {
    "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0,
    "temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0,
}  # fmt: skip
SUBJECT: dict = {}
PROMPTS = [[1, 3 + i, 30, 12, 9, 40, 3 + i, 30] for i in range(8)]


class Tree:
    """Parameters that may be set at any depth."""

    def __getattr__(self, name):
        setattr(self, name, Tree())
        return self.__dict__[name]


class Names:
    """An enumeration: every member is its name."""

    def __getattr__(self, name):
        return name


class Served(BaseHTTPRequestHandler):
    """Draws one token after another from 5 on, as `llama-server` replies; a prompt of one token is one too few."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(told)
        chances = [{"id": 5 + i, "prob": 0.5 * (i > 0)} for i in range(told["n_predict"])]
        reply = {
            "tokens": [one["id"] for one in chances], "completion_probabilities": chances, "stop_type": "limit",
            "timings": {"draft_n": 4, "draft_n_accepted": 1} if told["seed"] % 2 else {},
        }  # fmt: skip
        if len(told["prompt"]) < 2:
            reply = {"error": {"code": 400, "message": "the prompt is too short"}}
        content = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Library(ModuleType):
    """xllamacpp, as far as the subject knows it."""

    __version__ = "0"
    ggml_type = llama_flash_attn_type = common_speculative_type = Names()
    CommonParams = Tree

    def __init__(self):
        super().__init__("xllamacpp")
        self.served = ThreadingHTTPServer(("127.0.0.1", 0), Served)
        self.served.asked = []
        threading.Thread(target=self.served.serve_forever, args=(0.01,), daemon=True).start()

    def Server(self, parameters):  # noqa: N802 (its name there)
        self.parameters = parameters
        if parameters.model.path.endswith("broken.gguf"):
            raise RuntimeError("no such format")
        parameters.listening_address = f"http://127.0.0.1:{self.served.server_port}"
        return parameters


@pytest.fixture
def library(monkeypatch):
    made = Library()
    monkeypatch.setitem(sys.modules, "xllamacpp", made)
    yield made
    made.served.shutdown()
    made.served.server_close()


@pytest.fixture
def asked(tmp_path):
    def told(**changes):
        for name in ("target.gguf", "draft.gguf", "broken.gguf"):
            (tmp_path / name).touch()
        return {
            "target": str(tmp_path / "target.gguf"), "drafter": str(tmp_path / "draft.gguf"), "speculative": True,
            "method": "draft", "num_speculative_tokens": 3, "settings": NEUTRAL, "max_tokens": 4, "options": SUBJECT,
        } | changes  # fmt: skip

    return told


def requests(*seeds, prompt=(1, 7, 9)):
    return [{"prompt": list(prompt), "seed": seed, "max_tokens": 3} for seed in seeds]


def test_every_setting_is_handed_over_neutral_or_not(library, asked):
    running = llamacpp.start(asked(settings=NEUTRAL | {"temperature": 0.5, "top_k": 9.0}))
    running.sample(requests(8))
    told = library.served.asked[0]
    expected = {
        "repeat_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "temperature": 0.5, "top_k": 9,
        "top_p": 1.0, "min_p": 0.0, "typical_p": 1.0, "seed": 8, "n_predict": 3, "prompt": [1, 7, 9],
    }  # fmt: skip
    assert expected.items() <= told.items()
    assert told["repeat_last_n"] == llamacpp.OPTIONS["context"]  # penalties look at the whole text


def test_samplers_come_in_the_order_of_the_claims(library, asked):
    llamacpp.start(asked()).sample(requests(8))
    theirs = {"repetition_penalty": "penalties", "typical_p": "typ_p"}
    assert library.served.asked[0]["samplers"] == [theirs.get(name, name) for name in llamacpp.CLAIMS]


def test_answers_come_in_the_order_of_their_requests_each_with_its_own_seed(library, asked):
    prompts = [[1, i] for i in range(40)]
    told = [{"prompt": prompt, "seed": i, "max_tokens": 1 + i % 5} for i, prompt in enumerate(prompts)]
    answers = llamacpp.start(asked()).sample(told)
    assert [len(answer["tokens"]) for answer in answers] == [1 + i % 5 for i in range(40)]
    assert sorted((one["seed"], one["prompt"]) for one in library.served.asked) == list(enumerate(prompts))


def test_probabilities_become_logarithms(library, asked):
    answer = llamacpp.start(asked()).sample(requests(8))[0]
    assert answer == {"tokens": [5, 6, 7], "logprobs": [-math.inf, math.log(0.5), math.log(0.5)]}


def test_what_was_drafted_adds_up_and_none_is_nothing(library, asked):
    running = llamacpp.start(asked())
    running.sample(requests(1, 2, 3))
    running.sample(requests(5))
    assert running.counters() == {"drafted": 12, "accepted": 3}


@pytest.mark.parametrize(("method", "kind"), [
    ("draft", "DRAFT_SIMPLE"), ("draft-probabilistic", "DRAFT_SIMPLE"), ("ngram-simple", "NGRAM_SIMPLE"),
    ("ngram-map-k", "NGRAM_MAP_K"), ("ngram-map-k4v", "NGRAM_MAP_K4V"), ("ngram-mod", "NGRAM_MOD"),
])  # fmt: skip
def test_a_method_is_set_with_its_length(library, asked, method, kind):
    llamacpp.start(asked(method=method))
    told = library.parameters.speculative
    assert told.types == [f"COMMON_SPECULATIVE_TYPE_{kind}"]
    assert told.draft.n_max == told.ngram_simple.size_m == told.ngram_mod.n_max == 3
    if method in llamacpp.DRAFTED:
        assert told.draft.probabilistic == (method == "draft-probabilistic")
        assert told.draft.mparams.path.endswith("draft.gguf")


def test_the_control_arm_is_started_without_speculation(library, asked):
    llamacpp.start(asked(speculative=False))
    assert "types" not in vars(library.parameters.speculative)
    assert "mparams" not in vars(library.parameters.speculative.draft)


def test_numbers_are_float32_in_both_models(library, asked):
    llamacpp.start(asked())
    for model in (library.parameters, library.parameters.speculative.draft):
        assert model.cache_type_k == model.cache_type_v == "GGML_TYPE_F32"
    assert library.parameters.flash_attn_type == "LLAMA_FLASH_ATTN_TYPE_DISABLED"


def test_options_are_numbers_written_as_text(library, asked):
    llamacpp.start(asked(options=SUBJECT | {"slots": "2", "context": "100", "threads": "3"}))
    assert (library.parameters.n_parallel, library.parameters.n_ctx) == (2, 200)
    assert library.parameters.cpuparams.n_threads == 3


@pytest.mark.parametrize(("changes", "message"), [
    ({"target": "/nowhere.gguf"}, r"/nowhere\.gguf: no such file"),
    ({"drafter": ""}, "got no drafter"),
    ({"method": "eagle"}, "got method eagle; allowed are draft,"),
    ({"method": "ngram-cache"}, "always drafts 8"),
    ({"settings": NEUTRAL | {"presence_penalty": 0.5}}, "got presence_penalty 0.5; llama.cpp counts the prompt"),
    ({"settings": NEUTRAL | {"top_a": 0.5}}, "got top_a; allowed are repetition_penalty"),
    ({"options": {"layers": "2"}}, "got options layers; allowed are context"),
])  # fmt: skip
def test_what_cannot_be_is_refused_by_name(library, asked, changes, message):
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        llamacpp.start(asked(**changes))


def test_a_server_that_does_not_start_names_the_files(library, asked, tmp_path):
    with pytest.raises(RuntimeError, match=r"broken\.gguf and .*draft\.gguf: no such format"):
        llamacpp.start(asked(target=str(tmp_path / "broken.gguf")))


def test_what_the_server_refuses_is_told_in_its_words(library, asked):
    with pytest.raises(RuntimeError, match="the prompt is too short"):
        llamacpp.start(asked()).sample(requests(1, prompt=(1,)))


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    folder, processes = tmp_path_factory.mktemp("pair"), []
    probe.make(folder, 64, seed=3)
    for name in ("target", "draft"):
        export(folder / name, folder / f"{name}.gguf")

    def start(method="draft", speculative=True, drafts=3, **settings):
        told = {
            "target": str(folder / "target.gguf"), "drafter": str(folder / "draft.gguf"), "speculative": speculative,
            "method": method, "num_speculative_tokens": drafts, "settings": NEUTRAL | settings, "max_tokens": 24,
            "options": SUBJECT,
        }  # fmt: skip
        subject = chosen("llamacpp")
        processes.append(Process(python_for(subject, ""), subject.file, told, 60))
        return processes[-1]

    yield folder, start
    for process in processes:
        process.close()


def sampled(process, count=64):
    told = [{"prompt": PROMPTS[i % len(PROMPTS)], "seed": 7 + i, "max_tokens": 24} for i in range(count)]
    answers, counters = process.sample(told, 120)
    for answer in answers:
        ends = [token == probe.EOS for token in answer["tokens"]]
        assert len(ends) == 24 or ends[-1]
        assert not any(ends[:-1])
    return told, answers, counters


@pytest.mark.engines
@pytest.mark.parametrize("settings", [{}, {"temperature": 0.7, "top_k": 10, "top_p": 0.9}])
def test_without_speculation_log_probabilities_are_those_of_our_model(started, settings):
    from draftproof.types import Text
    from draftproof.warpers.pipeline import sampling

    folder, start = started
    model, worst = load(f"tiny:{folder / 'target'}", "target").model, 0.0
    told, answers, counters = sampled(start(speculative=False, **settings))
    for request, answer in zip(told, answers, strict=True):
        prompt, tokens = request["prompt"], answer["tokens"]
        rows = model.fresh().extend([*prompt, *tokens[:-1]], len(tokens))
        texts = [Text([*prompt, *tokens[:i]], len(prompt)) for i in range(len(tokens))]
        laws = sampling(**settings).laws(rows, "logits", texts)
        worst = max(worst, np.abs(np.log(laws[range(len(tokens)), tokens]) - answer["logprobs"]).max())
    assert worst < 2e-5  # float32 in another order: 5e-6 was seen
    assert counters == {"drafted": 0, "accepted": 0}


@pytest.mark.engines
@pytest.mark.parametrize("method", llamacpp.METHODS)
def test_every_method_drafts(started, method):
    _, _, counters = sampled(started[1](method, drafts=8 if method == "ngram-cache" else 3))
    assert counters["drafted"] > 0
    assert counters["accepted"] <= counters["drafted"]


@pytest.mark.engines
def test_a_prompt_that_is_too_long_is_an_error_in_words(started):
    with pytest.raises(SubjectFailureError, match="exceeds the available context size"):
        started[1]().sample([{"prompt": [1] * 600, "seed": 1, "max_tokens": 2}], 60)
