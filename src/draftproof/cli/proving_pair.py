"""From the options of `prove --target` to runs of that pair, and what the witnesses of real models find in them.

In: words and numbers as typed. Out: findings, as they come. The engines are those that `generate` would run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from draftproof.cli.engines import subject_for
from draftproof.engine.options import Options
from draftproof.engine.setup import Models, prepare
from draftproof.errors import UsageError
from draftproof.noise import PhiloxNoise
from draftproof.records import Finding
from draftproof.witness.base import guarded
from draftproof.witness.pair import witnesses_of_pair
from draftproof.witness.rescoring import Run

__all__ = ["PROMPTS", "AskedPair", "examined_pair"]

PROMPTS = ("And the king said unto", "def add(a, b):\n    return a + b\n\ndef subtract(a, b):\n    return")
"""Words of the embedded pair's texts, and what every code model knows."""


@dataclass(frozen=True)
class AskedPair:
    """What the witnesses look at: a pair, its settings, prompts and seeds."""

    target: str
    drafter: str = "ngram"
    temperature: float = 0.8
    top_p: float = 0.95
    num_speculative_tokens: int = 4
    max_tokens: int = 24
    prompts: tuple[str, ...] = PROMPTS
    seeds: tuple[int, ...] = (0,)


def examined_pair(asked: AskedPair, rules: Sequence[str], engine: str) -> Iterator[Finding]:
    """Yield what every witness of real models finds under each of the rules; the models are loaded once.

    Raises:
        UsageError: if a word names nothing, or a setting is out of range.
    """
    models = Models()
    for rule in rules:
        subject = subject_for(rule, engine)
        runs = [_run(asked, rule, prompt, number, models) for number, prompt in enumerate(asked.prompts, 1)]
        for witness in witnesses_of_pair(runs):
            yield from guarded(witness, subject)


def _run(asked: AskedPair, rule: str, prompt: str, number: int, models: Models) -> Run:
    for seed in asked.seeds:
        PhiloxNoise(seed)
    options = Options(
        prompt, asked.target, asked.drafter, asked.num_speculative_tokens, asked.max_tokens, asked.temperature,
        top_p=asked.top_p, rule=rule,
    )  # fmt: skip
    prepared = prepare(options, models)
    if not prepared.prompt:
        raise UsageError(f"got {prompt!r}, which is no token of the target; a text needs one to begin with", "prompt")
    return Run(f"prompt {number}", prepared.engine, tuple(prepared.prompt), prepared.stop, asked.seeds)
