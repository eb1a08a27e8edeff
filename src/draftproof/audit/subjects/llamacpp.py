"""llama.cpp: its server, which xllamacpp runs in this process. In: GGUF files. Out: completions, asked for over HTTP.

As many texts are decoded together as there are slots, each with a seed of its own. Keys and values are kept in float32
and attention is computed plainly, so that numbers are those of the weights. Log-probabilities are of the law after all
sampling settings.
"""

import json
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from draftproof.audit.base import Answer, Asked, Counters, Request

__all__ = ["CLAIMS", "DRAFTED", "EXTRA", "FORMAT", "LIBRARY", "METHODS", "OPTIONS", "start"]

LIBRARY = "xllamacpp"
EXTRA = "llamacpp"
FORMAT = "gguf"
METHODS = (
    "draft", "draft-probabilistic", "ngram-simple", "ngram-map-k", "ngram-map-k4v", "ngram-mod", "ngram-cache",
)  # fmt: skip
"""As `--spec-type` has them; the first two are its draft-simple, with either value of `--spec-draft-sampling`."""
DRAFTED = METHODS[:2]
CLAIMS = ("repetition_penalty", "temperature", "top_k", "top_p", "min_p", "typical_p")
SAMPLERS = ("penalties", "temperature", "top_k", "top_p", "min_p", "typ_p")
"""The same in its own words, without what is left out: its own order has the temperature last."""
UNLIKE = ("presence_penalty", "frequency_penalty")
"""Penalties that count the prompt, too; elsewhere those of these names count what was generated."""
OPTIONS: Mapping[str, int] = {"context": 1024, "ngram_size": 1, "slots": 4, "threads": 1}
"""What else can be set, and to what it is unless told: tokens of a text, tokens that a lookup looks for, texts decoded
together, threads that compute. Lookups begin after the first token that was drawn; in random text only short ones hit.
"""
CACHE_DRAFTS = 8
"""Tokens that ngram-cache drafts; there is no setting for it."""


def start(asked: "Asked") -> "_Running":
    """See `Subject.start`."""
    return _Running(asked)


class _Running:
    """See `Running`."""

    def __init__(self, asked: "Asked") -> None:
        import xllamacpp  # type: ignore[import-not-found]

        options = _options(asked["options"])
        self._body = _body(asked["settings"], options["context"])
        parameters = _parameters(xllamacpp, asked, options)
        try:
            self._server: Any = xllamacpp.Server(parameters)
        except RuntimeError as error:
            raise RuntimeError(f"llama.cpp does not start with {' and '.join(_models(asked))}: {error}") from None
        self._address = urlsplit(self._server.listening_address)
        self._slots = options["slots"]
        self._drafted = self._accepted = 0
        self.versions: Mapping[str, str] = {"xllamacpp": xllamacpp.__version__}

    def sample(self, requests: "Sequence[Request]") -> "list[Answer]":
        """See `Running.sample`."""
        with ThreadPoolExecutor(self._slots) as pool:
            return [self._answer(reply) for reply in pool.map(self._completed, requests)]

    def counters(self) -> "Counters":
        """See `Running.counters`."""
        return {"drafted": self._drafted, "accepted": self._accepted}

    def close(self) -> None:
        """See `Running.close`: the server ends with its object."""
        self._server = None

    def _completed(self, request: "Request") -> dict[str, Any]:
        told = {"prompt": request["prompt"], "seed": request["seed"], "n_predict": request["max_tokens"]}
        with closing(HTTPConnection(self._address.hostname or "", self._address.port)) as line:
            line.request("POST", "/completion", json.dumps(self._body | told), {"Content-Type": "application/json"})
            reply = json.loads(line.getresponse().read())
        if "error" in reply:
            raise RuntimeError(f"llama.cpp: {reply['error']['message']}")
        return reply

    def _answer(self, reply: Mapping[str, Any]) -> "Answer":
        timings = reply["timings"]  # without these two if nothing was drafted
        self._drafted += timings.get("draft_n", 0)
        self._accepted += timings.get("draft_n_accepted", 0)
        chances = [one["prob"] for one in reply["completion_probabilities"]]
        return {"tokens": reply["tokens"], "logprobs": [math.log(one) if one else -math.inf for one in chances]}


def _options(told: Mapping[str, Any]) -> dict[str, int]:
    """Return all options."""
    if not set(told) <= set(OPTIONS):
        raise ValueError(f"got options {', '.join(told)}; allowed are {', '.join(OPTIONS)}")
    return {name: int(told.get(name, value)) for name, value in OPTIONS.items()}


def _body(settings: Mapping[str, float], context: int) -> dict[str, Any]:
    """Return what is the same in all requests; penalties look at the whole text."""
    for name, value in settings.items():
        if name in UNLIKE and value:
            raise ValueError(
                f"got {name} {value}; llama.cpp counts the prompt, too, which is another law; allowed is 0"
            )
        if name not in CLAIMS + UNLIKE:
            raise ValueError(f"got {name}; allowed are {', '.join(CLAIMS)}")
    told: dict[str, Any] = dict.fromkeys(CLAIMS, 1.0) | {"top_k": 0, "min_p": 0.0} | dict.fromkeys(UNLIKE, 0.0)
    told |= settings
    penalty = {"repeat_penalty": told.pop("repetition_penalty"), "repeat_last_n": context}
    told |= {"top_k": int(told["top_k"]), "samplers": SAMPLERS, "cache_prompt": False}
    return told | penalty | {"return_tokens": True, "n_probs": 1, "post_sampling_probs": True}


def _parameters(library: Any, asked: "Asked", options: Mapping[str, int]) -> Any:
    """Return how the server is started."""
    for path in _models(asked):
        if not Path(path).is_file():
            raise FileNotFoundError(f"{path}: no such file")
    told = library.CommonParams()
    told.model.path, told.n_gpu_layers = asked["target"], 0
    told.n_parallel, told.n_ctx = options["slots"], options["slots"] * options["context"]
    told.fit_params = told.cache_prompt = told.warmup = False
    told.cache_ram_mib, told.verbosity = 0, 1
    told.flash_attn_type = library.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    draft = told.speculative.draft
    for model in (told, draft):
        model.cache_type_k = model.cache_type_v = library.ggml_type.GGML_TYPE_F32
        model.cpuparams.n_threads = model.cpuparams_batch.n_threads = options["threads"]
    if asked["speculative"]:
        _speculate(library, told.speculative, asked, options["ngram_size"])
    return told


def _speculate(library: Any, told: Any, asked: "Asked", ngram_size: int) -> None:
    """Set the method; drafts are never cut short by a threshold."""
    method, most = asked["method"], asked["num_speculative_tokens"]
    if method not in METHODS:
        raise ValueError(f"got method {method}; allowed are {', '.join(METHODS)}")
    if method == "ngram-cache" and most != CACHE_DRAFTS:
        raise ValueError(f"got num_speculative_tokens {most}; ngram-cache of llama.cpp always drafts {CACHE_DRAFTS}")
    kind = "draft-simple" if method in DRAFTED else method
    told.types = [getattr(library.common_speculative_type, f"COMMON_SPECULATIVE_TYPE_{kind.upper().replace('-', '_')}")]
    if method in DRAFTED:
        told.draft.mparams.path, told.draft.n_gpu_layers = asked["drafter"], 0
        told.draft.probabilistic = method == "draft-probabilistic"
    told.draft.n_max, told.draft.n_min, told.draft.p_min = most, 0, 0.0
    for lookup in (told.ngram_simple, told.ngram_map_k, told.ngram_map_k4v):
        lookup.size_n, lookup.size_m, lookup.min_hits = ngram_size, most, 1
    told.ngram_mod.n_match, told.ngram_mod.n_min, told.ngram_mod.n_max = ngram_size, 1, most


def _models(asked: "Asked") -> list[str]:
    """Return the files that are read: the draft model is one if the method needs it, with speculation or without."""
    if asked["method"] in DRAFTED and not asked["drafter"]:
        raise ValueError(f"got no drafter; method {asked['method']} of llama.cpp needs one")
    return [asked["target"], asked["drafter"]] if asked["method"] in DRAFTED else [asked["target"]]
