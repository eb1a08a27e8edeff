"""`draftproof attack`: every tamper against every witness; status 1 if one escapes or an innocent is accused."""

import json
import sys
from typing import Annotated

import typer

from draftproof.redteam.campaign import campaign, tamper_named
from draftproof.redteam.scorecard import Score, Scorecard
from draftproof.redteam.tampers.catalogue import TAMPERS

__all__ = ["attack"]


def attack(
    tamper: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this one; may be repeated.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scorecard as one JSON object.")] = False,
) -> int:
    """Break the engine in every known way and show which witness sees it, and that innocents are left alone."""
    names = [tamper_named(name).name for name in tamper] if tamper else list(TAMPERS)
    scores: dict[str, Score] = {}
    if as_json:
        for score in campaign(names):
            scores[score.name] = score
    else:
        from draftproof.cli.findings import bar

        with bar() as shown:
            task = shown.add_task("attacking", total=len(names))
            for score in campaign(names):
                scores[score.name] = score
                shown.advance(task)
    card = Scorecard(tuple(scores[name] for name in names))
    if as_json:
        sys.stdout.write(json.dumps(card.to_json()) + "\n")
    else:
        from draftproof.cli.scoreboard import show

        show(card)
    return int(bool(card.escaped or card.false_alarms))
