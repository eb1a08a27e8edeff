"""What is compared on real models: a text by draftproof, and the same by transformers on the same weights in memory.

In: token ids of a prompt, how many tokens, a seed. Out: how long it took. End of sequence ends no text on either side,
so that all are equally long; top-k is off on both, and both count from the ids of the prompt to the last token.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from draftproof import Engine, FixedLength, NoDrafter, PhiloxNoise, Stop, sampling
from draftproof.economics.calibrate import calibrate
from draftproof.economics.policy import Adaptive
from draftproof.engine import plain
from draftproof.engine.setup import Models
from draftproof.rules.catalogue import CHAIN_RULES
from draftproof.warpers.pipeline import Pipeline


class Done(NamedTuple):
    """What a text took."""

    seconds: float
    first: float
    """Seconds until the first tokens came, the reading of the prompt included."""
    passes: int
    """Of the target, where draftproof decoded; else 0."""


Arm = Callable[[Sequence[int], int, int], Done]
"""(prompt, tokens, seed) -> Done."""


class Sampled(NamedTuple):
    """How tokens are chosen: the same on both sides."""

    name: str
    temperature: float
    top_p: float

    @property
    def pipeline(self) -> Pipeline:
        return sampling(self.temperature, top_p=self.top_p)


SAMPLED, GREEDY = Sampled("T=0.8, top-p 0.95", 0.8, 0.95), Sampled("greedy", 0.0, 1.0)


@dataclass(frozen=True)
class Ours:
    """Texts by draftproof: of one target, with several drafters."""

    models: Models
    target: str
    sampled: Sampled

    def drafter(self, spec: str):
        if spec == "none":
            return NoDrafter()
        return self.models.drafter(spec, self.models.load(self.target, "target"), self.sampled.pipeline)

    def engine(self, spec: str, rule: str, length: int) -> Engine:
        model = self.models.load(self.target, "target").model
        return Engine(model, self.drafter(spec), CHAIN_RULES[rule], self.sampled.pipeline, FixedLength(length))

    def speculative(self, spec: str, rule: str, length: int) -> Arm:
        return decoding(self.engine(spec, rule, length))

    def adaptive(self, spec: str, rule: str, prompt: Sequence[int]) -> Arm:
        """Return an arm whose draft length follows the text, as `auto` has it; what passes cost is found out now."""
        engine = self.engine(spec, rule, 1)
        return decoding(replace(engine, length=Adaptive(calibrate(engine, prompt))))

    def plain(self) -> Arm:
        model = self.models.load(self.target, "target").model

        def text(prompt: Sequence[int], tokens: int, seed: int) -> Done:
            return clocked(plain.decode(model, self.sampled.pipeline, prompt, Stop(tokens), PhiloxNoise(seed)))

        return text

    @cached_property
    def module(self) -> Any:
        """The transformers model that the target reads with: both sides share it."""
        return module_of(self.models, self.target)


def decoding(engine: Engine) -> Arm:
    def text(prompt: Sequence[int], tokens: int, seed: int) -> Done:
        return clocked(engine.decode(prompt, Stop(tokens), PhiloxNoise(seed)))

    return text


def clocked(steps) -> Done:
    began, first, count = time.perf_counter(), 0.0, 0
    for _ in steps:
        count += 1
        first = first or time.perf_counter() - began
    return Done(time.perf_counter() - began, first, count)


def module_of(models: Models, spec: str) -> Any:
    """Return the transformers model in a loaded one."""
    module = models.load(spec, "target").model.model.family.module
    module.generation_config.eos_token_id = None
    return module


@dataclass(frozen=True)
class Theirs:
    """Texts by `generate` of transformers."""

    module: Any
    sampled: Sampled

    def plain(self) -> Arm:
        return self._arm()

    def assisted(self, assistant: Any, length: int | None = None) -> Arm:
        """Return assisted generation: with a fixed number of drafted tokens, or as its defaults have it."""

        def configured():
            config = assistant.generation_config
            fixed = {"num_assistant_tokens_schedule": "constant", "assistant_confidence_threshold": 0.0}
            names = ("num_assistant_tokens", *fixed)
            values = (None,) * 3 if length is None else (length, *fixed.values())
            for name, value in zip(names, values, strict=True):
                setattr(config, name, value)

        return self._arm(configured, assistant_model=assistant)

    def prompt_lookup(self, length: int) -> Arm:
        return self._arm(settings={"prompt_lookup_num_tokens": length})

    def _arm(
        self, configured: Callable[[], None] = lambda: None, settings: dict[str, Any] | None = None, **asked: Any
    ) -> Arm:
        import torch
        from transformers import GenerationConfig, logging

        logging.set_verbosity_error()
        whole = {"pad_token_id": 0, **_law(self.sampled), **(settings or {})}

        @torch.inference_mode()
        def text(prompt: Sequence[int], tokens: int, seed: int) -> Done:
            configured()
            torch.manual_seed(seed)
            config = GenerationConfig(**whole, max_new_tokens=tokens)
            watch = _Watch()
            ids = torch.tensor([list(prompt)])
            found = self.module.generate(ids, generation_config=config, streamer=watch, **asked)
            seconds = time.perf_counter() - watch.began
            if found.shape[1] != len(prompt) + tokens:
                raise RuntimeError(f"transformers wrote {found.shape[1] - len(prompt)} tokens instead of {tokens}")
            return Done(seconds, watch.first, 0)

        return text


def _law(sampled: Sampled) -> dict[str, Any]:
    if sampled.temperature == 0:
        return {"do_sample": False}
    return {"do_sample": True, "temperature": sampled.temperature, "top_p": sampled.top_p, "top_k": 0}


class _Watch:
    """A streamer that notes when the first tokens came."""

    def __init__(self) -> None:
        self.began, self.first, self.calls = time.perf_counter(), 0.0, 0

    def put(self, _: Any) -> None:
        self.calls += 1
        if self.calls == 2:  # the first call is the prompt
            self.first = time.perf_counter() - self.began

    def end(self) -> None:
        pass
