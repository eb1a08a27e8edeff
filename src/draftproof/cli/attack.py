"""`draftproof attack`: every tamper against every witness; status 1 if one escapes or an innocent is accused."""

import json
import sys
from typing import Annotated

import typer

from draftproof.cli.numbers import whole
from draftproof.errors import UsageError
from draftproof.redteam.campaign import campaign, tamper_named
from draftproof.redteam.scorecard import Score, Scorecard
from draftproof.redteam.tampers.catalogue import TAMPERS

__all__ = ["attack"]

MOST_TOKENS = 8000


def attack(
    tamper: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this one; may be repeated.")] = None,
    statistical: Annotated[
        bool, typer.Option("--statistical", help="Bet on their tokens instead: how many convict each.")
    ] = False,
    max_tokens_total: Annotated[
        int | None,
        typer.Option(metavar="N", parser=whole, help=f"Tokens after which a bet gives up; {MOST_TOKENS}."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scorecard as one JSON object.")] = False,
) -> int:
    """Break the engine in every known way and show which witness sees it, and that innocents are left alone."""
    names = [tamper_named(name).name for name in tamper] if tamper else list(TAMPERS)
    if not statistical and max_tokens_total is not None:
        raise UsageError(f"got {max_tokens_total}, but only bets take tokens; give statistical too", "max_tokens_total")
    if max_tokens_total is not None and max_tokens_total < 1:
        raise UsageError(f"got {max_tokens_total}; allowed are whole numbers from 1 up", "max_tokens_total")
    if statistical:
        from draftproof.cli.bets import show_bets

        return show_bets(names, max_tokens_total or MOST_TOKENS, as_json=as_json)
    card = Scorecard(_scores(names, as_json=as_json))
    if as_json:
        sys.stdout.write(json.dumps(card.to_json()) + "\n")
    else:
        from draftproof.cli.scoreboard import show

        show(card)
    return int(bool(card.escaped or card.false_alarms))


def _scores(names: list[str], *, as_json: bool) -> tuple[Score, ...]:
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
    return tuple(scores[name] for name in names)
