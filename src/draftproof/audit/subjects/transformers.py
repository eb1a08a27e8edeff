"""transformers: `generate`, with an assistant and without. In: Hugging Face folders. Out: completions, one at a time.

Assisted generation takes no batches, and plain `generate` is called in the same way. Random numbers come from the one
generator of torch, seeded anew for every request. Sampling settings that come with a model are put aside.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from draftproof.audit.base import Answer, Asked, Counters, Request

__all__ = ["CLAIMS", "DRAFTED", "EXTRA", "FORMAT", "LIBRARY", "METHODS", "OPTIONS", "start"]

LIBRARY = "transformers"
EXTRA = "hf"
FORMAT = "hf"
METHODS = ("draft", "prompt-lookup", "early-exit")
"""An assistant model, n-grams of the text, the first layers of the target. Assistants with a tokenizer of their own are
left out: the library refuses them for a pair that shares one."""
DRAFTED = METHODS[:1]
CLAIMS = ("repetition_penalty", "temperature", "top_k", "top_p", "min_p", "typical_p")
NEUTRAL = {
    "repetition_penalty": 1.0, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "typical_p": 1.0,
}  # fmt: skip
LACKING = {"presence_penalty": 0.0, "frequency_penalty": 0.0}
"""What it does not have, which may be asked for at these values only."""
OPTIONS: Mapping[str, tuple[Callable[[Any], Any], Any]] = {
    "assistant_confidence_threshold": (float, 0.0), "assistant_early_exit": (int, 1),
    "assistant_ensemble_weight": (float, None), "max_matching_ngram_size": (int, 2),
}  # fmt: skip
"""What else can be set: its type, and what it is unless told. With a weight it is lossy, as its documentation says."""


def start(asked: "Asked") -> "_Running":
    """See `Subject.start`."""
    return _Running(asked)


class _Running:
    """See `Running`."""

    def __init__(self, asked: "Asked") -> None:
        self._told = _sampling(asked["settings"])
        options = _options(asked["options"])
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        from importlib.metadata import version

        import torch

        torch.set_num_threads(1)
        self._target = _loaded(asked["target"], asked["num_speculative_tokens"], options)
        self._watch = None
        if asked["speculative"]:
            self._told |= _speculation(asked, options)
            self._watch = _Watch(self._target)
        self._drafted = self._accepted = 0
        self.versions: Mapping[str, str] = {name: version(name) for name in ("transformers", "torch")}

    def sample(self, requests: "Sequence[Request]") -> "list[Answer]":
        """See `Running.sample`."""
        return [self._completed(one) for one in requests]

    def counters(self) -> "Counters":
        """See `Running.counters`."""
        return {"drafted": self._drafted, "accepted": self._accepted}

    def close(self) -> None:
        """See `Running.close`."""

    def _completed(self, request: "Request") -> "Answer":
        import torch

        torch.manual_seed(request["seed"])
        ids = torch.tensor([request["prompt"]])
        made = self._target.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=request["max_tokens"],
            return_dict_in_generate=True, output_scores=True, **self._told,
        )  # fmt: skip
        tokens = made.sequences[0, ids.shape[1] :]
        answer: Answer = {"tokens": tokens.tolist()}
        if self._told["do_sample"]:  # scores of a greedy text are no law that it was drawn from
            logprobs = torch.cat(made.scores).double().log_softmax(-1)
            answer["logprobs"] = logprobs.gather(1, tokens[:, None])[:, 0].tolist()
        if self._watch is not None:
            answer["rounds"] = [self._counted(*each) for each in self._watch.passes]
            self._watch.passes.clear()
        return answer

    def _counted(self, drafted: list[int], emitted: list[int]) -> list[int]:
        """Count a pass, and return it as an `Answer` has it."""
        agreed = [ours == theirs for ours, theirs in zip(drafted, emitted, strict=False)]
        self._drafted += len(drafted)
        self._accepted += [*agreed, False].index(False)
        return [len(drafted), len(emitted)]


class _Watch:
    """Listens to the candidate generator of every assisted text: `generate` itself tells nothing of its passes."""

    def __init__(self, target: Any) -> None:
        self.passes: list[tuple[list[int], list[int]]] = []
        """What was drafted and what emitted in each pass of the target."""
        self._length, self._drafted = 0, list[int]()
        self._made = target._get_candidate_generator  # noqa: SLF001 (there is no public way)
        target._get_candidate_generator = self._heard  # noqa: SLF001

    def _heard(self, *told: Any, **named: Any) -> Any:
        generator = self._made(*told, **named)
        proposed, settled = generator.get_candidates, generator.update_candidate_strategy

        def get_candidates(ids: Any, **more: Any) -> Any:
            self._length = ids.shape[1]
            found = proposed(ids, **more)
            self._drafted = found[0][0, self._length :].tolist()
            return found

        def update_candidate_strategy(ids: Any, *more: Any) -> None:
            self.passes.append((self._drafted, ids[0, self._length :].tolist()))
            settled(ids, *more)

        generator.get_candidates, generator.update_candidate_strategy = get_candidates, update_candidate_strategy
        return generator


def _loaded(folder: str, num_speculative_tokens: int, options: Mapping[str, Any]) -> Any:
    """Return a model with no settings but its ends, and how it would draft, which `generate` looks up there."""
    import torch
    from transformers import AutoModelForCausalLM, GenerationConfig

    if not Path(folder, "config.json").is_file():
        raise FileNotFoundError(f"got {folder!r}, which is no folder with a config.json")
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True).eval()
    brought = model.generation_config
    ends = brought.eos_token_id
    model.generation_config = GenerationConfig(
        bos_token_id=brought.bos_token_id, eos_token_id=ends, pad_token_id=ends[0] if isinstance(ends, list) else ends,
        num_assistant_tokens=num_speculative_tokens, num_assistant_tokens_schedule="constant",
        assistant_confidence_threshold=options["assistant_confidence_threshold"],
    )  # fmt: skip
    return model


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    unknown = set(given) - set(OPTIONS)
    if unknown:
        raise ValueError(f"got option {', '.join(sorted(unknown))}; allowed are {', '.join(OPTIONS)}")
    return {name: kind(given[name]) if name in given else usual for name, (kind, usual) in OPTIONS.items()}


def _sampling(settings: Mapping[str, float]) -> dict[str, Any]:
    """Return what `generate` is told of settings: all of them, but of a greedy text only those that change it."""
    for name, value in settings.items():
        if name not in NEUTRAL and value != LACKING.get(name):
            raise ValueError(f"got {name} {value:g}; it has {', '.join(CLAIMS)} only")
    all_of_them = {name: settings.get(name, usual) for name, usual in NEUTRAL.items()}
    told: dict[str, Any] = {"do_sample": all_of_them["temperature"] != 0, "num_beams": 1}
    if not told["do_sample"]:
        return told | {"repetition_penalty": all_of_them["repetition_penalty"]}
    return told | all_of_them | {"top_k": int(all_of_them["top_k"])}


def _speculation(asked: "Asked", options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `generate` is told of a method."""
    method, k = asked["method"], asked["num_speculative_tokens"]
    if method == "prompt-lookup":
        return {"prompt_lookup_num_tokens": k, "max_matching_ngram_size": options["max_matching_ngram_size"]}
    weight = {"assistant_ensemble_weight": options["assistant_ensemble_weight"]}
    if method == "early-exit":
        return {"assistant_early_exit": options["assistant_early_exit"], **weight}
    if method == "draft":
        return {"assistant_model": _loaded(asked["drafter"], k, options), **weight}
    raise ValueError(f"got method {method}; allowed are {', '.join(METHODS)}")
