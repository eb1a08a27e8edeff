"""From the options of a generation to the parts of a run: engine, tokenizer, prompt, stops, noise.

In: words and numbers as typed. Out: a `Run`. Every option is honoured here or refused by name, and all that can be
refused without a model is refused before one is loaded.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from draftproof.drafters.base import Drafter
from draftproof.drafters.catalogue import check_spec, load_drafter
from draftproof.drafters.none import NoDrafter
from draftproof.engine.combinations import check
from draftproof.engine.controls import check_controls, pipelines
from draftproof.engine.gathered import gathered
from draftproof.engine.length import DraftLength, FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.options import Options
from draftproof.engine.stop import Stop
from draftproof.errors import UsageError
from draftproof.models.backend import LoadedModel
from draftproof.models.catalogue import check_model, load
from draftproof.models.tokenizer import Tokenizer
from draftproof.noise import PhiloxNoise
from draftproof.rules.base import Rule
from draftproof.rules.catalogue import rule_named
from draftproof.warpers.base import Warper
from draftproof.warpers.pipeline import Pipeline

__all__ = ["Decide", "Models", "Run", "check_options", "prepare"]

WIDEST = 1024
"""Branches of a tree: a pass over more rows than a context has takes longer than it could ever save."""
MOST_SAMPLES = 1024
MOST_DRAFTERS = 8
"""With other sampling settings, that are kept of one SPEC."""
Decide = Callable[[Engine, list[int]], DraftLength]
"""(engine, prompt) -> what chooses the draft lengths; see `economics/policy.py`."""


class Models:
    """What was loaded, by SPEC: runs with other settings share it."""

    def __init__(self) -> None:
        self._loaded: dict[str, LoadedModel] = {}
        self._drafters: dict[str, list[tuple[LoadedModel, Pipeline, Drafter]]] = {}

    def load(self, spec: str, setting: str) -> LoadedModel:
        """Return the model that `spec` names, ready to be read in company; it is loaded once."""
        if spec not in self._loaded:
            model, tokenizer = load(spec, setting)
            self._loaded[spec] = LoadedModel(gathered(model, patient=setting == "target"), tokenizer)
        return self._loaded[spec]

    def drafter(self, spec: str, target: LoadedModel, pipeline: Pipeline) -> Drafter:
        """Return the drafter that `spec` names; it is made once for each target and pipeline."""
        for made_for, of_pipeline, drafter in self._drafters.get(spec, ()):
            if made_for is target and of_pipeline == pipeline:
                return drafter
        drafter = load_drafter(spec, target, pipeline, self.load)
        self._drafters[spec] = [*self._drafters.get(spec, ()), (target, pipeline, drafter)][-MOST_DRAFTERS:]
        return drafter


@dataclass(frozen=True)
class Run:
    """Everything a generation needs."""

    engine: Engine
    tokenizer: Tokenizer
    prompt: list[int]
    stop: Stop
    options: Options

    @cached_property
    def noises(self) -> tuple[PhiloxNoise, ...]:
        """One source of random numbers for each of the `n` samples."""
        return tuple(PhiloxNoise(self.options.seed, sample) for sample in range(self.options.n))

    @property
    def noise(self) -> PhiloxNoise:
        """That of the first sample."""
        return self.noises[0]


def prepare(
    options: Options,
    models: Models | None = None,
    decide: Decide | None = None,
    processors: Sequence[Warper] = (),
) -> Run:
    """Return the run that the options describe; a draft length of 0 and the drafter `none` are plain decoding.

    Args:
        options: what was asked for.
        models: where models were loaded for other runs; for this run alone if not given.
        decide: chooses the draft lengths where the options say "auto".
        processors: further warpers, which no option describes.

    Raises:
        UsageError: naming the first option that cannot be honoured.
    """
    rule, length = check_options(options)
    models = models or Models()
    target = models.load(options.target, "target")
    model, tokenizer = target
    prompt = tokenizer.chat(options.prompt) if options.chat else tokenizer.encode(options.prompt)
    if len(prompt) > model.context_limit:
        raise UsageError(f"got {len(prompt)} tokens; the target's context holds {model.context_limit}", "prompt")
    ends = frozenset(options.stop_token_ids) | (frozenset() if options.ignore_eos else tokenizer.eos)
    pipeline, draft_pipeline = pipelines(options, tokenizer, ends, processors)
    drafter = models.drafter(options.drafter, target, draft_pipeline) if options.speculates else NoDrafter()
    if "coupled" in rule.name:  # its promise, the same text with any draft, needs the same bits with any draft
        model = model.steady()
    engine = Engine(model, drafter, rule, pipeline, length or FixedLength(0), _branching(options, rule))
    if length is None and options.speculates:
        engine = _decided(engine, prompt, decide)
    stop = Stop(options.max_tokens, model.context_limit, ends, options.stop, tokenizer.stream, options.min_tokens)
    return Run(engine, tokenizer, prompt, stop, options)


def check_options(options: Options) -> tuple[Rule, FixedLength | None]:
    """Refuse what can be refused without a model, and return what needs none; no length stands for "auto".

    Raises:
        UsageError: naming the first option that cannot be honoured.
    """
    check(options)
    check_controls(options)
    PhiloxNoise(options.seed)
    if not 1 <= options.n <= MOST_SAMPLES:
        raise UsageError(f"got {options.n}; allowed are 1 to {MOST_SAMPLES}", "n")
    rule = rule_named(options.rule)
    _branching(options, rule)
    Stop(options.max_tokens, strings=options.stop, spelling=lambda: str, min_tokens=options.min_tokens)
    asked = options.num_speculative_tokens
    length = None if isinstance(asked, str) else FixedLength(asked)
    check_model(options.target, "target")
    check_spec(options.drafter)
    return rule, length


def _branching(options: Options, rule: Rule) -> tuple[int, ...]:
    """Return the widths that `tree` writes, "3,2,1"; a tree rule without them gets two branches."""
    if not options.tree:
        return (2,) if rule.branches else ()
    words = options.tree.split(",")
    if not all(word.strip().isdecimal() and int(word) > 0 for word in words):
        raise UsageError(f"got {options.tree!r}; allowed are whole numbers from 1 up with commas, as 3,2,1", "tree")
    widths = [int(word) for word in words]
    if math.prod(widths) > WIDEST:
        raise UsageError(f"got {options.tree!r}; allowed are at most {WIDEST} branches in all", "tree")
    return tuple(widths)


def _decided(engine: Engine, prompt: list[int], decide: Decide | None) -> Engine:
    if decide is None:
        raise UsageError("got 'auto', but nothing here can choose; give a number", "num_speculative_tokens")
    return replace(engine, length=decide(engine, prompt))
