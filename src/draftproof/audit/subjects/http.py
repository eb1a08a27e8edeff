"""A server that speaks OpenAI's completions, at the address that was given and no other.

In: an address. Out: token ids, as the server returns them: as ids (vLLM's `return_token_ids`, llama.cpp's
`return_tokens`), as words that are ids, or as the exact string of each token; else text.
"""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from draftproof.audit.base import Answer, Asked, Counters, Request

__all__ = ["CLAIMS", "DRAFTED", "EXTRA", "FORMAT", "LIBRARY", "METHODS", "NoControlArmError", "start"]

LIBRARY = ""
EXTRA = ""
FORMAT = ""
METHODS = ("draft", "lookup")
"""How it speculates is set where the server is started; a lookup is bet against with lookups in mind."""
DRAFTED = METHODS[:1]
CLAIMS = (
    "repetition_penalty", "presence_penalty", "frequency_penalty", "temperature", "top_k", "top_p", "min_p",
)  # fmt: skip
RETURNED = {"return_token_ids": True, "return_tokens": True, "return_tokens_as_token_ids": True, "logprobs": 1}
"""Several servers' words for: the ids too, please."""
ID = re.compile(r"token_id:(\d+)")
METRICS = {
    "drafted": re.compile(r"^vllm:spec_decode_num_draft_tokens(?:_total)?(?:\{[^}]*\})? (\S+)", re.MULTILINE),
    "accepted": re.compile(r"^vllm:spec_decode_num_accepted_tokens(?:_total)?(?:\{[^}]*\})? (\S+)", re.MULTILINE),
}
PATIENCE = 3600.0
"""Seconds; the auditor has a limit of its own."""


class NoControlArmError(Exception):
    """There is no server that does not speculate."""


def start(asked: "Asked") -> "_Running":
    """See `Subject.start`."""
    return _Running(asked)


class _Running:
    """See `Running`."""

    def __init__(self, asked: "Asked") -> None:
        options = asked["options"]
        address = options["address"] if asked["speculative"] else options["control"]
        if not address:
            raise NoControlArmError("no address of the same server without speculation was given (--control)")
        self._base = address.rstrip("/").removesuffix("/completions").removesuffix("/v1")
        self._settings = {**asked["settings"], "top_k": int(asked["settings"]["top_k"])}
        self._key, self._ends = options.get("key", ""), options.get("ends", [])
        self._model = options.get("model") or self._served()
        self._timings: dict[str, int] | None = None
        self.versions: Mapping[str, str] = {"server": self._version(), "model": self._model}

    def sample(self, requests: "Sequence[Request]") -> "list[Answer]":
        """See `Running.sample`."""
        return [self._completion(one) for one in requests]

    def counters(self) -> "Counters | None":
        """See `Running.counters`: from the answers (llama.cpp), or the server's metrics (vLLM)."""
        if self._timings is not None:
            return {"drafted": self._timings["draft_n"], "accepted": self._timings["draft_n_accepted"]}
        try:
            text = self._fetched("/metrics").decode(errors="replace")
        except OSError:
            return None
        found = {name: pattern.findall(text) for name, pattern in METRICS.items()}
        if not found["drafted"]:
            return None
        drafted, accepted = (int(sum(map(float, found[name]))) for name in ("drafted", "accepted"))
        return {"drafted": drafted, "accepted": accepted}

    def close(self) -> None:
        """See `Running.close`: the server is not ours."""

    def _completion(self, one: "Request") -> "Answer":
        prompt = one.get("text") or one["prompt"]
        asked = {"model": self._model, "prompt": prompt, "max_tokens": one["max_tokens"], "seed": one["seed"]}
        told = json.loads(self._fetched("/v1/completions", asked | self._settings | RETURNED))
        choice = told["choices"][0]
        self._count(told.get("timings"))
        answer = _tokens(choice)
        last = answer["tokens"][-1:] or [None]
        if choice.get("finish_reason") == "stop" and len(self._ends) == 1 and last[0] not in self._ends:
            answer["tokens"] = [*answer["tokens"], *self._ends]  # some servers keep it to themselves
        return answer

    def _count(self, timings: Any) -> None:
        if isinstance(timings, dict) and "draft_n" in timings:
            before = self._timings or {"draft_n": 0, "draft_n_accepted": 0}
            self._timings = {name: before[name] + int(timings.get(name, 0)) for name in before}

    def _served(self) -> str:
        """Return the first model that the server lists."""
        try:
            return str(json.loads(self._fetched("/v1/models"))["data"][0]["id"])
        except (OSError, ValueError, LookupError):
            raise ValueError(f"{self._base}/v1/models lists no model; name it by --option model=NAME") from None

    def _version(self) -> str:
        for path in ("/version", "/props"):
            try:
                told = json.loads(self._fetched(path))
            except (OSError, ValueError):
                continue
            if found := told.get("version") or told.get("build_info"):
                return str(found)
        return "unknown"

    def _fetched(self, path: str, body: Any = None) -> bytes:
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self._key}"} if self._key else {})
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, data, headers)  # noqa: S310 (http: or https: was checked)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as found:  # noqa: S310
                return bytes(found.read())
        except urllib.error.HTTPError as error:
            said = " ".join(error.read().decode(errors="replace").split())[:200]
            raise OSError(f"{self._base}{path} answered with status {error.code}: {said}") from None
        except urllib.error.URLError as error:
            raise OSError(f"{self._base}{path} cannot be reached: {error.reason}") from None


def _tokens(choice: Mapping[str, Any]) -> "Answer":
    """Return token ids, or strings of tokens, and their log-probabilities."""
    told = choice.get("logprobs") or {}
    content, strings = told.get("content") or [], told.get("tokens") or []
    logprobs = told.get("token_logprobs") or [one.get("logprob") for one in content]
    answer: Any = {"logprobs": logprobs} if logprobs else {}
    ids = choice.get("token_ids") or choice.get("tokens") or [one["id"] for one in content if "id" in one]
    if not ids and strings and all(ID.fullmatch(word) for word in strings):
        ids = [int(ID.fullmatch(word)[1]) for word in strings]  # type: ignore[index]
    if ids:
        return answer | {"tokens": [int(token) for token in ids]}
    words = strings or [one["token"] for one in content if "token" in one]
    return answer | {"tokens": []} | ({"strings": words} if words else {"text": str(choice.get("text") or "")})
