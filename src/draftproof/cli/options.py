"""The options of `measure` and `plan`, as typer reads them. In: nothing. Out: annotated types without defaults."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from draftproof.cli.numbers import number, whole
from draftproof.drafters.catalogue import DRAFTER_SPECS
from draftproof.economics.plots import FORMATS
from draftproof.economics.workloads import WORKLOADS
from draftproof.models.catalogue import SPECS
from draftproof.rules.catalogue import CHAIN_RULES

__all__ = [
    "Acceptances",
    "Again",
    "AsJson",
    "BatchSize",
    "Chat",
    "Check",
    "CostRatios",
    "Curve",
    "Drafters",
    "MaxTokens",
    "MeasurementFile",
    "OneRule",
    "Out",
    "Overhead",
    "Plot",
    "PromptFiles",
    "Rounds",
    "Rules",
    "Seed",
    "Target",
    "Temperature",
    "TopK",
    "TopP",
    "Workloads",
]

HAND = "From numbers by hand"
"""The heading of the options that need no measurement."""


def _by_hand(metavar: str, text: str, parser: Callable[[str], float] | None = None) -> typer.models.OptionInfo:
    return typer.Option(metavar=metavar, help=text, parser=parser, rich_help_panel=HAND)


Target = Annotated[str, typer.Option(metavar="SPEC", help=f"The model whose law is kept: {SPECS}.")]
Drafters = Annotated[
    list[str] | None,
    typer.Option(metavar="SPEC", help=f"What may draft, may be repeated: {DRAFTER_SPECS.removeprefix('none, ')}."),
]
Temperature = Annotated[float, typer.Option(parser=number, metavar="T", help="0 is greedy.")]
TopK = Annotated[int, typer.Option(parser=whole, metavar="K", help="0 keeps all.")]
TopP = Annotated[float, typer.Option(parser=number, metavar="P", help="1 keeps all.")]
Chat = Annotated[bool, typer.Option("--chat", help="Prompts are a user's messages: ask by the chat template.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

_NAMES = f"of {', '.join(CHAIN_RULES)}"
Rules = Annotated[list[str] | None, typer.Option(metavar="NAME", help=f"Only this rule, {_NAMES}; may be repeated.")]
Workloads = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help=f"Only this, of {', '.join(WORKLOADS)}; may be repeated.")
]
PromptFiles = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Your own workload, a prompt a line (.jsonl: an object); may be repeated."),
]
MaxTokens = Annotated[int, typer.Option(parser=whole, metavar="N", help="Length of every text.")]
Rounds = Annotated[int, typer.Option(parser=whole, metavar="R", help="How often all costs are measured.")]
Seed = Annotated[int, typer.Option(parser=whole, metavar="S", help="Of texts and order.")]
Check = Annotated[bool, typer.Option("--check", help="Generate too, and compare predictions with it.")]
Again = Annotated[bool, typer.Option("--again", help="Measure even if it was measured before.")]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the measurement to a file too.")]

OneRule = Annotated[str | None, typer.Option(metavar="NAME", help=f"Only this rule, {_NAMES}.")]
MeasurementFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="From this measurement instead of the one kept here.")
]
Plot = Annotated[
    Path | None, typer.Option(metavar="FILE", help=f"Draw it to a {' or '.join(FORMATS)} file (extra plot).")
]
Acceptances = Annotated[
    list[float] | None, _by_hand("A", "Chance that a drafted token is kept; may be repeated.", number)
]
CostRatios = Annotated[
    list[float] | None, _by_hand("C", "A draft step in plain tokens; once for each acceptance.", number)
]
Curve = Annotated[str | None, _by_hand("1,T2,..", "Cost of passes over n = 1, 2, .. rows; else flat.")]
Overhead = Annotated[float, _by_hand("O", "Of each pass, in plain tokens.", number)]
BatchSize = Annotated[int, _by_hand("B", "Texts decoded together.", whole)]
