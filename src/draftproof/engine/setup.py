"""From the options of a generation to the parts of a run: engine, tokenizer, prompt, stops, noise.

In: words and numbers as typed. Out: a `Run`. Every option is honoured here or refused by name.
"""

import math
from dataclasses import dataclass, replace

from draftproof.drafters.base import Drafter
from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.none import NoDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.errors import UsageError
from draftproof.models.catalogue import LoadedModel, load, locate
from draftproof.models.tokenizer import Tokenizer
from draftproof.noise import PhiloxNoise
from draftproof.rules.base import Rule
from draftproof.rules.catalogue import DEFAULT_RULE, TREE_RULES, rule_named
from draftproof.warpers.pipeline import Pipeline, sampling

__all__ = ["Options", "Run", "load_drafter", "prepare"]


@dataclass(frozen=True)
class Options:
    """What a user may ask of a generation; the names are those of the command line."""

    prompt: str = ""
    target: str = "tiny:target"
    drafter: str = "tiny:draft"
    num_speculative_tokens: int = 3
    max_tokens: int = 128
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    no_speculation: bool = False
    rule: str = DEFAULT_RULE
    tree: str = ""


@dataclass(frozen=True)
class Run:
    """Everything a generation needs."""

    engine: Engine
    tokenizer: Tokenizer
    prompt: list[int]
    stop: Stop
    noise: PhiloxNoise
    options: Options


def prepare(options: Options) -> Run:
    """Return the run that the options describe; a draft length of 0 and the drafter `none` are plain decoding.

    Raises:
        UsageError: naming the first option that cannot be honoured.
    """
    pipeline = sampling(options.temperature, options.top_k, options.top_p)
    length, noise = FixedLength(options.num_speculative_tokens), PhiloxNoise(options.seed)
    rule = rule_named(options.rule)
    branching = _branching(options, rule)
    stop = Stop(options.max_tokens)
    target = load(options.target, "target")
    model, tokenizer = target
    if "coupled" in rule.name:  # its promise, the same text with any draft, needs the same bits with any draft
        model = model.steady()
    prompt = tokenizer.encode(options.prompt)
    if len(prompt) > model.context_limit:
        raise UsageError(f"got {len(prompt)} tokens; the target's context holds {model.context_limit}", "prompt")
    return Run(
        Engine(model, _drafter(options, target, pipeline), rule, pipeline, length, branching),
        tokenizer,
        prompt,
        replace(stop, context_limit=model.context_limit, tokens=tokenizer.eos),
        noise,
        options,
    )


def _branching(options: Options, rule: Rule) -> tuple[int, ...]:
    """Return the widths that `tree` writes, "3,2,1"; a tree rule without them gets two branches."""
    if not options.tree:
        return (2,) if rule.branches else ()
    words = options.tree.split(",")
    if not all(word.strip().isdecimal() and int(word) > 0 for word in words):
        raise UsageError(f"got {options.tree!r}; allowed are whole numbers from 1 up with commas, as 3,2,1", "tree")
    if not rule.branches:
        raise UsageError(f"got {options.tree!r} with the rule {rule.name!r}; it needs a tree rule: {_TREES}", "tree")
    if len(words) > options.num_speculative_tokens:
        raise UsageError(
            f"got {options.tree!r}, {len(words)} levels, but {options.num_speculative_tokens} speculative tokens: "
            "a tree is as deep as that number says", "tree",
        )  # fmt: skip
    widths = [int(word) for word in words]
    if math.prod(widths) > WIDEST:
        raise UsageError(f"got {options.tree!r}; allowed are at most {WIDEST} branches in all", "tree")
    return tuple(widths)


WIDEST = 1024
"""Branches of a tree: a pass over more rows than a context has takes longer than it could ever save."""
_TREES = ", ".join(TREE_RULES)


def _drafter(options: Options, target: LoadedModel, pipeline: Pipeline) -> Drafter:
    spec = options.drafter
    if spec == "none":
        return NoDrafter()
    if options.no_speculation or options.num_speculative_tokens == 0:
        locate(spec, "drafter")  # not needed, but not ignored: a word that names nothing is refused
        return NoDrafter()
    return load_drafter(spec, target, pipeline)


def load_drafter(spec: str, target: LoadedModel, pipeline: Pipeline) -> Drafter:
    """Return the model that `spec` names as a drafter for `target`.

    Raises:
        UsageError: if there is none, or its vocabulary is another; the message has the first difference.
    """
    draft = load(spec, "drafter")
    if difference := _difference(draft, target):
        raise UsageError(f"got {spec!r}: {difference}; target and drafter must share one vocabulary", "drafter")
    return ModelDrafter(draft.model, pipeline)


def _difference(draft: LoadedModel, target: LoadedModel) -> str | None:
    """Return in what the two vocabularies differ, or None."""
    if draft.model.vocab_size != target.model.vocab_size:
        return f"it has {draft.model.vocab_size} tokens, the target {target.model.vocab_size}"
    theirs, ours = draft.tokenizer.vocabulary, target.tokenizer.vocabulary
    different = sorted({*theirs.items()} ^ {*ours.items()}, key=lambda entry: entry[1])
    if not different:
        return None
    token = different[0][1]
    meanings = [next((text for text, id_ in words.items() if id_ == token), "nothing") for words in (theirs, ours)]
    return f"token {token} is {meanings[0]!r} there and {meanings[1]!r} in the target"
