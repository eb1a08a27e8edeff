"""Servers that speak OpenAI's completions, each in its own way; of one that returns text only, texts are compared."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from draftproof.audit import probe
from draftproof.audit.black_box import BlackBox
from draftproof.audit.options import NEUTRAL, Options
from draftproof.audit.outcome import Cause
from draftproof.audit.runner import Audit
from draftproof.audit.subjects import http
from draftproof.models.catalogue import load
from draftproof.warpers.temperature import Temperature
from draftproof.witness.verdict import Verdict

METRICS = 'vllm:spec_decode_num_draft_tokens_total{{model="m"}} {}.0\nvllm:spec_decode_num_accepted_tokens_total 3.0\n'


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pair")
    probe.make(folder, 64)
    return folder


@contextmanager
def server(pair, form, drafted=8, alter=lambda tokens: tokens):
    """Serve the target of a pair, drawn plainly; `form` makes a choice of tokens and their strings."""
    model, tokenizer = load(f"tiny:{pair / 'target'}", "target")
    names = {token: word for word, token in tokenizer.vocabulary.items()}
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            found = {"/v1/models": json.dumps({"data": [{"id": "m"}]}), "/version": json.dumps({"version": "9.9"})}
            found["/metrics"] = METRICS.format(drafted * len(seen))
            self._say(200 if self.path in found else 404, found.get(self.path, "none"))

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(asked)
            random, text = np.random.default_rng(asked["seed"]), asked["prompt"]
            text = tokenizer.encode(text) if isinstance(text, str) else list(text)
            before = len(text)
            reading = model.fresh()
            row = reading.extend(text, 1)
            logprobs = []
            for _ in range(asked["max_tokens"]):
                law = Temperature(asked["temperature"]).laws(row, "logits")[0]
                text.append(int(random.choice(64, p=law)))
                logprobs.append(float(np.log(law[text[-1]])))
                row = reading.extend(text[-1:], 1)
            tokens = alter(text[before:])
            found = form(tokens, [names[token] for token in tokens], logprobs)
            self._say(*(found if isinstance(found, tuple) else (200, json.dumps({"choices": [found]}))))

        def _say(self, status, text):
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{running.server_port}", seen
    finally:
        running.shutdown()
        running.server_close()


def as_ids(tokens, words, logprobs):
    return {"token_ids": tokens, "logprobs": {"token_logprobs": logprobs}, "finish_reason": "length"}


FORMS = {
    "vLLM's ids": as_ids,
    "llama.cpp's ids": lambda tokens, words, logprobs: {"tokens": tokens},
    "words that are ids": lambda tokens, words, logprobs: {"logprobs": {"tokens": [f"token_id:{t}" for t in tokens]}},
    "ids of a content": lambda tokens, words, logprobs: {
        "logprobs": {"content": [{"id": t, "token": "?"} for t in tokens]}
    },
    "exact strings": lambda tokens, words, logprobs: {"logprobs": {"tokens": words, "token_logprobs": logprobs}},
}


def audited(pair, address, **asked):
    few = {"max_tokens_total": 600, "batch_size": 8, "max_tokens": 16, "settings": NEUTRAL}
    own = {"target": f"tiny:{pair / 'target'}", "drafter": f"tiny:{pair / 'draft'}"}
    prompts = pair / "prompts.txt"
    prompts.write_text("0ABC\nDEFG\n", encoding="utf-8")
    return Audit(Options(f"http:{address}", prompts=prompts, **few | own | asked)).run(lambda _, __: None)


@pytest.mark.parametrize("name", FORMS)
def test_ids_are_found_in_every_way_that_servers_have(name, pair):
    with server(pair, FORMS[name]) as (address, seen):
        found = audited(pair, address)
    assert (found.cause, found.control) == (Cause.MORE, None)
    assert found.tokens >= 500
    assert found.log_evidence < 5
    assert len({one["seed"] for one in seen}) == len(seen) - 1  # one request was repeated on purpose
    assert {"temperature", "top_k", "top_p", "min_p"} <= set(seen[0])


def test_versions_and_counters_come_from_the_same_address(pair):
    with server(pair, as_ids) as (address, _):
        found = audited(pair, address)
    assert found.versions == {"server": "9.9", "model": "m"}
    assert not any("no counters" in note for note in found.notes)


def test_a_second_address_is_the_control_arm(pair):
    with server(pair, as_ids, drafted=0) as (control, seen), server(pair, as_ids) as (address, _):
        found = audited(pair, address, control=control, max_tokens_total=3000)
    assert found.control["tokens"] >= 2000
    assert seen


def test_a_wrong_law_is_convicted_over_http(pair):
    with server(pair, as_ids, alter=lambda tokens: [token if token % 3 else 5 for token in tokens]) as (address, _):
        found = audited(pair, address, max_tokens_total=3000)
    assert found.verdict is Verdict.DRIFT
    assert "no control arm" in found.reason


@pytest.mark.parametrize(
    ("form", "told"),
    [
        (lambda tokens, words, logprobs: {"text": "".join(words)}, "text only"),
        (lambda tokens, words, logprobs: (500, "out of\nmemory"), "status 500: out of memory"),
        (lambda tokens, words, logprobs: {"logprobs": {"tokens": ["no such word"] * 16}}, "is the string of 0 tokens"),
        (lambda tokens, words, logprobs: {"token_ids": tokens[:5]}, "cuts completions"),
    ],
)
def test_what_cannot_be_scored_is_a_result_that_says_why(form, told, pair):
    with server(pair, form) as (address, _):
        found = audited(pair, address)
    assert (found.verdict, found.cause) == (Verdict.INCONCLUSIVE, Cause.FAILURE)
    assert told in found.reason


def test_text_alone_is_compared_with_text(pair):
    def as_text(tokens, words, logprobs):
        return {"text": "".join(words)}

    prompts = pair / "prompts.txt"
    prompts.write_text("0ABC\nDEFG\n", encoding="utf-8")
    asked = {"prompts": prompts, "black_box": True, "max_tokens_total": 20_000, "batch_size": 32}
    with (
        server(pair, as_text) as (control, seen),
        server(pair, as_text, alter=lambda tokens: [5] * 8 + tokens) as (
            address,
            _,
        ),
    ):
        found = BlackBox(Options(f"http:{address}", control=control, **asked)).run(lambda _, __: None)
    assert found.verdict is Verdict.DRIFT
    assert seen[0]["prompt"] == "0ABC"  # nobody here has to know the tokenizer


def test_nobody_at_the_address_is_a_result(pair):
    found = audited(pair, "http://127.0.0.1:9", option={"model": "m"})
    assert "cannot be reached" in found.reason


def test_the_token_that_ends_a_text_is_put_back_where_a_server_keeps_it():
    running = object.__new__(http._Running)
    running._model, running._settings, running._ends, running._timings = "m", {}, [2], None
    told = {
        "choices": [{"token_ids": [5, 6], "finish_reason": "stop"}],
        "timings": {"draft_n": 4, "draft_n_accepted": 1},
    }
    running._fetched = lambda path, body=None: json.dumps(told).encode()
    assert running.sample([{"prompt": [1], "seed": 0, "max_tokens": 9}]) == [{"tokens": [5, 6, 2]}]
    assert running.counters() == {"drafted": 4, "accepted": 1}
