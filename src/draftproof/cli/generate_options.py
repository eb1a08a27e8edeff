"""The options of `generate`, as typer reads them, by the headings of its help.

In: nothing. Out: a signature, and from what was typed the part that was. A class is a heading; an option that is a
setting of a generation has its name and its default there.
"""

import inspect
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from draftproof.cli.headings import command_signature
from draftproof.cli.numbers import length, number, whole
from draftproof.drafters.catalogue import DRAFTER_SPECS
from draftproof.engine.controls import DRAFT_SAMPLING
from draftproof.engine.options import Options
from draftproof.models.catalogue import SPECS
from draftproof.rules.catalogue import RULES

__all__ = ["BATCH_SIZE", "Certify", "given", "signature"]

DEFAULT = Options()
BATCH_SIZE = 8
Parser = Callable[[str], Any] | None


class Certify(StrEnum):
    """How much of a generation is certified."""

    EVERY = "every"
    OFF = "off"


def _option(metavar: str, text: str, parser: Parser = None, name: str = "", *, hidden: bool = False) -> Any:
    names = (name,) if name else ()
    return typer.Option(*names, metavar=metavar, help=text, parser=parser, hidden=hidden)


def _switch(name: str, text: str) -> Any:
    return typer.Option(name, help=text)


class Models:
    """Models."""

    target: Annotated[str, _option("SPEC", f"The model whose law is kept: {SPECS}.")] = DEFAULT.target
    drafter: Annotated[str, _option("SPEC", f"What guesses: {DRAFTER_SPECS}.")] = DEFAULT.drafter
    chat: Annotated[bool, _switch("--chat", "The prompt is a user's message: ask by the chat template.")] = False


class Speculation:
    """Speculation."""

    num_speculative_tokens: Annotated[
        str,
        _option("K", "Tokens drafted before each pass of the target; 0 is plain decoding; auto: what pays.", length),
    ] = str(DEFAULT.num_speculative_tokens)
    num_assistant_tokens: Annotated[str | None, _option("K", "The same.", length, hidden=True)] = None
    num_draft_tokens: Annotated[str | None, _option("K", "The same.", length, hidden=True)] = None
    gamma: Annotated[str | None, _option("K", "The same.", length, hidden=True)] = None
    no_speculation: Annotated[bool, _switch("--no-speculation", "Draft nothing.")] = False
    rule: Annotated[str, _option("NAME", f"How drafts are tested: {', '.join(RULES)}.")] = DEFAULT.rule
    tree: Annotated[str, _option("WIDTHS", "Draft a tree: tokens after each node, as 3,2,1.")] = DEFAULT.tree
    draft_sampling: Annotated[
        str, _option("|".join(DRAFT_SAMPLING), "The draft's law: sampled as the target's, or as its model says.")
    ] = DEFAULT.draft_sampling
    speculative_config: Annotated[str | None, _option("JSON", "The above as vLLM writes it; see the reference.")] = None


class Sampling:
    """Sampling."""

    temperature: Annotated[float, _option("T", "0 is greedy.", number)] = DEFAULT.temperature
    top_k: Annotated[int, _option("K", "Keep the K most probable tokens; 0 keeps all.", whole)] = DEFAULT.top_k
    top_p: Annotated[float, _option("P", "Keep the smallest set with mass P.", number)] = DEFAULT.top_p
    min_p: Annotated[float, _option("P", "Keep tokens with P times the chance of the best.", number)] = DEFAULT.min_p
    typical_p: Annotated[float, _option("P", "Keep the most typical tokens with mass P.", number)] = DEFAULT.typical_p
    repetition_penalty: Annotated[float, _option("R", "Above 1: fewer tokens of prompt and output again.", number)] = (
        DEFAULT.repetition_penalty
    )
    presence_penalty: Annotated[float, _option("A", "Taken from tokens that came.", number)] = DEFAULT.presence_penalty
    frequency_penalty: Annotated[float, _option("A", "Taken from tokens for each time they came.", number)] = (
        DEFAULT.frequency_penalty
    )
    logit_bias: Annotated[
        list[str] | None, _option("ID=BIAS", "Add to a token's logit; may be repeated, or one JSON object.")
    ] = None
    bad_words: Annotated[list[str] | None, _option("WORD", "Never complete this; may be repeated.")] = None
    allowed_token_ids: Annotated[str | None, _option("ID,ID,..", "Only these tokens.")] = None
    json_schema: Annotated[str | None, _option("FILE|JSON", "Only JSON of this schema.")] = None
    regex: Annotated[str | None, _option("REGEX", "Only text that matches as a whole.")] = None
    lark: Annotated[str | None, _option("FILE|TEXT", "Only text of this grammar.")] = None
    seed: Annotated[int, _option("S", "Same seed, same settings, same text.", whole)] = DEFAULT.seed


class Stops:
    """Stops."""

    max_tokens: Annotated[int, _option("N", "Most tokens to emit.", whole)] = DEFAULT.max_tokens
    min_tokens: Annotated[int, _option("N", "Fewest tokens to emit.", whole)] = DEFAULT.min_tokens
    stop: Annotated[list[str] | None, _option("TEXT", "End the text with this; may be repeated.")] = None
    stop_token_ids: Annotated[str | None, _option("ID,ID,..", "End the text with one of these tokens.")] = None
    ignore_eos: Annotated[bool, _switch("--ignore-eos", "Go on after end-of-sequence.")] = False


class Several:
    """Several texts."""

    n: Annotated[int, _option("N", "Samples of each prompt.", whole)] = DEFAULT.n
    prompts: Annotated[Path | None, _option("FILE", "Prompts from a file, a JSON object a line.")] = None
    out: Annotated[Path | None, _option("FILE", "Where their texts go, a line each; goes on if there are some.")] = None
    batch_size: Annotated[int, _option("B", "Texts decoded together.", whole)] = BATCH_SIZE
    workers: Annotated[int, _option("N", "Processes that share them, each with its own models.", whole)] = 1


class Output:
    """Output."""

    certify: Annotated[Certify, typer.Option(help="Check P_emit = p at every position, or not at all.")] = Certify.EVERY
    witness: Annotated[bool, _switch("--witness", "Bet on every token against the engine, on laws read anew.")] = False
    logprobs: Annotated[int | None, _option("N", "Log-probabilities, with N alternatives; in JSON.", whole)] = None
    json: Annotated[bool, _switch("--json", "Print one JSON object instead of text.")] = False
    trace: Annotated[Path | None, _option("FILE", "Write what happened to a file too.")] = None


HEADINGS = (Models, Speculation, Sampling, Stops, Several, Output)


def signature() -> inspect.Signature:
    """Return the signature of a command with the context, a prompt and all options."""
    told = Annotated[str, typer.Argument(help="Text to go on from; empty starts from nothing (BOS).")]
    prompt = inspect.Parameter("prompt", inspect.Parameter.KEYWORD_ONLY, default="", annotation=told)
    return command_signature(prompt, HEADINGS)


def given(context: typer.Context) -> dict[str, Any]:
    """Return what was typed, by name; options left at their defaults are not in it."""
    return {
        name: value
        for name, value in context.params.items()
        if (source := context.get_parameter_source(name)) is not None and source.name == "COMMANDLINE"
    }
