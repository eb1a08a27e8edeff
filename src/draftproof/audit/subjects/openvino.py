"""OpenVINO GenAI, on a CPU. In: folders of OpenVINO models. Out: completions of texts that are decoded together.

Every text has a seed of its own. Numbers, keys and values are float32, unless the option `precision` is `default`: what
a user gets who asks for nothing, which may be bfloat16 and 8 bits. Of log-probabilities it reports the sum over a text,
so none come out.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from draftproof.audit.base import Answer, Asked, Counters, Request

__all__ = ["CLAIMS", "DRAFTED", "EXTRA", "FORMAT", "LIBRARY", "METHODS", "OPTIONS", "start"]

LIBRARY = "openvino_genai"
EXTRA = "openvino"
FORMAT = "openvino"
METHODS = ("draft", "prompt-lookup")
DRAFTED = METHODS[:1]
CLAIMS = ("repetition_penalty", "temperature", "top_k", "top_p", "min_p")
UNLIKE = ("presence_penalty", "frequency_penalty")
"""Penalties that its documentation defines in another way: they make the absolute value of a score smaller."""
OPTIONS: Mapping[str, str] = {"max_ngram_size": "2", "precision": "f32", "threads": "1"}
"""What else can be set, and to what it is unless told."""
PRECISIONS: Mapping[str, Mapping[str, str]] = {
    "f32": {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"},
    "default": {},
}
DEVICE = "CPU"
ALL = 2**63 - 1
"""So many of the most probable tokens are kept where all are."""


def start(asked: "Asked") -> "_Running":
    """See `Subject.start`."""
    return _Running(asked)


class _Running:
    """See `Running`."""

    def __init__(self, asked: "Asked") -> None:
        import openvino  # type: ignore[import-not-found]
        import openvino_genai  # type: ignore[import-not-found]

        if asked["method"] not in METHODS:
            raise ValueError(f"got method {asked['method']}; allowed are {', '.join(METHODS)}")
        options = _options(asked["options"])
        self._told = _settings(asked["settings"])
        self._lookup = asked["speculative"] and asked["method"] not in DRAFTED
        if asked["speculative"]:
            self._told["num_assistant_tokens"] = asked["num_speculative_tokens"]
        if self._lookup:
            self._told["max_ngram_size"] = int(options["max_ngram_size"])
        self._library: Any = openvino_genai
        self._pipeline: Any = _pipeline(openvino_genai, asked, options)
        brought = self._pipeline.get_config()
        self._told |= {"eos_token_id": brought.eos_token_id, "stop_token_ids": brought.stop_token_ids}
        self._drafted = self._accepted = 0
        libraries: tuple[Any, ...] = (openvino_genai, openvino)
        self.versions: Mapping[str, str] = {each.__name__: each.__version__ for each in libraries}

    def sample(self, requests: "Sequence[Request]") -> "list[Answer]":
        """See `Running.sample`; lookups are asked for one by one, for what it counts is added up over a batch."""
        batches = [[one] for one in requests] if self._lookup else [requests]
        return [answer for batch in batches for answer in self._generated(batch)]

    def counters(self) -> "Counters":
        """See `Running.counters`; of lookups it tells how much each pass emitted: what was rejected is not counted."""
        return {"drafted": self._drafted, "accepted": self._accepted}

    def close(self) -> None:
        """See `Running.close`: threads end with the pipeline."""
        self._pipeline = None

    def _generated(self, requests: "Sequence[Request]") -> "list[Answer]":
        import numpy as np
        import openvino  # type: ignore[import-not-found]

        prompts = [openvino.Tensor(np.array([one["prompt"]], dtype=np.int64)) for one in requests]
        configs = [
            self._library.GenerationConfig(**self._told, rng_seed=one["seed"], max_new_tokens=one["max_tokens"])
            for one in requests
        ]
        results = self._pipeline.generate(prompts, configs)
        self._count(results[0])
        return [{"tokens": list(result.m_generation_ids[0])} for result in results]

    def _count(self, result: Any) -> None:
        """Add up what a batch drafted; each of its results tells it of all."""
        if self._lookup:
            accepted = sum(emitted - 1 for emitted in result.perf_metrics.raw_metrics.m_batch_sizes)
            self._drafted += accepted
            self._accepted += accepted
        elif result.extended_perf_metrics is not None:
            self._drafted += result.extended_perf_metrics.get_num_draft_tokens()
            self._accepted += result.extended_perf_metrics.get_num_accepted_tokens()


def _options(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options."""
    if not set(told) <= set(OPTIONS):
        raise ValueError(f"got options {', '.join(told)}; allowed are {', '.join(OPTIONS)}")
    found = {**OPTIONS, **told}
    if found["precision"] not in PRECISIONS:
        raise ValueError(f"got precision {found['precision']}; allowed are {', '.join(PRECISIONS)}")
    return found


def _settings(settings: Mapping[str, float]) -> dict[str, Any]:
    """Return sampling settings as it names them; of a greedy text only those that change it."""
    for name, value in settings.items():
        if name in UNLIKE and value:
            raise ValueError(f"got {name} {value}; OpenVINO lets it raise negative scores: another law; allowed is 0")
        if name not in CLAIMS + UNLIKE:
            raise ValueError(f"got {name}; allowed are {', '.join(CLAIMS)}")
    told: dict[str, Any] = dict.fromkeys(CLAIMS, 1.0) | {"top_k": 0, "min_p": 0.0} | dict.fromkeys(UNLIKE, 0.0)
    told |= settings
    if told["temperature"] == 0:
        told = {name: told[name] for name in ("repetition_penalty", *UNLIKE)}
        return told | {"do_sample": False, "apply_chat_template": False}
    return told | {"top_k": int(told["top_k"]) or ALL, "do_sample": True, "apply_chat_template": False}


def _pipeline(library: Any, asked: "Asked", options: Mapping[str, Any]) -> Any:
    drafted = asked["method"] in DRAFTED
    for folder in (asked["target"], asked["drafter"]) if drafted else (asked["target"],):
        if not (Path(folder) / "openvino_model.xml").is_file():
            raise FileNotFoundError(f"{folder or 'no drafter'}: no folder with an openvino_model.xml")
    shared = {**PRECISIONS[options["precision"]], "INFERENCE_NUM_THREADS": int(options["threads"])}
    speculation = dict[str, Any]()
    if asked["speculative"]:
        draft = {"draft_model": library.draft_model(asked["drafter"], DEVICE, **shared)} if drafted else {}
        speculation = draft or {"prompt_lookup": True}
    plan = library.SchedulerConfig()  # says nothing of prefixes, which are then not kept
    return library.ContinuousBatchingPipeline(asked["target"], plan, DEVICE, {**shared, **speculation})
