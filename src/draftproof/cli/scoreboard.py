"""What `attack` shows: a table of tampers and witnesses, what escaped, who was accused wrongly, who sees what.

In: a scorecard. Out: a table on standard output.
"""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from draftproof.cli.findings import print_whole
from draftproof.records import Conclusion
from draftproof.redteam.scorecard import Score, Scorecard

__all__ = ["show"]

CAUGHT, BLIND, WASTE = Text("x", "bold green"), Text(".", "dim"), Text("w", "yellow")


def show(card: Scorecard) -> None:
    """Print the scorecard."""
    console = Console(highlight=False)
    witnesses = list(dict.fromkeys(finding.witness for score in card.scores for finding in score.findings))
    headers = "tamper", *(witness[:4] for witness in witnesses), "max dev", "TV", "first shows"
    table = Table(*headers, box=None, header_style="dim", padding=(0, 1, 0, 0))
    family = ""
    for score in card.scores:
        if score.family != family:
            table.add_row(Text(score.family, "bold"))
        table.add_row(*_row(score, witnesses))
        family = score.family
    print_whole(console, table)
    console.print("x: the witness calls it LOSSY   .: it does not   w: lossless, but drafts are wasted", style="dim")
    _summary(console, card, witnesses)


def _row(score: Score, witnesses: list[str]) -> list[Text | str]:
    drift = score.drift
    numbers = ["", "", ""]
    if drift is not None:
        numbers = [_number(drift.max_deviation), _number(drift.total_variation), drift.where or ""]
    style = "bold red" if not score.as_it_should_be else "cyan" if score.harmless else ""
    return [Text("  " + score.name, style), *(_mark(score, witness) for witness in witnesses), *numbers]


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
        sees = f"{witness:10} sees {len(seen)} of {len(tampers)}, is blind to {len(tampers) - len(seen)}{only}"
        console.print(sees, style="dim")
    for what, all_of_them, wrong in (
        ("tampers caught", tampers, card.escaped),
        ("innocent look-alikes left alone", controls, card.false_alarms),
    ):
        result = f"{len(all_of_them) - len(wrong)} of {len(all_of_them)} {what}"
        console.print(Text(result, "bold red" if wrong else "bold green"), *wrong)
