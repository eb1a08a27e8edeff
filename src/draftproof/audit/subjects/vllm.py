"""vLLM: the offline engine, many requests at once. In: Hugging Face folders. Out: completions, log-probabilities.

Every request has a generator of its own, so what shares a batch with it does not change what it draws. The engine runs
in this process, in float32 and without compilation; what has to be so before its first import is arranged here.
"""

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from draftproof.audit.base import Answer, Asked, Counters, Request

__all__ = ["CLAIMS", "DRAFTED", "EXTRA", "FORMAT", "LIBRARY", "METHODS", "OPTIONS", "start"]

LIBRARY = "vllm"
EXTRA = "vllm"
FORMAT = "hf"
METHODS = ("draft-greedy", "draft-probabilistic", "ngram", "suffix")
"""A draft model that proposes its best tokens, one that is sampled, n-grams of the text, suffixes of all texts."""
DRAFTED = METHODS[:2]
CLAIMS = ("repetition_penalty", "presence_penalty", "frequency_penalty", "temperature", "top_k", "top_p")
"""It has `min_p`, too, between temperature and top-k, but refuses it while it speculates."""
OPTIONS: Mapping[str, tuple[Callable[[Any], Any], Any]] = {
    "max_model_len": (int, None), "prompt_lookup_max": (int, 2), "prompt_lookup_min": (int, 1),
}  # fmt: skip
"""What else can be set: its type, and what it is unless told. Without a longest text, that of the model is taken."""
NEUTRAL = {
    "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0,
    "temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0,
}  # fmt: skip
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
    "TORCHDYNAMO_DISABLE": "1",  # else it compiles, for seconds, what counts the ranks of tokens
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1",
}
"""What it reads when it is imported, unless the user has set it."""
UNNEEDED = ("torchvision", "torchaudio", "torchcodec")
"""Its CPU build brings them for another torch, and they fail when they are imported. Text needs none of them."""
COUNTED = {"drafted": "vllm:spec_decode_num_draft_tokens", "accepted": "vllm:spec_decode_num_accepted_tokens"}


def start(asked: "Asked") -> "_Running":
    """See `Subject.start`."""
    return _Running(asked)


class _Running:
    """See `Running`."""

    def __init__(self, asked: "Asked") -> None:
        from importlib.metadata import version

        told = _engine(asked)
        os.environ.update({name: value for name, value in ENVIRONMENT.items() if name not in os.environ})
        with _hidden():
            import vllm  # pyright: ignore[reportMissingImports] (it has an environment of its own)

            self._llm: Any = vllm.LLM(**told)
        self._params: Any = vllm.SamplingParams
        self._settings = {**NEUTRAL, **asked["settings"]}
        self.versions: Mapping[str, str] = {"vllm": vllm.__version__, "torch": version("torch")}

    def sample(self, requests: "Sequence[Request]") -> "list[Answer]":
        """See `Running.sample`."""
        made = self._llm.generate(
            [{"prompt_token_ids": one["prompt"]} for one in requests],
            [self._params(**_sampling(self._settings, one)) for one in requests],
            use_tqdm=False,
        )
        return [_answer(one.outputs[0]) for one in made]

    def counters(self) -> "Counters":
        """See `Running.counters`."""
        told = {one.name: one.value for one in self._llm.get_metrics() if one.name in COUNTED.values()}
        return {"drafted": told.get(COUNTED["drafted"], 0), "accepted": told.get(COUNTED["accepted"], 0)}

    def close(self) -> None:
        """See `Running.close`."""
        self._llm.llm_engine.engine_core.shutdown()


@contextlib.contextmanager
def _hidden() -> Iterator[None]:
    """Hide what is not needed from this process, and from the one in which vLLM looks at the classes of models."""
    hidden: dict[str, Any] = dict.fromkeys(UNNEEDED)
    sys.modules.update(hidden)
    before = os.environ.get("PYTHONPATH", "")
    with tempfile.TemporaryDirectory() as folder:
        code = f"import sys\nsys.modules.update({hidden})\n"
        Path(folder, "sitecustomize.py").write_text(code, encoding="utf-8")
        os.environ["PYTHONPATH"] = folder + (os.pathsep + before if before else "")
        try:
            yield
        finally:
            os.environ["PYTHONPATH"] = before


def _engine(asked: "Asked") -> dict[str, Any]:
    """Return what the engine is told at its start."""
    unknown = set(asked["options"]) - set(OPTIONS)
    if unknown:
        raise ValueError(f"got option {', '.join(sorted(unknown))}; allowed are {', '.join(OPTIONS)}")
    options = {
        name: kind(asked["options"][name]) if name in asked["options"] else usual
        for name, (kind, usual) in OPTIONS.items()
    }
    told: dict[str, Any] = {
        "model": asked["target"], "max_model_len": options["max_model_len"], "dtype": "float32", "enforce_eager": True,
        "enable_prefix_caching": False, "logprobs_mode": "processed_logprobs", "disable_log_stats": False,
    }  # fmt: skip
    if asked["speculative"]:
        told["speculative_config"] = _speculation(asked, options)
    for folder in (told["model"], told.get("speculative_config", {}).get("model", told["model"])):
        if not Path(folder, "config.json").is_file():
            raise FileNotFoundError(f"got {folder!r}, which is no folder with a config.json")
    return told


def _speculation(asked: "Asked", options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the engine is told of a method."""
    method = asked["method"]
    told = {"num_speculative_tokens": asked["num_speculative_tokens"], "rejection_sample_method": "standard"}
    if method in DRAFTED:
        how = method.removeprefix("draft-")
        return told | {"method": "draft_model", "model": asked["drafter"], "draft_sample_method": how}
    if method == "ngram":
        return told | {"method": method} | {name: options[name] for name in ("prompt_lookup_min", "prompt_lookup_max")}
    if method == "suffix":
        return told | {"method": method}
    raise ValueError(f"got method {method}; allowed are {', '.join(METHODS)}")


def _sampling(settings: Mapping[str, float], request: "Request") -> dict[str, Any]:
    """Return what a request is told. Of greedy texts it would report laws at temperature 1, which drew nothing."""
    greedy = settings["temperature"] == 0
    return {
        **settings, "top_k": int(settings["top_k"]), "seed": request["seed"], "max_tokens": request["max_tokens"],
        "min_tokens": 0, "logprobs": None if greedy else 0, "detokenize": False,
    }  # fmt: skip


def _answer(made: Any) -> "Answer":
    answer: Answer = {"tokens": list(made.token_ids)}
    if made.logprobs is not None:
        answer["logprobs"] = [told[token].logprob for token, told in zip(made.token_ids, made.logprobs, strict=True)]
    return answer
