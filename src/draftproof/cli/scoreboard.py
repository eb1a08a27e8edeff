"""What `attack` shows: a table of tampers and witnesses, what escaped, who was accused wrongly, who sees what.

In: a scorecard. Out: a table on standard output.
"""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from draftproof.records import Conclusion
from draftproof.redteam.scorecard import Score, Scorecard

__all__ = ["show"]

CAUGHT, BLIND, WASTE = Text("x", "bold green"), Text(".", "dim"), Text("w", "yellow")


def show(card: Scorecard) -> None:
    """Print the scorecard."""
    console = Console(highlight=False)
    witnesses = list(dict.fromkeys(finding.witness for score in card.scores for finding in score.findings))
    table = Table("family", "tamper", *witnesses, "max dev", "TV", "first shows", box=None, header_style="dim")
    family = ""
    for score in card.scores:
        table.add_row(score.family if score.family != family else "", *_row(score, witnesses))
        family = score.family
    console.print(table)
    console.print("x: the witness calls it LOSSY   .: it does not   w: lossless, but drafts are wasted", style="dim")
    _summary(console, card, witnesses)


def _row(score: Score, witnesses: list[str]) -> list[Text | str]:
    drift = score.drift
    numbers = ["", "", ""]
    if drift is not None:
        numbers = [_number(drift.max_deviation), _number(drift.total_variation), drift.where or ""]
    name = Text(score.name, "cyan" if score.harmless else "") if score.as_it_should_be else Text(score.name, "bold red")
    return [name, *(_mark(score, witness) for witness in witnesses), *numbers]


def _mark(score: Score, witness: str) -> Text | str:
    verdict = next((finding.verdict for finding in score.findings if finding.witness == witness), None)
    if verdict is None:
        return ""
    return CAUGHT if verdict is Conclusion.LOSSY else WASTE if verdict is Conclusion.WASTEFUL else BLIND


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}" if value >= 1e-4 else f"{value:.1e}"


def _summary(console: Console, card: Scorecard, witnesses: list[str]) -> None:
    tampers = [score for score in card.scores if not score.harmless]
    controls = [score for score in card.scores if score.harmless]
    for witness in witnesses:
        seen = [score for score in tampers if witness in score.caught_by]
        alone = [score.name for score in seen if score.caught_by == (witness,)]
        only = f"; alone: {', '.join(alone)}" if alone else ""
        console.print(f"{witness:10} sees {len(seen)} of {len(tampers)}, is blind to {len(tampers) - len(seen)}{only}", style="dim")
    caught, left = len(tampers) - len(card.escaped), len(controls) - len(card.false_alarms)
    console.print(Text(f"{caught} of {len(tampers)} tampers caught", "bold red" if card.escaped else "bold green"), *card.escaped)
    alarm = Text(f"{left} of {len(controls)} innocent look-alikes left alone", "bold red" if card.false_alarms else "bold green")
    console.print(alarm, *card.false_alarms)
