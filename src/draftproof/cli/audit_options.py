"""The options of `audit`, as typer reads them, by the headings of its help. In: what was typed. Out: `Options`."""

import inspect
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from draftproof.audit.catalogue import SUBJECTS
from draftproof.audit.options import NEUTRAL, Options
from draftproof.cli.headings import command_signature
from draftproof.cli.numbers import number, whole
from draftproof.errors import UsageError
from draftproof.models.catalogue import SPECS

__all__ = ["asked", "signature"]

DEFAULT = Options("")


def _option(metavar: str, text: str, parser: Any = None) -> Any:
    return typer.Option(metavar=metavar, help=text, parser=parser)


def _switch(name: str, text: str) -> Any:
    return typer.Option(name, help=text)


class Asking:
    """Options."""

    probe: Annotated[
        str, _option("PAIR", "The pair of models: V or V:SEED makes one of V tokens (64 to 512), or a folder.")
    ] = DEFAULT.probe
    method: Annotated[str, _option("NAME", "How it speculates; the first that it has.")] = DEFAULT.method
    num_speculative_tokens: Annotated[int, _option("K", "Tokens drafted in a pass.", whole)] = (
        DEFAULT.num_speculative_tokens
    )
    eps: Annotated[float, _option("E", "LOSSLESS takes a drift of E at most.", number)] = DEFAULT.eps
    max_tokens_total: Annotated[int, _option("N", "Tokens after which it gives up.", whole)] = DEFAULT.max_tokens_total
    seed: Annotated[int, _option("S", "Of prompts and random numbers.", whole)] = DEFAULT.seed
    json: Annotated[bool, _switch("--json", "Print one JSON object.")] = False
    report: Annotated[Path | None, _option("FILE.html", "Write a page to pass on (extra audit).")] = None


class Settings:
    """Sampling settings."""

    temperature: Annotated[float, _option("T", "0 is greedy.", number)] = NEUTRAL["temperature"]
    top_k: Annotated[int, _option("K", "0 keeps all.", whole)] = int(NEUTRAL["top_k"])
    top_p: Annotated[float, _option("P", "1 keeps all.", number)] = NEUTRAL["top_p"]
    min_p: Annotated[float, _option("P", "0 keeps all.", number)] = NEUTRAL["min_p"]
    repetition_penalty: Annotated[float, _option("R", "1 is none.", number)] = NEUTRAL["repetition_penalty"]
    presence_penalty: Annotated[float, _option("A", "0 is none.", number)] = NEUTRAL["presence_penalty"]
    frequency_penalty: Annotated[float, _option("A", "0 is none.", number)] = NEUTRAL["frequency_penalty"]


class Models:
    """Models of your own."""

    target: Annotated[str, _option("SPEC", f"Instead of a probe pair: {SPECS}.")] = DEFAULT.target
    drafter: Annotated[str, _option("SPEC", "The draft model.")] = DEFAULT.drafter
    reference: Annotated[str, _option("SPEC", "The target for us, if only the engine reads its format.")] = (
        DEFAULT.reference
    )
    prompts: Annotated[Path | None, _option("FILE", "Prompts, a line each (.jsonl: an object).")] = None
    chat: Annotated[bool, _switch("--chat", "Ask by the chat template.")] = False


class Kinds:
    """Other kinds of audits."""

    replay: Annotated[str, _option("M,N", "Ask for M prompts N times each: sees faults that have no name.")] = ""
    black_box: Annotated[
        bool, _switch("--black-box", "Without the target's weights: compare speculation on and off.")
    ] = False


class Running:
    """How it is run."""

    control: Annotated[str, _option("URL", "Of the same server without speculation, for http:URL.")] = DEFAULT.control
    option: Annotated[list[str] | None, _option("NAME=VALUE", "Only this engine knows it; may be repeated.")] = None
    max_tokens: Annotated[int, _option("N", "Length of a completion.", whole)] = DEFAULT.max_tokens
    eta: Annotated[float, _option("E", "Log-probabilities of engine and reference may differ by E.", number)] = (
        DEFAULT.eta
    )
    batch_size: Annotated[int, _option("B", "Completions asked for at a time.", whole)] = DEFAULT.batch_size
    workers: Annotated[int, _option("N", "Processes of the engine.", whole)] = DEFAULT.workers
    timeout: Annotated[float, _option("S", "Seconds for a completion.", number)] = DEFAULT.timeout
    python: Annotated[str, _option("FILE", "A Python that has the engine.")] = DEFAULT.python
    install: Annotated[bool, _switch("--install", "Set the engine up in an environment of its own.")] = False


def signature() -> inspect.Signature:
    """Return the signature of the command."""
    told = typer.Argument(metavar="SUBJECT", help=f"The engine: {SUBJECTS}.")
    subject = inspect.Parameter("subject", inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[str, told])
    return command_signature(subject, (Asking, Settings, Models, Kinds, Running))


def asked(typed: Mapping[str, Any]) -> Options:
    """Return what was asked.

    Raises:
        UsageError: if a word that has parts lacks one.
    """
    settings = {name: float(typed[name]) for name in NEUTRAL}
    beside = {*NEUTRAL, "context", "json", "report", "install", "option", "replay"}
    others = {name: value for name, value in typed.items() if name not in beside}
    replay = _visits(typed["replay"]) if typed["replay"] else None
    return Options(**others, settings=settings, option=_pairs(typed["option"] or ()), replay=replay)


def _visits(word: str) -> tuple[int, int]:
    prompts, _, times = word.partition(",")
    try:
        return int(prompts), int(times)
    except ValueError:
        raise UsageError(f"got {word!r}; allowed are two whole numbers, as in 8,2000", "replay") from None


def _pairs(words: Sequence[str]) -> dict[str, Any]:
    """Return options of an engine; what JSON can read is a number, true or false, all else a text."""
    for word in words:
        if not all(word.partition("=")[:2]):
            raise UsageError(f"got {word!r}; allowed is NAME=VALUE", "option")
    return {name: _value(value) for name, _, value in (word.partition("=") for word in words)}


def _value(word: str) -> Any:
    try:
        return json.loads(word)
    except ValueError:
        return word
